import { Answer } from '../findings/answer';
import { readAnswer } from '../findings/read';
import who from '../testdata/who.json';

/** recorded returns the answer about the example cluster in docs/examples/who. */
export function recorded(): Answer {
  return readAnswer(structuredClone(who));
}
