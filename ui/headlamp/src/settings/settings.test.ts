import { defaults, problem, settingsFrom } from './settings';

it('what is not stored is as in the defaults', () => {
  expect(settingsFrom(undefined)).toEqual(defaults);
  expect(settingsFrom({ namespace: '', service: 7 })).toEqual(defaults);
  expect(settingsFrom({ namespace: 'tools' })).toEqual({ ...defaults, namespace: 'tools' });
});

it.each(['../x', 'a/b', 'A', '-a', 'a?b', 'a b', 'a:b', 'a'.repeat(64)])(
  'the name %j does not become part of a path',
  name => {
    expect(problem('namespace', name)).toContain('lower-case');
    expect(settingsFrom({ namespace: name })).toEqual(defaults);
  }
);

it('a service account may have dots in its name', () => {
  expect(problem('serviceAccount', 'loadline.viewer')).toBeUndefined();
  expect(problem('serviceAccount', 'loadline..viewer')).toBeDefined();
});
