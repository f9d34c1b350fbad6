import { Loaded } from '../client/load';
import { Poller } from '../client/poller';
import { Answer } from '../findings/answer';
import { ManualClock } from './clock';

const seen = { visible: () => true, onChange: () => () => undefined };

/** pollerOf returns a poller that always has the same. */
export function pollerOf(loaded: Loaded): Poller {
  return new Poller(() => Promise.resolve(loaded), new ManualClock(), seen);
}

/** answering returns a poller that always has an answer. */
export function answering(answer: Answer): Poller {
  return pollerOf({ answer });
}
