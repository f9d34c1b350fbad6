import { ManualClock, settled } from '../testing/clock';
import { recorded } from '../testing/recorded';
import { Loaded } from './load';
import { Poller } from './poller';

const failure = { title: 'No.', advice: 'Wait.', detail: '' };

function given() {
  const page = { seen: true, change: () => {} };
  const asked = { times: 0, next: { answer: recorded() } as Loaded };
  const clock = new ManualClock();
  const poller = new Poller(
    () => {
      asked.times++;
      return Promise.resolve(asked.next);
    },
    clock,
    {
      visible: () => page.seen,
      onChange(call) {
        page.change = call;
        return () => (page.change = () => {});
      },
    }
  );
  const show = (seen: boolean) => {
    page.seen = seen;
    page.change();
    return settled();
  };
  return { asked, clock, poller, show };
}

it('asks every ten seconds while a view is open, and all views share the answer', async () => {
  const { asked, clock, poller } = given();
  const close = [poller.subscribe(() => {}), poller.subscribe(() => {})];
  await settled();
  expect(asked.times).toBe(1);
  expect(poller.snapshot()).toMatchObject({ answer: { above: 1.2 }, stale: false });
  await clock.move(9_999);
  expect(asked.times).toBe(1);
  await clock.move(1);
  expect(asked.times).toBe(2);
  close.forEach(end => end());
  await clock.move(60_000);
  expect(asked.times).toBe(2);
});

it('a view that is opened while the answer is fresh does not ask again', async () => {
  const { asked, clock, poller } = given();
  poller.subscribe(() => {})();
  await settled();
  await clock.move(4_000);
  poller.subscribe(() => {});
  await settled();
  expect(asked.times).toBe(1);
  await clock.move(6_000);
  expect(asked.times).toBe(2);
});

it('does not ask while the page is hidden, and at once when it is seen again', async () => {
  const { asked, clock, poller, show } = given();
  const stale: boolean[] = [];
  poller.subscribe(() => stale.push(poller.snapshot().stale));
  await settled();
  await show(false);
  await clock.move(60_000);
  expect(asked.times).toBe(1);
  await show(true);
  expect(asked.times).toBe(2);
  expect(stale).toEqual([false, true, false]);
});

it('after a failure the last answer stays and is stale, until there is a new one', async () => {
  const { asked, clock, poller } = given();
  poller.subscribe(() => {});
  await settled();
  const good = asked.next;
  asked.next = { failure };
  await clock.move(10_000);
  expect(poller.snapshot()).toMatchObject({ answer: { above: 1.2 }, failure, stale: true });
  asked.next = good;
  await clock.move(10_000);
  expect(poller.snapshot()).toMatchObject({ stale: false });
  expect(poller.snapshot().failure).toBeUndefined();
});

it('a failure without an earlier answer is not stale', async () => {
  const { asked, poller } = given();
  asked.next = { failure };
  poller.subscribe(() => {});
  await settled();
  expect(poller.snapshot()).toEqual({ failure, stale: false });
});
