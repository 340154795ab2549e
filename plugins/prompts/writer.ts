/** Writes contents in the background: encrypted, in batches, from a bounded queue. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StoredContent } from '../../core/contracts/prompts.ts';
import { type Host, type Step, StoreUnavailable } from '../../core/plugin.ts';
import { insertStep } from './rows.ts';

/** Bytes of contents that may wait in a process. */
const MOST_WAITING = 32 * 1_024 * 1_024;
/** Contents of one list, and their bytes. */
const BATCH = 50;
const BATCH_BYTES = 1_024 * 1_024;
/** Between two tries, while the store cannot be written. */
const PAUSE_MS = 2_000;

/** A call whose content will be stored. */
export interface Ended {
  readonly id: string;
  readonly accountId: number;
  readonly keyId: number;
}

interface Waiting extends Ended {
  readonly atMs: number;
  readonly text: string;
}

/** Makes it. */
export function createWriter({ store, vault, clock, log }: Host) {
  const waiting: Waiting[] = [];
  /** Characters of what waits. */
  let length = 0;
  let working: Promise<void> | undefined;
  let stopped = false;
  let cancelPause: (() => void) | undefined;
  /** The number of lost contents since a failure was logged; undefined: no failure. */
  let lost: number | undefined;

  /** A failure is logged once, until contents can be stored again. */
  function failing(why: string, lostNow: number, error?: unknown): void {
    if (lost === undefined) log.error(why, { ...(error !== undefined && { error }) });
    lost = (lost ?? 0) + lostNow;
  }

  function well(): void {
    if (lost !== undefined) log.warn('prompts and answers are stored again', { lost });
    lost = undefined;
  }

  function nextBatch(): readonly Waiting[] {
    let bytes = 0;
    const end = waiting.findIndex(({ text }, i) => {
      bytes += text.length;
      return i > 0 && (i >= BATCH || bytes > BATCH_BYTES);
    });
    return waiting.slice(0, end === -1 ? waiting.length : end);
  }

  function drop(batch: readonly Waiting[]): void {
    waiting.splice(0, batch.length);
    for (const { text } of batch) length -= text.length;
  }

  function stepOf({ text, ...row }: Waiting): Step {
    return insertStep({ ...row, sealed: vault.seal(placeOf(row.id), text) });
  }

  /** Writes what waits, one list after the other; after a call has ended, so that its answer does not wait for this. */
  async function work(): Promise<void> {
    while (waiting.length > 0) {
      await nextTurn();
      const batch = nextBatch();
      try {
        await store.atomic(batch.map(stepOf));
        drop(batch);
        well();
      } catch (error) {
        const canWait = error instanceof StoreUnavailable && !stopped;
        if (!canWait) drop(batch);
        failing('prompts and answers cannot be stored', canWait ? 0 : batch.length, error);
        if (canWait) return later();
      }
    }
  }

  function later(): void {
    cancelPause = clock.after(PAUSE_MS, () => {
      cancelPause = undefined;
      begin();
    });
  }

  function begin(): void {
    if (cancelPause !== undefined) return;
    working ??= work().finally(() => {
      working = undefined;
    });
  }

  return {
    /** Takes a content, to be written soon. If too much is waiting, it is not stored, which is logged. */
    add(call: Ended, content: StoredContent): void {
      const text = JSON.stringify(content);
      if (length + text.length > MOST_WAITING) {
        failing('prompts and answers are not stored: too many are waiting to be written', 1);
        return;
      }
      length += text.length;
      waiting.push({ ...call, atMs: clock.now(), text });
      begin();
    },
    /** Resolves when all that was added before is written, or cannot be for now. */
    async written(): Promise<void> {
      await working;
    },
    /** Resolves when everything was tried once more. */
    async stop(): Promise<void> {
      stopped = true;
      await working;
      cancelPause?.();
      cancelPause = undefined;
      begin();
      await working;
      if (lost !== undefined && lost > 0) log.error('prompts and answers were lost', { lost });
    },
  };
}

/** The queue. */
export type Writer = ReturnType<typeof createWriter>;

/** The place for which a content is sealed. */
export function placeOf(id: string): string {
  return `prompt_log.sealed ${id}`;
}
