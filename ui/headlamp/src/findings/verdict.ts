import { Answer, Node } from './answer';
import { amount, counted, decimal, inWords, names, sentence, times } from './format';
import { mended } from './select';

/** verdict says in a sentence or two how the cluster is, and what the plan makes of it. */
export function verdict(a: Answer): string {
  if (a.pods.length === 0) {
    return 'No pod is observed yet.';
  }
  const slowed = a.findings.length;
  if (slowed === 0) {
    return `None of ${counted(a.pods.length, 'observed pod')} is slowed down ${times(
      a.above
    )} or more.`;
  }
  const run = slowed === 1 ? 'runs' : 'run';
  const could = slowed === 1 ? 'it could' : 'they could';
  const first = `${decimal(slowed, 0)} of ${counted(
    a.pods.length,
    'pod'
  )} ${run} slower than ${could}.`;
  return `${first} ${whatThePlanDoes(a)}`;
}

function whatThePlanDoes(a: Answer): string {
  const steps = a.plan.steps.length;
  if (steps === 0) {
    return 'No change that may be made is known to help.';
  }
  const changes = sentence(`${inWords(steps)} ${steps === 1 ? 'change' : 'changes'}`);
  const good = mended(a).length;
  const verb = (one: string, many: string) => (steps === 1 ? one : many);
  if (good === 0) {
    return `${changes} ${verb('helps', 'help')}, but ${verb('brings', 'bring')} none below ${times(
      a.above
    )}.`;
  }
  if (good === a.findings.length) {
    const all = good === 1 ? 'it' : good === 2 ? 'both of them' : 'all of them';
    return `${changes} ${verb('mends', 'mend')} ${all}.`;
  }
  return `${changes} ${verb('mends', 'mend')} ${inWords(good)} of them.`;
}

/** notes say of how many pods and nodes an answer is, and which nodes are not known. */
export function notes(a: Answer): string[] {
  const lines: string[] = [];
  if (a.findings.length > 0) {
    const of = counted(a.pods.length, 'observed pod');
    lines.push(`Slowed down ${times(a.above)} or more: ${decimal(a.findings.length, 0)} of ${of}.`);
  }
  if (a.short > 0) {
    lines.push(`Observed too shortly to judge: ${counted(a.short, 'pod')}.`);
  }
  if (a.unsure > 0) {
    const of = counted(a.unsure, 'pod');
    lines.push(
      `Too unsteady to judge: ${of}, whose dilation is about as far from 1 as it differs between intervals.`
    );
  }
  const of = counted(a.nodes.length, 'node');
  const unknown = a.nodes.filter(n => n.problem);
  if (unknown.length > 0) {
    const which = names(unknown.map(n => `${n.name}: ${n.problem}`));
    const pods = counted(a.unseen, 'pod');
    lines.push(`Not observed: ${decimal(unknown.length, 0)} of ${of}, with ${pods} (${which}).`);
  }
  const changing = a.nodes.filter(n => !n.problem && n.otherCPUs.length > 0);
  if (changing.length > 0) {
    const which = names(changing.map(n => `${n.name}: ${processors(n)}`));
    lines.push(
      `Processors change on ${decimal(changing.length, 0)} of ${of} (${which}): ` +
        'only the time with the first number counts.'
    );
  }
  return lines;
}

/** planNote says what the whole plan wins. */
export function planNote(a: Answer): string {
  const { excess, left, steps } = a.plan;
  if (excess === 0) {
    return `No pod that was observed is slowed down more than ${times(
      a.above
    )}: there is nothing to change.`;
  }
  const line = `Excess above ${times(a.above)}: ${amount(excess)} now`;
  return steps.length === 0
    ? `${line}, and no change that may be made is known to take from it.`
    : `${line}, ${amount(left)} after ${counted(steps.length, 'step')}.`;
}

/** remark describes a peculiarity of the observations of a node. */
export function remark(n: Node): string {
  const remarks: string[] = [];
  if (n.otherCPUs.length > 0) {
    remarks.push(`at times ${n.otherCPUs.join(' or ')} CPUs, which do not count`);
  }
  if (n.blockedUnknown) {
    remarks.push('blocked time is not observed');
  }
  return remarks.join('; ');
}

function processors(n: Node): string {
  return `${n.cpus}, and at times ${n.otherCPUs.join(' or ')}`;
}
