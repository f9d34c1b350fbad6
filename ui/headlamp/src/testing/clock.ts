import { Clock } from '../client/clock';

/** ManualClock is a clock that stands still until it is moved. */
export class ManualClock implements Clock {
  private time = 1_000_000;
  private waiting: { at: number; call: () => void }[] = [];

  now(): number {
    return this.time;
  }

  after(milliseconds: number, call: () => void): () => void {
    const timer = { at: this.time + milliseconds, call };
    this.waiting.push(timer);
    return () => (this.waiting = this.waiting.filter(t => t !== timer));
  }

  /** move moves the time on, and lets happen what was to happen by then. */
  async move(milliseconds: number): Promise<void> {
    this.time += milliseconds;
    const due = this.waiting.filter(t => t.at <= this.time);
    this.waiting = this.waiting.filter(t => t.at > this.time);
    due.forEach(t => t.call());
    await settled();
  }
}

/** settled waits until all promises that can be are settled. */
export function settled(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, 0));
}
