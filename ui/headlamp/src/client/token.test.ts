import { ManualClock } from '../testing/clock';
import { Api, Refusal } from './api';
import { Tokens } from './token';

function given(answer: (n: number) => unknown) {
  const asked: [string, object][] = [];
  const api: Api = {
    get: () => Promise.reject(new Error('not asked for')),
    async post(path, body) {
      asked.push([path, body]);
      return answer(asked.length);
    },
  };
  const clock = new ManualClock();
  return { asked, clock, tokens: new Tokens(api, 'loadline-system', 'loadline-viewer', clock) };
}

const token = (n: number) => ({
  spec: { expirationSeconds: 600 },
  status: { token: `token ${n}` },
});

it('a token is asked for with the audience of Loadline, once for all who want it', async () => {
  const { asked, tokens } = given(token);
  expect(await Promise.all([tokens.get(), tokens.get()])).toEqual(['token 1', 'token 1']);
  expect(await tokens.get()).toBe('token 1');
  expect(asked).toEqual([
    [
      '/api/v1/namespaces/loadline-system/serviceaccounts/loadline-viewer/token',
      {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { audiences: ['loadline-gauge'], expirationSeconds: 600 },
      },
    ],
  ]);
});

it('a token is replaced before it expires', async () => {
  const { clock, tokens } = given(token);
  await tokens.get();
  await clock.move(479_000);
  expect(await tokens.get()).toBe('token 1');
  await clock.move(2_000);
  expect(await tokens.get()).toBe('token 2');
});

it('where less time is granted, a token is replaced earlier', async () => {
  const { clock, tokens } = given(n => ({ ...token(n), spec: { expirationSeconds: 100 } }));
  await tokens.get();
  await clock.move(81_000);
  expect(await tokens.get()).toBe('token 2');
});

it('a token that was refused is not used again', async () => {
  const { tokens } = given(token);
  await tokens.get();
  tokens.forget();
  expect(await tokens.get()).toBe('token 2');
});

it('a refusal is passed on, and the next time is another try', async () => {
  const { tokens } = given(n => {
    if (n === 1) {
      throw new Refusal(403, 'forbidden');
    }
    return token(n);
  });
  await expect(tokens.get()).rejects.toEqual(new Refusal(403, 'forbidden'));
  expect(await tokens.get()).toBe('token 2');
});

it('an answer without a token is an error', async () => {
  const { tokens } = given(() => ({ status: {} }));
  await expect(tokens.get()).rejects.toThrow('without one');
});
