/** Api is the API server of a cluster, as far as it is asked here. A promise fails with a Refusal. */
export interface Api {
  get(path: string, headers: Record<string, string>): Promise<unknown>;
  post(path: string, body: object): Promise<unknown>;
}

/** Refusal is an answer of the API server, or of what it passes requests on to, that is no success. */
export class Refusal extends Error {
  override name = 'Refusal';

  constructor(readonly status: number, message: string) {
    super(message);
  }
}
