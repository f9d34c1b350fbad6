import plan from '../testdata/plan.txt?raw';
import who from '../testdata/who.txt?raw';
import { recorded } from '../testing/recorded';
import { amount, within } from './format';
import { planNote } from './verdict';
import { because, changeText, effects, remedyText, since, thenText, winText } from './words';

/** cells returns the rows of a table of the terminal, whose columns are at least three spaces apart. */
function cells(table: string): string[][] {
  return table
    .split('\n')
    .map(line => line.trim().split(/ {3,}/))
    .filter(line => line.length > 5)
    .slice(1);
}

it('findings are worded as in the terminal', () => {
  const rows = recorded().findings.map(f => [
    `${within(f.dilation, f.dilationError)}×`,
    f.pod,
    since(f),
    because(f.causes),
    'cpu',
    remedyText(f),
    thenText(f.remedy),
  ]);
  expect(rows).toEqual(cells(who));
});

it('steps of the plan are worded as in the terminal, and name all pods', () => {
  const answer = recorded();
  const rows = answer.plan.steps.map((s, i) => [
    String(i + 1),
    changeText(s),
    winText(s),
    amount(s.left),
  ]);
  expect(rows).toEqual(cells(plan).map(row => row.slice(0, 4)));
  const { helps, costs } = effects(answer.plan.steps[0]!);
  expect(cells(plan)[0]?.slice(4)).toEqual([`${helps[0]} and ${helps.length - 1} more`, costs[0]]);
  expect(plan).toContain(planNote(answer));
});
