import texts from '../testdata/texts.json';
import { added, counted, duration, inWords, names, percent, times, within } from './format';

describe('numbers are written as the terminal writes them', () => {
  it.each(texts)('$number', ({ number, ...want }) => {
    expect({
      times: times(number),
      added: added(number),
      percent: percent(number),
      within: `${within(number, number)}×`,
    }).toEqual(want);
  });
});

it('a number exactly between two texts is rounded to the even one, below 0 too', () => {
  expect(times(0.125)).toBe('0.12×');
  expect(times(0.375)).toBe('0.38×');
  expect(times(-0.125)).toBe('-0.12×');
  expect(times(-0.001)).toBe('0.00×');
});

it.each([
  [0, '0s'],
  [119.9, '119s'],
  [120, '2m'],
  [330, '5m30s'],
  [3600, '60m'],
  [3 * 3600, '3h'],
  [3 * 3600 + 720, '3h12m'],
  [30 * 3600, '30h'],
  [49 * 3600, '2d1h'],
  [30 * 86400, '30d'],
  [3 * 365 * 86400, '3y'],
])('%d seconds are %s, as kubectl writes them', (seconds, want) => {
  expect(duration(seconds)).toBe(want);
});

it('counts have an s unless they are 1, and commas', () => {
  expect(counted(1, 'pod')).toBe('1 pod');
  expect(counted(1204, 'pod')).toBe('1,204 pods');
  expect(inWords(3)).toBe('three');
  expect(inWords(13)).toBe('13');
  expect(names(['a', 'b', 'c', 'd', 'e', 'f'])).toBe('a, b, c, d, e and 1 more');
});
