/** The part that all requests share: headers that plugins set on the answer, and resources to release at the end. */
import { Dictionary } from './dictionary.ts';
import type { Awaitable } from './plugin.ts';

/** The base of calls and of requests for routes. */
export class Entry {
  /** Answer headers set by plugins. */
  readonly answerHeaders: Record<string, string> = new Dictionary();
  /** State of plugins (slot.ts). */
  slots: unknown[] | undefined = undefined;
  #releases: (() => Awaitable<void>)[] | undefined;

  header(name: string, value: string): void {
    this.answerHeaders[name] = value;
  }

  defer(release: () => Awaitable<void>): void {
    this.#releases ??= [];
    this.#releases.push(release);
  }

  /**
   * Runs deferred releases, last-in first-out; a failure does not keep the others from running. Synchronous if none of
   * them is asynchronous.
   */
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
