import { ByHand, Cause, Change, Finding, Pod, Remedy, Step } from './answer';
import { added, amount, counted, decimal, duration, times } from './format';

/**
 * How causes, remedies and steps are described: in the words of the terminal (package pkg/report in Go).
 * All of them are text; none is markup.
 */

/** The part of a dilation below which a cause is not named, and the fraction of all causes. */
export const smallCause = 0.05;
const smallPart = 0.1;
const fewCauses = 2;
const namedOfMany = 3;

/** causeName names a cause, and the disk where it is one. */
export function causeName(c: Cause): string {
  return who(c) + atDisk(c);
}

function atDisk(c: Cause): string {
  if (c.resource !== 'disk') {
    return '';
  }
  return c.device ? ` at disk ${c.device}` : ' at disks';
}

function who(c: Cause): string {
  switch (c.kind) {
    case 'Neighbour':
      return c.pod || c.workload || 'a neighbour';
    case 'Limit':
      return limitName(c);
    case 'Hypervisor':
      return 'the hypervisor (steal)';
    case 'Itself':
      return 'its own threads';
    case 'System':
      return 'the node outside of pods';
    case 'Ended':
      return 'pods that have ended';
    case 'Unclear':
      return 'not clear';
    default:
      return c.kind;
  }
}

function limitName(c: Cause): string {
  const whose = c.container ? `${c.container}'s limit` : 'its own limit';
  const line = c.limit === undefined ? whose : `${whose} of ${c.limit}`;
  return c.assumed ? `perhaps ${line}` : line;
}

/** because names the causes that matter most, and the neighbours that matter little together. */
export function because(causes: Cause[]): string {
  const sum = causes.reduce((total, c) => total + c.dilation, 0);
  const least = Math.max(smallCause, smallPart * sum);
  const parts: string[] = [];
  for (const [i, r] of reasons(causes, least).entries()) {
    if ((i > 0 && r.dilation < smallCause) || (i >= fewCauses && r.dilation < least)) {
      break;
    }
    parts.push(r.words);
  }
  return parts.length > 0 ? parts.join(', ') : '-';
}

interface Reason {
  words: string;
  dilation: number;
}

function reasons(causes: Cause[], least: number): Reason[] {
  const all: Reason[] = [];
  const many: Cause[] = [];
  let named = 0;
  for (const c of causes) {
    if (c.kind === 'Neighbour') {
      if (named >= fewCauses || c.dilation < least) {
        many.push(c);
        continue;
      }
      named++;
    }
    all.push({ words: `${causeName(c)} ${added(c.dilation)}`, dilation: c.dilation });
  }
  if (many.length > 0) {
    all.push(together(many));
  }
  return all.sort((a, b) => b.dilation - a.dilation);
}

function together(many: Cause[]): Reason {
  const sum = many.reduce((total, c) => total + c.dilation, 0);
  const all = many.map(causeName);
  if (all.length === 1) {
    return { words: `${all[0]} ${added(sum)}`, dilation: sum };
  }
  const what = many.some(c => c.pod) ? 'pod' : 'workload';
  const more = all.length - namedOfMany;
  const shown =
    more > 1
      ? [
          ...all.slice(0, namedOfMany - 1),
          `${all[namedOfMany - 1]} and ${decimal(more, 0)} more`,
        ].join(', ')
      : all.join(', ');
  return {
    words: `${counted(many.length, what)} together ${added(sum)} (${shown})`,
    dilation: sum,
  };
}

/** since writes for how long a pod has been slowed down. */
export function since(f: Finding): string {
  return (f.atLeast ? '> ' : '') + duration(f.sinceSeconds);
}

/** remedyText describes the remedy for a pod, with the step of the plan that it is, and what may help by hand. */
export function remedyText(f: Finding): string {
  const r = f.remedy;
  const byHand = r.byHand && advice(r.byHand);
  if (r.action !== 'Leave') {
    return byHand ? `${planned(f)}; ${byHand}` : planned(f);
  }
  return r.problem ? `not known: ${r.problem}` : byHand ?? 'leave it';
}

