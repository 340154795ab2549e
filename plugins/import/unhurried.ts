/** Long work in a process that may serve calls: after a few things, others have their turn. */
import { setImmediate } from 'node:timers/promises';

/** Things between two turns: some milliseconds of work. */
const FEW = 200;

/** Lets others have their turn. */
export const nextTurn = (): Promise<void> => setImmediate();

/** The things one by one. */
export async function* unhurried<T>(things: Iterable<T>): AsyncGenerator<T, void> {
  let count = 0;
  for (const thing of things) {
    yield thing;
    if (++count % FEW === 0) await nextTurn();
  }
}
