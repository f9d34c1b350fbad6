import { recorded } from '../testing/recorded';
import { Cause, Finding, Remedy, Step } from './answer';
import { because, causeName, changeText, remedyText, thenText } from './words';

const neighbour = (pod: string, dilation: number): Cause => ({ kind: 'Neighbour', pod, dilation });

function finding(remedy: Partial<Remedy>, pod: Partial<Finding> = {}): Finding {
  const first = recorded().findings[0]!;
  return {
    ...first,
    ...pod,
    remedy: { action: 'Leave', step: 0, dilation: 1, margin: 0, others: [], ...remedy },
  };
}

it.each<[Cause, string]>([
  [{ kind: 'Neighbour', workload: 'Job a/b', dilation: 1 }, 'Job a/b'],
  [{ kind: 'Limit', limit: '100m', container: 'proxy', dilation: 1 }, "proxy's limit of 100m"],
  [{ kind: 'Limit', assumed: true, dilation: 1 }, 'perhaps its own limit'],
  [{ kind: 'Itself', dilation: 1 }, 'its own threads'],
  [{ kind: 'System', dilation: 1 }, 'the node outside of pods'],
  [{ kind: 'Ended', dilation: 1 }, 'pods that have ended'],
  [{ kind: 'Unclear', dilation: 1 }, 'not clear'],
  [{ kind: 'Comet', dilation: 1 }, 'Comet'],
  [
    { kind: 'Neighbour', pod: 'a/b', resource: 'disk', device: 'vda', dilation: 1 },
    'a/b at disk vda',
  ],
  [{ kind: 'Limit', resource: 'disk', device: 'vda', dilation: 1 }, 'its own limit at disk vda'],
  [{ kind: 'Unclear', resource: 'disk', dilation: 1 }, 'not clear at disks'],
])('%o is %s', (cause, want) => {
  expect(causeName(cause)).toBe(want);
});

it('small neighbours are named together', () => {
  const many = ['a/c', 'a/d', 'a/e', 'a/f', 'a/g'].map(pod => neighbour(pod, 0.06));
  expect(because([neighbour('a/a', 1), neighbour('a/b', 0.8), ...many])).toBe(
    'a/a +1.00, a/b +0.80, 5 pods together +0.30 (a/c, a/d, a/e and 2 more)'
  );
  expect(because([])).toBe('-');
});

it('remedies say what changes, and from what', () => {
  expect(
    remedyText(finding({ action: 'RaiseRequest', step: 3, request: '2' }, { request: '1' }))
  ).toBe('step 3: request 2 (now 1)');
  expect(
    remedyText(
      finding({ action: 'LowerRequest', step: 1, request: '1', pod: 'a/b', container: 'c' })
    )
  ).toBe('step 1: request 1 of c of a/b');
  const causes: Cause[] = [{ kind: 'Limit', container: 'c', limit: '1', dilation: 1 }];
  expect(
    remedyText(finding({ action: 'RaiseLimit', limit: '2', container: 'c' }, { causes }))
  ).toBe('limit 2 of c (now 1)');
  expect(remedyText(finding({ action: 'MovePod', step: 1, node: 'n' }))).toBe(
    'step 1: move it to n'
  );
  const byHand = { device: 'vda', pod: 'a/b' };
  expect(remedyText(finding({ byHand }))).toBe('by hand: io.max for a/b, or another disk or node');
  expect(remedyText(finding({ action: 'MovePod', step: 1, node: 'n', byHand }))).toBe(
    'step 1: move it to n; by hand: io.max for a/b, or another disk or node'
  );
  expect(remedyText(finding({ byHand: { device: 'vda' } }))).toBe(
    'by hand: raise its io.max at vda'
  );
  expect(remedyText(finding({ problem: 'no volume' }))).toBe('not known: no volume');
});

it('what a remedy costs several others is named after what it costs the first', () => {
  const others = [
    { pod: 'a/a', now: 1, then: 1.5 },
    { pod: 'a/b', now: 1, then: 1.25 },
  ];
  expect(thenText(finding({ action: 'MovePod', others }).remedy)).toBe(
    '1.00×, slows a/a by 0.50, others by 0.25'
  );
});

it('steps with requests and limits name both', () => {
  const step: Step = { ...recorded().plan.steps[1]!, request: '500m' };
  expect(changeText(step)).toBe('limit and request 1 of main in web/api-5d8b6-q7w2z (now 300m)');
  expect(changeText({ ...step, action: 'RaiseRequest', limit: undefined, wasRequest: '1' })).toBe(
    'request 500m of main in web/api-5d8b6-q7w2z (now 1)'
  );
});
