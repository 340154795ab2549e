/** What every request that came in has until its end: the headers plugins put on its answer, and what they took for its time. */
import { Dictionary } from './dictionary.ts';
import type { Awaitable } from './plugin.ts';

/** The base of calls and of requests for routes. */
export class Entry {
  /** Headers that plugins put on the answer. */
  readonly answerHeaders: Record<string, string> = new Dictionary();
  /** What plugins keep of it (slot.ts). */
  slots: unknown[] | undefined = undefined;
  #releases: (() => Awaitable<void>)[] | undefined;

  header(name: string, value: string): void {
    this.answerHeaders[name] = value;
  }

  defer(release: () => Awaitable<void>): void {
    this.#releases ??= [];
    this.#releases.push(release);
  }

  /** Undoes what was deferred, last first; a failing one does not keep the others from running. At once where nobody waits. */
  release(failed: (error: unknown) => void): Awaitable<void> {
    const releases = this.#releases;
    if (releases === undefined) return;
    this.#releases = undefined;
    return undo(releases, failed);
  }
}

function undo(releases: (() => Awaitable<void>)[], failed: (error: unknown) => void): Awaitable<void> {
  for (let release = releases.pop(); release !== undefined; release = releases.pop()) {
    try {
      const waiting = release();
      if (waiting instanceof Promise) return waiting.catch(failed).then(() => undo(releases, failed));
    } catch (error) {
      failed(error);
    }
  }
}
