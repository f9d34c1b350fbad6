import who from '../testdata/who.json';
import { NotAnAnswer, readAnswer } from './read';

it('the recorded answer is read whole', () => {
  const a = readAnswer(who);
  expect(a.findings.map(f => f.dilation)).toEqual(who.findings.map(f => f.dilation));
  expect(a.pods).toHaveLength(who.pods.length);
  expect(a.nodes.map(n => n.name)).toEqual(who.nodes.map(n => n.name));
  expect(a.plan.steps.map(s => s.win)).toEqual(who.plan.steps.map(s => s.win));
});

it('lists that Go leaves out or writes as null are empty', () => {
  const a = readAnswer({ above: 1.2, findings: null, plan: null });
  expect(a).toMatchObject({ findings: [], pods: [], nodes: [], plan: { steps: [] }, unseen: 0 });
});

it.each<[unknown, string]>([
  [null, 'the answer is not an object'],
  ['<html>', 'the answer is not an object'],
  [{}, 'above is not a number'],
  [{ above: 1.2, pods: {} }, 'pods is not a list'],
  [{ above: 1.2, findings: [{ pod: 1 }] }, 'findings[0].pod is not a text'],
  [{ above: 1.2, plan: { excess: 1, left: NaN } }, 'plan.left is not a number'],
])('of %j it says: %s', (json, want) => {
  expect(() => readAnswer(json)).toThrow(new NotAnAnswer(want));
});
