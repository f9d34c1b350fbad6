import { Answer } from '../findings/answer';
import { readAnswer } from '../findings/read';
import { Settings } from '../settings/settings';
import { Api, Refusal } from './api';
import { Clock } from './clock';
import { Asked, Failure, failureOf } from './failure';
import { Tokens } from './token';

/** Loaded is an answer, or why there is none. */
export type Loaded = { answer: Answer } | { failure: Failure };

/** loader returns what asks Loadline in a cluster, as the settings say, each time that it is called. */
export function loader(api: Api, s: Settings, clock: Clock): () => Promise<Loaded> {
  const tokens = new Tokens(api, s.namespace, s.serviceAccount, clock);
  const path = `/api/v1/namespaces/${s.namespace}/services/https:${s.service}:https/proxy/api/v1/findings`;
  return async () => {
    let asked: Asked = 'token';
    const ask = async () => {
      asked = 'token';
      const token = await tokens.get();
      asked = 'findings';
      return readAnswer(await api.get(path, { 'Loadline-Token': token }));
    };
    try {
      return { answer: await again(ask, () => tokens.forget()) };
    } catch (error) {
      return { failure: failureOf(error, asked, s) };
    }
  };
}

/** again asks a second time where a token was refused: it may have been revoked before its time. */
async function again(ask: () => Promise<Answer>, forget: () => void): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 401) {
      throw error;
    }
    forget();
    return ask();
  }
}
