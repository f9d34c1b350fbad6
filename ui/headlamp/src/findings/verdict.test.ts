import { recorded } from '../testing/recorded';
import { Answer } from './answer';
import { notes, remark, verdict } from './verdict';

function changed(change: (a: Answer) => void): Answer {
  const a = recorded();
  change(a);
  return a;
}

it.each<[string, (a: Answer) => void]>([
  ['4 of 9 pods run slower than they could. Two changes mend three of them.', () => undefined],
  [
    '4 of 9 pods run slower than they could. No change that may be made is known to help.',
    a => (a.plan.steps = []),
  ],
  ['3 of 9 pods run slower than they could. Two changes mend all of them.', a => a.findings.pop()],
  [
    '1 of 9 pods runs slower than it could. One change mends it.',
    a => {
      a.findings.splice(1);
      a.plan.steps.splice(1);
    },
  ],
  [
    '4 of 9 pods run slower than they could. Two changes help, but bring none below 1.20×.',
    a => a.findings.forEach(f => (f.remedy.dilation = 1.3)),
  ],
  ['None of 9 observed pods is slowed down 1.20× or more.', a => (a.findings = [])],
  ['No pod is observed yet.', a => Object.assign(a, { pods: [], findings: [] })],
])('%s', (want, change) => {
  expect(verdict(changed(change))).toBe(want);
});

it('notes name what is not judged and not observed', () => {
  const a = changed(a => {
    Object.assign(a, { short: 1, unsure: 2, unseen: 3 });
    a.nodes[0]!.problem = 'no gauge answers';
    a.nodes[1]!.otherCPUs = [4];
  });
  expect(notes(a)).toEqual([
    'Slowed down 1.20× or more: 4 of 9 observed pods.',
    'Observed too shortly to judge: 1 pod.',
    'Too unsteady to judge: 2 pods, whose dilation is about as far from 1 as it differs between intervals.',
    'Not observed: 1 of 3 nodes, with 3 pods (node-1: no gauge answers).',
    'Processors change on 1 of 3 nodes (node-2: 2, and at times 4): only the time with the first number counts.',
  ]);
  expect(remark(a.nodes[1]!)).toBe('at times 4 CPUs, which do not count');
});
