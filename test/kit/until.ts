/** Waiting for what happens outside of a test, with one patience for all: a busy machine is no failure, and what never happens ends with its name. */
import { setImmediate, setTimeout } from 'node:timers/promises';

const PATIENCE_MS = 60_000;
const TURN_MS = 10;
/** Enough of a log to see why. */
const LINES = 40;

/**
 * Resolves with what `holds` gives, once that is true (or anything but `undefined`, `null`, `0`, `''` and `false`); asked again and again. Fails after
 * a minute with what was waited for, and with the last lines of the log of `gateway`.
 */
export async function until<T>(
  what: string,
  holds: () => T | Promise<T>,
  gateway?: { readonly log: readonly unknown[] },
): Promise<Exclude<NonNullable<T>, false | 0 | ''>> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await holds();
    if (found) return found as Exclude<NonNullable<T>, false | 0 | ''>;
    if (performance.now() > end) throw new Error(`not within ${PATIENCE_MS / 1000} s: ${what}${logOf(gateway)}`);
    await setTimeout(TURN_MS);
  }
}

/**
 * Lets everything in this process go on that waits for nothing outside of it: what a gateway in it does with bytes, or with the end of a connection,
 * that another part of the test has sent. Such a part is many turns of the event loop, however busy the machine is.
 */
export async function turns(count = 50): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate();
}

function logOf(gateway: { readonly log: readonly unknown[] } | undefined): string {
  if (gateway === undefined) return '';
  const lines = gateway.log
    .slice(-LINES)
    .map((line) => (typeof line === 'string' ? line.trimEnd() : JSON.stringify(line)));
  return `\nThe gateway's log:\n${lines.join('\n')}`;
}
