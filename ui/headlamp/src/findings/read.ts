import {
  Answer,
  ByHand,
  Cause,
  Change,
  Finding,
  Interval,
  Node,
  Plan,
  Pod,
  Remedy,
  Step,
} from './answer';

/** NotAnAnswer says which field of what came is not as it should be. */
export class NotAnAnswer extends Error {
  override name = 'NotAnAnswer';
}

/**
 * readAnswer returns an answer from parsed JSON. It takes what it names and leaves all else, so that a
 * later Loadline may say more. It throws NotAnAnswer where a field is missing or of another type.
 */
export function readAnswer(json: unknown): Answer {
  const a = new Fields(json, 'the answer');
  return {
    above: a.number('above'),
    findings: a.list('findings', finding),
    plan: a.has('plan') ? plan(a.fields('plan')) : { excess: 0, left: 0, steps: [] },
    pods: a.list('pods', pod),
    short: a.number('short', 0),
    unsure: a.number('unsure', 0),
    unseen: a.number('unseen', 0),
    nodes: a.list('nodes', node),
  };
}

function pod(f: Fields): Pod {
  return {
    pod: f.text('pod'),
    node: f.text('node'),
    workload: f.text('workload'),
    request: f.maybe('request'),
    limit: f.maybe('limit'),
    seconds: f.number('seconds'),
    dilation: f.number('dilation'),
    dilationError: f.number('dilationError'),
    causes: f.list('causes', cause),
    short: f.flag('short'),
  };
}

function finding(f: Fields): Finding {
  return {
    ...pod(f),
    sinceSeconds: f.number('sinceSeconds'),
    atLeast: f.flag('atLeast'),
    remedy: remedy(f.fields('remedy')),
  };
}

function cause(f: Fields): Cause {
  return {
    kind: f.text('kind'),
    pod: f.maybe('pod'),
    workload: f.maybe('workload'),
    resource: f.maybe('resource'),
    device: f.maybe('device'),
    container: f.maybe('container'),
    limit: f.maybe('limit'),
    assumed: f.flag('assumed'),
    dilation: f.number('dilation'),
  };
}

function remedy(f: Fields): Remedy {
  return {
    action: f.text('action'),
    step: f.number('step', 0),
    request: f.maybe('request'),
    limit: f.maybe('limit'),
    container: f.maybe('container'),
    pod: f.maybe('pod'),
    node: f.maybe('node'),
    dilation: f.number('dilation'),
    margin: f.number('margin', 0),
    others: f.list('others', change),
    problem: f.maybe('problem'),
    byHand: f.has('byHand') ? byHand(f.fields('byHand')) : undefined,
  };
}

function byHand(f: Fields): ByHand {
  return { device: f.text('device'), pod: f.maybe('pod') };
}

function change(f: Fields): Change {
  return { pod: f.text('pod'), now: f.number('now'), then: f.number('then') };
}

function plan(f: Fields): Plan {
  return { excess: f.number('excess'), left: f.number('left'), steps: f.list('steps', step) };
}

function step(f: Fields): Step {
  return {
    action: f.text('action'),
    pod: f.text('pod'),
    workload: f.text('workload'),
    node: f.text('node'),
    to: f.maybe('to'),
    container: f.maybe('container'),
    request: f.maybe('request'),
    limit: f.maybe('limit'),
    wasRequest: f.maybe('wasRequest'),
    wasLimit: f.maybe('wasLimit'),
    win: interval(f.fields('win')),
    left: f.number('left'),
    pods: f.list('pods', change),
    notes: f.values('notes', asText),
    notInPlace: f.maybe('notInPlace'),
  };
}

function interval(f: Fields): Interval {
  return { value: f.number('value'), low: f.number('low'), high: f.number('high') };
}

function node(f: Fields): Node {
  return {
    name: f.text('name'),
    problem: f.maybe('problem'),
    ageSeconds: f.number('ageSeconds'),
    cpus: f.number('cpus'),
    otherCPUs: f.values('otherCPUs', asNumber),
    blockedUnknown: f.flag('blockedUnknown'),
    busy: f.number('busy'),
    podsBusy: f.number('podsBusy'),
    stolen: f.number('stolen'),
    pods: f.number('pods'),
    slowed: f.number('slowed'),
  };
}

/** Fields reads the fields of an object, and names the one that is wrong. */
class Fields {
  private readonly values_: Record<string, unknown>;

  constructor(json: unknown, private readonly at: string) {
    if (typeof json !== 'object' || json === null || Array.isArray(json)) {
      throw new NotAnAnswer(`${at} is not an object`);
    }
    this.values_ = json as Record<string, unknown>;
  }

  has(name: string): boolean {
    return this.values_[name] !== undefined && this.values_[name] !== null;
  }

  number(name: string, absent?: number): number {
    return absent !== undefined && !this.has(name)
      ? absent
      : asNumber(this.values_[name], this.path(name));
  }

  text(name: string): string {
    return asText(this.values_[name], this.path(name));
  }

  maybe(name: string): string | undefined {
    return this.has(name) ? this.text(name) : undefined;
  }

  flag(name: string): boolean {
    return this.values_[name] === true;
  }

  fields(name: string): Fields {
    return new Fields(this.values_[name], this.path(name));
  }

  /** Absent lists are empty: Go leaves them out, or writes null. */
  values<T>(name: string, read: (value: unknown, at: string) => T): T[] {
    if (!this.has(name)) {
      return [];
    }
    const values = this.values_[name];
    if (!Array.isArray(values)) {
      throw new NotAnAnswer(`${this.path(name)} is not a list`);
    }
    return values.map((value: unknown, i) => read(value, `${this.path(name)}[${i}]`));
  }

  list<T>(name: string, read: (fields: Fields) => T): T[] {
    return this.values(name, (value, at) => read(new Fields(value, at)));
  }

  private path(name: string): string {
    return this.at === 'the answer' ? name : `${this.at}.${name}`;
  }
}

function asNumber(value: unknown, at: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new NotAnAnswer(`${at} is not a number`);
  }
  return value;
}

function asText(value: unknown, at: string): string {
  if (typeof value !== 'string') {
    throw new NotAnAnswer(`${at} is not a text`);
  }
  return value;
}
