/** Clock is the time, in milliseconds, and what happens after some. Tests have one of their own. */
export interface Clock {
  now(): number;
  /** after calls a function once after some milliseconds, and returns what prevents it. */
  after(milliseconds: number, call: () => void): () => void;
}

/** browserClock is the clock of the browser. */
export const browserClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, call) {
    const timer = setTimeout(call, milliseconds);
    return () => clearTimeout(timer);
  },
};
