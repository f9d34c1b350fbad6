import { Cause } from './answer';

/** Kind is a kind of cause as it is shown. */
export interface Kind {
  id: string;
  label: string;
  /**
   * The colour of its part of a bar: one of Okabe and Ito's (Color Universal Design, 2008), which people
   * with any of the common colour vision deficiencies can tell apart.
   */
  colour: string;
  /** The part is striped, not filled. */
  striped?: boolean;
}

const other: Kind = { id: 'Unclear', label: 'not clear', colour: '#999999', striped: true };

/** kinds are all of them, in the order of a legend. */
export const kinds: readonly Kind[] = [
  { id: 'Neighbour', label: 'neighbours', colour: '#D55E00' },
  { id: 'Limit', label: 'its own limit', colour: '#0072B2' },
  { id: 'Hypervisor', label: 'the hypervisor', colour: '#CC79A7' },
  { id: 'Itself', label: 'its own threads', colour: '#009E73' },
  { id: 'System', label: 'the node outside of pods', colour: '#E69F00' },
  { id: 'Ended', label: 'pods that have ended', colour: '#56B4E9' },
  other,
];

/** kindOf returns the kind of a cause; a kind that a later Loadline may have counts as not clear. */
export function kindOf(c: Cause): Kind {
  return kinds.find(k => k.id === c.kind) ?? other;
}

/** kindsIn returns the kinds that causes have, in the order of the legend. */
export function kindsIn(causes: Cause[]): Kind[] {
  return kinds.filter(k => causes.some(c => kindOf(c) === k));
}
