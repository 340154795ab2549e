/** Finds words and patterns in large texts, in a thread: a text full of matches would block all other requests. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { coreErrors } from '../contracts/errors.ts';
import type { Json } from '../contracts/formats/json.ts';
import { startThread, type Thread } from '../runtime/thread.ts';
import type { Matches } from './matches.ts';
import type { FromSearch, ToSearch } from './serve-search.ts';

/** Texts of at least this many UTF-16 units are searched in the thread. */
export const LARGE_TEXT = 8 * 1_024;
/** So are all texts of a body of at least this many bytes. */
export const LARGE_INSPECTION = 128 * 1_024;
/** Texts of at least this many units have a thread of their own: a part of a search cannot be interrupted. */
const HUGE_TEXT = 256 * 1_024;
/** More matches in one text are refused: they take seconds of a thread, and each placeholder stays in memory as long as its call. */
export const MOST_MATCHES = 200_000;
/** The idle time after which the thread ends. */
const IDLE_MS = 60_000;
/** Matches between two yields. */
const AT_ONCE = 2_000;

/** Searches texts. */
export interface Search {
  /** The first matches in a text, at most `most`, of the matchers with the indexes `of`. */
  find(text: string, of: readonly number[], most: number): Promise<Matches>;
  /** Ends its threads. */
  close(): Promise<void>;
}

/** Creates it. `entry`: a module that calls `serveSearch`; `config`: what that makes its matchers of. A thread starts with its first text. */
export function createSearch(entry: URL, config: unknown): Search {
  const [usual, huge] = [createLane(entry, config), createLane(entry, config)];
  return {
    find: (text, of, most) => (text.length < HUGE_TEXT ? usual : huge).find(text, of, most),
    close: () => Promise.all([usual.close(), huge.close()]).then(() => undefined),
  };
}

/** One thread. */
function createLane(entry: URL, config: unknown): Search {
  const jobs = new Map<number, { resolve(matches: Matches): void; reject(error: Error): void }>();
  let thread: Thread<ToSearch> | undefined;
  let number = 0;
  let idle: NodeJS.Timeout | undefined;

  /** Another one may start before it has ended. */
  function endThread(): Promise<void> | undefined {
    clearTimeout(idle);
    const ending = thread;
    thread = undefined;
    ending?.post('close');
    return ending?.ended;
  }

  function started(): Thread<ToSearch> {
    clearTimeout(idle);
    if (thread !== undefined) return thread;
    const own = startThread<ToSearch, FromSearch>(entry, {
      message({ number: done, matches, failure }) {
        const job = jobs.get(done);
        jobs.delete(done);
        if (jobs.size === 0) idle = setTimeout(endThread, IDLE_MS).unref();
        if (matches === undefined) job?.reject(new Error(failure));
        else job?.resolve(matches);
      },
      ended(error) {
        if (thread !== own) return;
        thread = undefined;
        const reason = new Error(`the thread that searches texts ended: ${error?.message ?? 'it was closed'}`);
        for (const { reject } of jobs.values()) reject(reason);
        jobs.clear();
      },
    });
    own.post({ config: config as Json });
    thread = own;
    return own;
  }

  return {
    find: (text, of, most) =>
      new Promise((resolve, reject) => {
        const own = number++;
        jobs.set(own, { resolve, reject });
        started().post({ number: own, text, of, most });
      }),
    async close() {
      await endThread();
    },
  };
}

/** The text with its matches replaced. `replacement` gets the index of the matcher and the text of the match. Yields in between. */
export async function replaceMatches(
  text: string,
  matches: Matches,
  replacement: (index: number, found: string) => string,
): Promise<string> {
  const pieces: string[] = [];
  let at = 0;
  for (let i = 0; i < matches.length; i += 3) {
    const [start, end, index] = [matches[i]!, matches[i + 1]!, matches[i + 2]!];
    pieces.push(text.slice(at, start), replacement(index, text.slice(start, end)));
    at = end;
    if (i % (AT_ONCE * 3) === 0) await nextTurn();
  }
  return pieces.length === 0 ? text : pieces.join('') + text.slice(at);
}

/** Refuses a text with too many matches. */
export function tooManyMatches(): never {
  throw coreErrors.request_too_large(
    `One text of the request has more than ${MOST_MATCHES} words or values that this gateway replaces. Send it in parts.`,
  );
}
