import { kindOf, kinds, kindsIn } from './kinds';

it('each kind has a colour of its own', () => {
  expect(new Set(kinds.map(k => k.colour)).size).toBe(kinds.length);
});

it('a kind that is not known counts as not clear', () => {
  expect(kindOf({ kind: 'Comet', dilation: 1 }).label).toBe('not clear');
});

it('kinds come in the order of the legend, each once', () => {
  const causes = ['System', 'Limit', 'System', 'Neighbour'].map(kind => ({ kind, dilation: 1 }));
  expect(kindsIn(causes).map(k => k.id)).toEqual(['Neighbour', 'Limit', 'System']);
});
