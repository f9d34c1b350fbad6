import { Answer } from '../findings/answer';
import { Clock } from './clock';
import { Failure } from './failure';
import { Loaded } from './load';

/** State is what is known of a cluster now. */
export interface State {
  /** The last answer, and when it came. */
  answer?: Answer;
  at?: number;
  /** Why the last request had no answer. */
  failure?: Failure;
  /** The answer is older than it should be. */
  stale: boolean;
}

/** Page reports whether the page can be seen, and calls when that changes. */
export interface Page {
  visible(): boolean;
  /** onChange returns what ends the calls. */
  onChange(call: () => void): () => void;
}

/** browserPage is the page in the browser. */
export const browserPage: Page = {
  visible: () => document.visibilityState !== 'hidden',
  onChange(call) {
    document.addEventListener('visibilitychange', call);
    return () => document.removeEventListener('visibilitychange', call);
  },
};

/** How often is asked, in milliseconds, and after how long an answer is stale. */
export const period = 10_000;
const staleAfter = 3 * period;

/**
 * Poller asks again and again while it has subscribers and the page can be seen. All views of a cluster
 * share one.
 */
export class Poller {
  private state: State = { stale: false };
  private readonly listeners = new Set<() => void>();
  private loading = false;
  private next?: () => void;
  private unwatch?: () => void;

  constructor(
    private readonly load: () => Promise<Loaded>,
    private readonly clock: Clock,
    private readonly page: Page
  ) {}

  /** subscribe calls when the state has changed, and returns what ends that. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    if (this.listeners.size === 1) {
      this.unwatch = this.page.onChange(() => this.run());
      this.run();
    }
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) {
        this.unwatch?.();
        this.cancel();
      }
    };
  };

  /** snapshot returns the state, the same object until it changes. */
  readonly snapshot = (): State => this.state;

  /** run asks now if it may and the answer is not fresh, and sees to the next time. */
  private run(): void {
    this.cancel();
    if (this.listeners.size === 0 || !this.page.visible() || this.loading) {
      return;
    }
    const age = this.state.at === undefined ? Infinity : this.clock.now() - this.state.at;
    if (age < period && !this.state.failure) {
      this.next = this.clock.after(period - age, () => this.run());
      return;
    }
    if (age > staleAfter && this.state.answer && !this.state.stale) {
      this.become({ ...this.state, stale: true });
    }
    void this.ask();
  }

  private async ask(): Promise<void> {
    this.loading = true;
    const loaded = await this.load();
    this.loading = false;
    if ('answer' in loaded) {
      this.become({ answer: loaded.answer, at: this.clock.now(), stale: false });
    } else {
      this.become({
        ...this.state,
        failure: loaded.failure,
        stale: this.state.answer !== undefined,
      });
    }
    this.cancel();
    if (this.listeners.size > 0) {
      this.next = this.clock.after(period, () => this.run());
    }
  }

  private cancel(): void {
    this.next?.();
    this.next = undefined;
  }

  private become(state: State): void {
    this.state = state;
    this.listeners.forEach(listener => listener());
  }
}
