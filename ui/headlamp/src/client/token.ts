import { Api } from './api';
import { Clock } from './clock';

/** The audience of tokens that Loadline takes. */
const audience = 'loadline-gauge';
/** For how long a token is asked for, and the part of that after which another one is. */
const expirationSeconds = 600;
const renewedAfter = 0.8;

/**
 * Tokens gives tokens of a service account, which it asks the API server for. A token stays in memory, and
 * is replaced before it expires.
 */
export class Tokens {
  private held?: { token: string; until: number };
  private asked?: Promise<string>;

  constructor(
    private readonly api: Api,
    private readonly namespace: string,
    private readonly serviceAccount: string,
    private readonly clock: Clock
  ) {}

  /** get returns a token that is valid for some time. It fails with the Refusal of the API server. */
  async get(): Promise<string> {
    if (this.held && this.clock.now() < this.held.until) {
      return this.held.token;
    }
    this.asked ??= this.ask().finally(() => (this.asked = undefined));
    return this.asked;
  }

  /** forget drops the token: it was refused. */
  forget(): void {
    this.held = undefined;
  }

  private async ask(): Promise<string> {
    const path = `/api/v1/namespaces/${this.namespace}/serviceaccounts/${this.serviceAccount}/token`;
    const asked = this.clock.now();
    const answer = await this.api.post(path, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [audience], expirationSeconds },
    });
    const { token, seconds } = readToken(answer);
    this.held = { token, until: asked + seconds * renewedAfter * 1000 };
    return token;
  }
}

function readToken(json: unknown): { token: string; seconds: number } {
  const answer = json as {
    status?: { token?: unknown };
    spec?: { expirationSeconds?: unknown };
  } | null;
  const token = answer?.status?.token;
  if (typeof token !== 'string' || token === '') {
    throw new Error('the API server answered a request for a token without one');
  }
  // The API server may grant less time than it was asked for.
  const granted = answer?.spec?.expirationSeconds;
  return {
    token,
    seconds: typeof granted === 'number' ? Math.min(granted, expirationSeconds) : expirationSeconds,
  };
}
