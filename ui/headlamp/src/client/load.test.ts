import { defaults } from '../settings/settings';
import who from '../testdata/who.json';
import { ManualClock } from '../testing/clock';
import { Api, Refusal } from './api';
import { loader } from './load';

interface Given {
  token?: () => unknown;
  findings?: (headers: Record<string, string>) => unknown;
}

function given({ token = () => ({ status: { token: 'secret' } }), findings = () => who }: Given) {
  const paths: string[] = [];
  const api: Api = {
    async get(path, headers) {
      paths.push(path);
      return findings(headers);
    },
    post: async () => token(),
  };
  return { paths, load: loader(api, defaults, new ManualClock()) };
}

function refuse(status: number, message: string) {
  return () => {
    throw new Refusal(status, message);
  };
}

it('findings are asked for through the API server, with a token', async () => {
  const headers: Record<string, string>[] = [];
  const { paths, load } = given({ findings: h => (headers.push(h), who) });
  expect(await load()).toMatchObject({ answer: { above: 1.2 } });
  expect(paths).toEqual([
    '/api/v1/namespaces/loadline-system/services/https:loadline-ui:https/proxy/api/v1/findings',
  ]);
  expect(headers).toEqual([{ 'Loadline-Token': 'secret' }]);
});

it('where a token is refused, another one is tried once', async () => {
  let tokens = 0;
  const { paths, load } = given({
    token: () => ({ status: { token: String(++tokens) } }),
    findings: headers => (headers['Loadline-Token'] === '2' ? who : refuse(401, 'no')()),
  });
  expect(await load()).toHaveProperty('answer');
  expect(paths).toHaveLength(2);
});

// The messages of an API server of Kubernetes 1.36, as Headlamp passes them on.
const noService = 'Not Found - services "loadline-ui" not found';
const noRight =
  'Forbidden - services "https:loadline-ui:https" is forbidden: User "u" cannot get resource "services/proxy"';

it.each<[string, string, Given]>([
  [
    'You may not ask for a token of the service account loadline-system/loadline-viewer.',
    'create serviceaccounts/token',
    { token: refuse(403, 'forbidden') },
  ],
  [
    'There is no service account loadline-system/loadline-viewer.',
    'Install Loadline',
    { token: refuse(404, 'not found') },
  ],
  ['You are signed out of the cluster.', 'Sign in', { token: refuse(401, 'Unauthorized') }],
  [
    'You may not reach the service loadline-system/loadline-ui through the API server.',
    'get services/proxy',
    { findings: refuse(403, noRight) },
  ],
  [
    'The service account loadline-system/loadline-viewer may not see findings.',
    'Bind it',
    { findings: refuse(403, 'Forbidden') },
  ],
  [
    'There is no service loadline-system/loadline-ui.',
    'Install Loadline',
    { findings: refuse(404, noService) },
  ],
  [
    'The service loadline-system/loadline-ui has no findings to give.',
    'a version of Loadline',
    { findings: refuse(404, 'Not Found - 404 page not found') },
  ],
  [
    'Loadline does not accept the token of loadline-system/loadline-viewer.',
    'sign in again',
    { findings: refuse(401, 'Unauthorized') },
  ],
  [
    'No pod of the service loadline-system/loadline-ui is ready, or it has no port https.',
    'Look at the pods',
    { findings: refuse(503, 'no endpoints available for service "https:loadline-ui:https"') },
  ],
  [
    'The service loadline-system/loadline-ui does not answer.',
    'asks again',
    { findings: refuse(503, 'error trying to reach service: dial tcp: connection refused') },
  ],
  ['Loadline has no answer at the moment.', 'asks again', { findings: refuse(503, 'busy') }],
  ['Loadline is asked too often.', 'asks again', { findings: refuse(429, 'slow down') }],
  [
    'The service loadline-system/loadline-ui does not answer.',
    'asks again',
    { findings: refuse(408, 'Request timed-out') },
  ],
  ['The request failed with status 500.', 'See the log', { findings: refuse(500, 'oops') }],
  [
    'Loadline answers, but not as this plugin expects.',
    'Install the version',
    { findings: () => ({ above: '1.2' }) },
  ],
  [
    'Loadline answers, but not as this plugin expects.',
    'Install the version',
    { findings: () => JSON.parse('<html>') },
  ],
])('%s', async (title, advice, failing) => {
  const loaded = await given(failing).load();
  expect(loaded).toEqual({
    failure: { title, advice: expect.stringContaining(advice), detail: expect.any(String) },
  });
  expect(JSON.stringify(loaded)).not.toContain('secret');
});