function advice(a: ByHand): string {
  return a.pod
    ? `by hand: io.max for ${a.pod}, or another disk or node`
    : `by hand: raise its io.max at ${a.device}`;
}

function planned(f: Finding): string {
  const r = f.remedy;
  const step = r.step > 0 ? `step ${r.step}: ` : '';
  switch (r.action) {
    case 'RaiseRequest':
    case 'LowerRequest':
      return `${step}request ${r.request ?? '?'}${ofWhom(r, f.request)}`;
    case 'RaiseLimit':
      return `${step}limit ${r.limit ?? '?'}${ofContainer(r, f)}`;
    case 'MovePod':
      return `${step}move it to ${r.node ?? '?'}`;
    case 'MoveNeighbour':
      return `${step}move ${r.pod ?? '?'} to ${r.node ?? '?'}`;
    default:
      return step + r.action;
  }
}

function ofWhom(r: Remedy, has: string | undefined): string {
  const of = r.container ? ` of ${r.container}` : '';
  if (r.pod) {
    return `${of} of ${r.pod}`;
  }
  return r.container ? of : now(has);
}

function ofContainer(r: Remedy, pod: Pod): string {
  if (!r.container || r.pod) {
    return ofWhom(r, pod.limit);
  }
  const limit = pod.causes.find(
    c => c.kind === 'Limit' && c.resource !== 'disk' && c.container === r.container
  )?.limit;
  return ` of ${r.container}${now(limit)}`;
}

function now(quantity: string | undefined): string {
  return quantity === undefined ? '' : ` (now ${quantity})`;
}

/** thenText describes how the pod fares with all remedies, and what this one does to others. */
export function thenText(r: Remedy): string {
  if (r.action === 'Leave') {
    return '-';
  }
  const worse = r.others.filter(o => o.then >= o.now);
  const loss = (o: Change) => o.then - o.now;
  const lost = worse.reduce((total, o) => total + loss(o), 0);
  const won = r.others.reduce((total, o) => total + Math.max(0, o.now - o.then), 0);
  let line = times(r.dilation);
  if (r.margin >= smallCause) {
    line += ` (at most ${times(r.dilation + r.margin)})`;
  }
  const worst = worse.reduce<Change | undefined>(
    (most, o) => (most === undefined || loss(o) > loss(most) ? o : most),
    undefined
  );
  if (worst === undefined) {
    line += ', slows no other pod';
  } else {
    line += `, slows ${worst.pod} by ${decimal(loss(worst), 2)}`;
    if (r.others.length > 1 && lost > loss(worst)) {
      line += `, others by ${decimal(lost - loss(worst), 2)}`;
    }
  }
  return won >= smallCause ? `${line}, relieves others by ${decimal(won, 2)}` : line;
}

/** changeText describes a step of the plan. */
export function changeText(s: Step): string {
  const of = s.container ? ` of ${s.container} in ${s.pod}` : ` of ${s.pod}`;
  if (s.action === 'MovePod') {
    return `move ${s.pod} from ${s.node} to ${s.to ?? '?'}`;
  }
  if (s.action === 'RaiseLimit') {
    const what = s.request === undefined ? 'limit' : 'limit and request';
    return `${what} ${s.limit ?? '?'}${of}${now(s.wasLimit)}`;
  }
  const what = s.limit === undefined ? 'request' : 'request and limit';
  return `${what} ${s.request ?? '?'}${of}${now(s.wasRequest)}`;
}

/** winText writes what a step wins, with its bounds. */
export function winText(s: Step): string {
  return `${amount(s.win.value)} (${amount(s.win.low)} to ${amount(s.win.high)})`;
}

/** Effects are the pods that a step helps, and those that it costs something, the most first. */
export interface Effects {
  helps: string[];
  costs: string[];
}

/** effects describes what a step does to pods. */
export function effects(s: Step): Effects {
  const line = (e: Change) => `${e.pod} ${amount(e.now)} → ${times(e.then)}`;
  return {
    helps: s.pods.filter(e => e.then < e.now).map(line),
    costs: s.pods
      .filter(e => e.then >= e.now)
      .map(line)
      .reverse(),
  };
}
