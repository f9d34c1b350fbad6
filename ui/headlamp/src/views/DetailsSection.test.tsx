import { render, screen, within } from '@testing-library/react';
import { Answer } from '../findings/answer';
import { answering, pollerOf } from '../testing/pollers';
import { recorded } from '../testing/recorded';
import { DetailsSection, hasSection } from './DetailsSection';

vi.mock(
  '@kinvolk/headlamp-plugin/lib/CommonComponents',
  () => import('../testing/commonComponents')
);

async function show(
  kind: string,
  namespace: string | undefined,
  name: string,
  answer = recorded()
) {
  const resource = { kind, metadata: { namespace, name }, spec: { nodeName: 'node-1' } };
  render(<DetailsSection resource={resource} poller={answering(answer)} />);
  await screen.findByText(/^As of/);
  return screen.getByRole('region', { name: 'Slowed down by others' });
}

function changed(change: (a: Answer) => void): Answer {
  const a = recorded();
  change(a);
  return a;
}

it('a pod that is slowed down has its dilation, a bar, the table behind it, and the remedy', async () => {
  const section = await show('Pod', 'shop', 'cart-7c9f4-x2k8p');
  expect(section.textContent).toContain('6.74 times as long as alone');
  expect(section.textContent).toContain('± 0.15, for more than 2m');
  expect(section.textContent).toContain('step 1: move etl/sort-2 to node-3');
  expect(section.textContent).toContain('slows logs/agent-kk3fd by 0.07, relieves others by 0.50');
  const bar = within(section).getByRole('img', { name: '6.74× as long as alone' });
  expect(bar.querySelectorAll('[data-kind=Neighbour]')).toHaveLength(3);
  const rows = within(within(section).getByRole('table')).getAllByRole('row');
  expect(rows.map(r => r.textContent)).toEqual([
    'Because ofAdds',
    'etl/sort-2+2.84',
    'etl/sort-3+2.84',
    'logs/agent-9vq4m+0.04',
    'the node outside of pods+0.02',
  ]);
  expect(within(section).getByRole('link', { name: 'etl/sort-2' }).getAttribute('href')).toBe(
    '/pod/etl/sort-2'
  );
});

it('causes that add next to nothing have no row', async () => {
  const section = await show('Pod', 'etl', 'sort-2');
  const rows = within(within(section).getByRole('table')).getAllByRole('row');
  expect(rows.map(r => r.textContent)).toEqual(['Because ofAdds', 'etl/sort-3+0.05']);
});

it.each<[string, string, Answer | undefined]>([
  ['sort-2', 'Not slowed down: 1.05 ± 0.00 times as long as alone.', undefined],
  ['sort-9', 'Nothing is observed of this pod. It may have started', undefined],
  [
    'sort-9',
    'Nothing is observed of this pod: no gauge answers.',
    changed(a => (a.nodes[0]!.problem = 'no gauge answers')),
  ],
  [
    'sort-2',
    'Observed too shortly to judge: for 5s.',
    changed(a => a.pods.forEach(p => Object.assign(p, { short: true, seconds: 5 }))),
  ],
  [
    'sort-2',
    'Too unsteady to judge: 1.30 ± 0.30',
    changed(a => a.pods.forEach(p => Object.assign(p, { dilation: 1.3, dilationError: 0.3 }))),
  ],
])('of the pod etl/%s it says: %s', async (name, want, answer) => {
  expect((await show('Pod', 'etl', name, answer)).textContent).toContain(want);
});

it('a workload has those of its pods that are slowed down', async () => {
  const section = await show('Deployment', 'shop', 'cart');
  expect(section.textContent).toContain('Slowed down 1.20× or more: 1 of 1 observed pod.');
  const table = within(section).getByRole('table', { name: 'Pods that are slowed down' });
  expect(table.textContent).toContain('6.74 ± 0.15×shop/cart-7c9f4-x2k8p');
});

it('a workload whose pods are well says so', async () => {
  const well = await show('StatefulSet', 'etl', 'sort');
  expect(well.textContent).toContain('None of 2 observed pods is slowed down 1.20× or more.');
});

it('a Job of a CronJob has its own pods of those of the CronJob', async () => {
  const answer = changed(a => {
    for (const p of [...a.pods, ...a.findings]) {
      if (p.pod === 'batch/report-8z4tn') {
        Object.assign(p, { workload: 'CronJob batch/report', pod: 'batch/report-29000000-8z4tn' });
      }
    }
  });
  const section = await show('Job', 'batch', 'report-29000000', answer);
  expect(section.textContent).toContain('Slowed down 1.20× or more: 1 of 1 observed pod.');
});

it('a workload without observed pods says that nothing is observed', async () => {
  const section = await show('Job', 'etl', 'sort');
  expect(section.textContent).toContain('Nothing is observed of the pods of this workload.');
});

it('a node says how busy it is, and which pods on it are slowed down', async () => {
  const section = await show('Node', undefined, 'node-3');
  expect(section.textContent).toContain(
    '33.4% of 2 processors busy, 33.0% by pods, 13.2% taken by the hypervisor; observed 4s ago.'
  );
  expect(section.textContent).toContain('batch/report-8z4tn');
  expect(section.textContent).not.toContain('shop/cart');
});

it('a node that is not observed says so', async () => {
  const problem = changed(a => (a.nodes[0]!.problem = 'no gauge answers'));
  const section = await show('Node', undefined, 'node-1', problem);
  expect(section.textContent).toContain('Nothing is observed of this node: no gauge answers.');
});

it('a failure says what to do', async () => {
  const failure = { title: 'There is no service.', advice: 'Install it.', detail: '404' };
  const resource = { kind: 'Pod', metadata: { namespace: 'a', name: 'b' } };
  render(<DetailsSection resource={resource} poller={pollerOf({ failure })} />);
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toBe('There is no service.Install it.The answer was: 404');
});

it('names are text, whatever is in them, and hidden ones lead nowhere', async () => {
  const markup = '<img src=x onerror=alert(1)>';
  const answer = changed(a => {
    a.findings[0]!.causes[0]!.pod = markup;
    a.findings[0]!.causes[1]!.pod = 'a pod of another namespace';
    a.findings[0]!.remedy.problem = markup;
    a.findings[0]!.remedy.action = 'Leave';
  });
  const section = await show('Pod', 'shop', 'cart-7c9f4-x2k8p', answer);
  expect(section.textContent).toContain(markup);
  expect(section.textContent).toContain('a pod of another namespace');
  expect(section.querySelector('img')).toBeNull();
  const links = within(section).getAllByRole('link');
  expect(links.map(l => l.textContent)).toEqual(['logs/agent-9vq4m']);
});

it('only pods, nodes and workloads have a section', () => {
  const kinds = [
    'Pod',
    'Node',
    'Deployment',
    'StatefulSet',
    'DaemonSet',
    'Job',
    'CronJob',
    'ConfigMap',
  ];
  expect(kinds.filter(hasSection)).toEqual(kinds.slice(0, -1));
});
