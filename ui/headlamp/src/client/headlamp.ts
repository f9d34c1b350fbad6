import { ApiProxy } from '@kinvolk/headlamp-plugin/lib';
import { Api, Refusal } from './api';

/** How long an answer may take, in milliseconds. */
const timeout = 15_000;

/** headlampApi returns the API server of a cluster, which Headlamp asks with the rights of its user. */
export function headlampApi(cluster: string): Api {
  const options = { cluster, timeout };
  return {
    async get(path, headers) {
      // Headlamp would sign its user out where Loadline refuses the token, and would drop a refusal that is no JSON.
      const as = { ...options, headers, autoLogoutOnAuthError: false, isJSON: false };
      const response: Response = await refused(ApiProxy.request(path, as));
      return response.json();
    },
    post: (path, body) => refused(ApiProxy.post(path, body, false, options)),
  };
}

async function refused<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const status =
      typeof error === 'object' && error !== null && 'status' in error ? error.status : 0;
    throw new Refusal(typeof status === 'number' ? status : 0, message);
  }
}
