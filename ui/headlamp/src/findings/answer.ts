/**
 * The answer of Loadline about a cluster: what `kubectl loadline who -o json` prints, as far as it is
 * shown here. The types follow those of package pkg/evaluate/findings in Go, and have its comments.
 */

/** CauseKind is the kind of a cause. A later Loadline may have others. */
export type CauseKind =
  | 'Neighbour'
  | 'Limit'
  | 'Hypervisor'
  | 'Itself'
  | 'System'
  | 'Ended'
  | 'Unclear';

/** Cause is one reason why a pod is slowed down. */
export interface Cause {
  kind: CauseKind | string;
  /** Those of a neighbour. */
  pod?: string;
  workload?: string;
  /** disk for what is at a disk, absent for the CPU, and which disk it is. */
  resource?: string;
  device?: string;
  /** The container that a limit is of, and how much CPU that is. */
  container?: string;
  limit?: string;
  /** The limit is the smallest of several: which one it is was not observed. */
  assumed?: boolean;
  /** How much the cause adds to the dilation. */
  dilation: number;
}

/** Pod holds the observations of a pod. */
export interface Pod {
  /** Namespace and name, such as shop/cart-0; other words where the account may not see the name. */
  pod: string;
  node: string;
  /** Kind, namespace and name, such as Deployment shop/cart. */
  workload: string;
  request?: string;
  limit?: string;
  /** For how long the pod was observed. */
  seconds: number;
  /** How many times longer the pod took than alone, and the half width of its 95 % interval. */
  dilation: number;
  dilationError: number;
  /** The causes, the largest first. They add up to dilation − 1. */
  causes: Cause[];
  /** The pod was observed too shortly to be judged. */
  short: boolean;
}

/** Change is the effect of a step on a pod. */
export interface Change {
  pod: string;
  now: number;
  then: number;
}

/** Remedy is what the plan does for a pod. */
/** ByHand is what may help at a disk: without a pod, to raise the limit that the slowed pod has there. */
export interface ByHand {
  device: string;
  pod?: string;
}

export interface Remedy {
  action: string;
  /** The number of the step in the plan, from 1; 0 for none. */
  step: number;
  request?: string;
  limit?: string;
  container?: string;
  /** The pod that changes, or moves to the node; absent for the slowed pod itself. */
  pod?: string;
  node?: string;
  /** The dilation after the whole plan, and how much larger it may be. */
  dilation: number;
  margin: number;
  others: Change[];
  /** What would have to be known to decide whether something else would help. */
  problem?: string;
  byHand?: ByHand;
}

/** Finding is a pod that is slowed down. */
export interface Finding extends Pod {
  /** For how long it has been, and whether it was when the observation began. */
  sinceSeconds: number;
  atLeast: boolean;
  remedy: Remedy;
}

/** Interval is what a step wins, with its 95 % bounds. */
export interface Interval {
  value: number;
  low: number;
  high: number;
}

/** Step is a change of the plan. */
export interface Step {
  action: string;
  pod: string;
  workload: string;
  node: string;
  to?: string;
  container?: string;
  request?: string;
  limit?: string;
  wasRequest?: string;
  wasLimit?: string;
  win: Interval;
  /** The excess that is left after it. */
  left: number;
  pods: Change[];
  notes: string[];
  notInPlace?: string;
}

/** Plan is a sequence of changes. */
export interface Plan {
  /** How far all pods together are above the threshold, now and after all steps. */
  excess: number;
  left: number;
  steps: Step[];
}

/** Node describes a node. */
export interface Node {
  name: string;
  /** Why nothing is observed, if that is so. */
  problem?: string;
  ageSeconds: number;
  cpus: number;
  otherCPUs: number[];
  blockedUnknown: boolean;
  /** Fractions of the time of its processors. */
  busy: number;
  podsBusy: number;
  stolen: number;
  /** How many pods were observed, and how many of them are findings. */
  pods: number;
  slowed: number;
}

/** Answer says which pods are slowed down, because of what, and what would help. */
export interface Answer {
  /** The smallest dilation of a finding. */
  above: number;
  /** The worst first. */
  findings: Finding[];
  plan: Plan;
  /** All pods that were observed, by their names. */
  pods: Pod[];
  /** How many pods were observed too shortly, are too unsteady, and run on nodes without observation. */
  short: number;
  unsure: number;
  unseen: number;
  nodes: Node[];
}
