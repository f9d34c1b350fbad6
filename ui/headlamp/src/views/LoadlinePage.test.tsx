import { act, fireEvent, render, screen, within } from '@testing-library/react';
import { Loaded } from '../client/load';
import { Poller } from '../client/poller';
import { ManualClock, settled } from '../testing/clock';
import { answering, pollerOf } from '../testing/pollers';
import { recorded } from '../testing/recorded';
import { LoadlinePage } from './LoadlinePage';

vi.mock(
  '@kinvolk/headlamp-plugin/lib/CommonComponents',
  () => import('../testing/commonComponents')
);

it('shows the verdict, the plan, the pods by dilation with bars on one scale, and the nodes', async () => {
  render(<LoadlinePage poller={answering(recorded())} />);
  await screen.findByText(
    '4 of 9 pods run slower than they could. Two changes mend three of them.'
  );
  const plan = screen.getAllByRole('listitem').map(item => item.textContent);
  expect(plan.filter(text => text?.startsWith('Move'))).toEqual([
    expect.stringContaining('Move etl/sort-2 from node-1 to node-3Wins 5.74 (2.93 to 6.20)'),
  ]);
  const victims = screen.getByRole('table', { name: 'Pods that are slowed down' });
  const bars = within(victims).getAllByRole('img');
  expect(bars.map(bar => bar.getAttribute('aria-label'))).toEqual([
    '6.74× as long as alone',
    '1.51× as long as alone',
    '1.41× as long as alone',
    '1.34× as long as alone',
  ]);
  const alone = bars.map(bar => getComputedStyle(bar.firstElementChild!).width);
  expect(new Set(alone)).toEqual(new Set([`${100 / recorded().findings[0]!.dilation}%`]));
  const nodes = screen.getByRole('table', { name: 'Nodes' });
  expect(within(nodes).getAllByRole('row')).toHaveLength(1 + recorded().nodes.length);
});

it('says when no pod is observed', async () => {
  const empty = { ...recorded(), pods: [], findings: [], nodes: [] };
  render(<LoadlinePage poller={answering(empty)} />);
  expect(await screen.findByText('No pod is observed yet.')).toBeTruthy();
});

it('says when an account may see no names', async () => {
  const answer = recorded();
  answer.findings.forEach(f => (f.pod = 'a pod of another namespace'));
  render(<LoadlinePage poller={answering(answer)} />);
  const victims = await screen.findByRole('table', { name: 'Pods that are slowed down' });
  expect(within(victims).getAllByText('a pod of another namespace')).toHaveLength(4);
});

it('says that it asks, and why there is no answer', async () => {
  const failure = { title: 'No.', advice: 'Wait.', detail: '' };
  render(<LoadlinePage poller={pollerOf({ failure })} />);
  expect(screen.getByText('Loadline is asked …')).toBeTruthy();
  expect((await screen.findByRole('alert')).textContent).toBe('No.Wait.');
});

it('marks an answer that is stale', async () => {
  let next: Loaded = { answer: recorded() };
  const clock = new ManualClock();
  const poller = new Poller(() => Promise.resolve(next), clock, {
    visible: () => true,
    onChange: () => () => undefined,
  });
  render(<LoadlinePage poller={poller} />);
  await act(settled);
  next = { failure: { title: 'It is gone.', advice: '', detail: '' } };
  await act(() => clock.move(10_000));
  expect(screen.getByText(/^Stale: this is what Loadline said at/)).toBeTruthy();
  expect(screen.getByText('It is gone.')).toBeTruthy();
  expect(screen.getByText(/^4 of 9 pods/)).toBeTruthy();
});

it('shows the first of many pods, and all when asked', async () => {
  const answer = recorded();
  const first = answer.findings[0]!;
  answer.findings = Array.from({ length: 60 }, (_, i) => ({ ...first, pod: `shop/cart-${i}` }));
  render(<LoadlinePage poller={answering(answer)} />);
  const victims = await screen.findByRole('table', { name: 'Pods that are slowed down' });
  expect(within(victims).getAllByRole('img')).toHaveLength(50);
  fireEvent.click(screen.getByRole('button', { name: 'Show all 60 pods' }));
  expect(within(victims).getAllByRole('img')).toHaveLength(60);
  expect(screen.queryByRole('button')).toBeNull();
});
