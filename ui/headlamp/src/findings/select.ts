import { Answer, Finding, Node, Pod } from './answer';

/** Judgement is what an answer says of a pod. */
export type Judgement =
  | { is: 'slowed'; finding: Finding }
  | { is: 'well' | 'short' | 'unsure'; pod: Pod }
  | { is: 'unobserved'; why?: string };

/**
 * judge returns what an answer says of a pod, given as namespace/name, and its node if it has one.
 */
export function judge(a: Answer, name: string, node?: string): Judgement {
  const finding = a.findings.find(f => f.pod === name);
  if (finding) {
    return { is: 'slowed', finding };
  }
  const pod = a.pods.find(p => p.pod === name);
  if (!pod) {
    const why = a.nodes.find(n => n.name === node)?.problem;
    return { is: 'unobserved', why };
  }
  if (pod.short) {
    return { is: 'short', pod };
  }
  return { is: pod.dilation >= a.above ? 'unsure' : 'well', pod };
}

/** Group is the pods of a workload or a node. */
export interface Group {
  findings: Finding[];
  pods: Pod[];
}

/**
 * ofWorkload returns the pods of a workload, given its kind, namespace and name. Loadline counts the pods of
 * a CronJob's Jobs as those of the CronJob; they bear the name of the Job.
 */
export function ofWorkload(a: Answer, kind: string, namespace: string, name: string): Group {
  const of = (p: Pod) =>
    p.workload === `${kind} ${namespace}/${name}` ||
    (kind === 'Job' &&
      p.workload.startsWith(`CronJob ${namespace}/`) &&
      p.pod.startsWith(`${namespace}/${name}-`));
  return { findings: a.findings.filter(of), pods: a.pods.filter(of) };
}

/** ofNode returns the pods of a node. */
export function ofNode(a: Answer, name: string): Group {
  const is = (p: Pod) => p.node === name;
  return { findings: a.findings.filter(is), pods: a.pods.filter(is) };
}

/** nodeNamed returns what an answer says of a node. */
export function nodeNamed(a: Answer, name: string): Node | undefined {
  return a.nodes.find(n => n.name === name);
}

/** mended returns the findings that the whole plan takes below the threshold. */
export function mended(a: Answer): Finding[] {
  return a.findings.filter(f => f.remedy.step > 0 && f.remedy.dilation < a.above);
}
