/**
 * What one key meets again and again within a minute is added up: a bounded number of records for each process, however often it asks.
 */
import type { UsageRecord } from '../../core/contracts/records.ts';
import type { Host, Step } from '../../core/plugin.ts';
import { createChore } from '../../core/sdk.ts';
import { msOf } from './ids.ts';

const MINUTE_MS = 60_000;
/** How often what has come together is written: not once for each request, so that a flood is no work for the disk. */
const EVERY_MS = 1_000;
/** So many records of one key and minute name their model; what comes beyond is added up without it, for callers choose names. */
const MOST_WITH_MODEL = 20;

/** Asks other processes to write what they have counted. */
const WRITE = 'log.repeats';

/** Requests that are alike. */
interface Tally {
  /** The record that stands for them; undefined where none is written. */
  id: string | undefined;
  /** How many are not written yet, and the last of these. */
  waiting: number;
  last: UsageRecord;
}

/** Adds them up. */
export interface Repeats {
  /** The record to be written where this is the first of its minute; undefined: it is counted as one more of these. */
  first(record: UsageRecord): UsageRecord | undefined;
  /** Counts one, the first as well, and writes it soon. */
  count(record: UsageRecord): void;
  /** Resolves when what was counted so far, in any process, is written, or cannot be for now. */
  written(): Promise<void>;
  start(): void;
  /** Writes what is left. */
  stop(): Promise<void>;
}

/** How records are written. */
export interface Writing {
  /** The steps that write this record. */
  readonly record: (record: UsageRecord) => readonly Step[];
  /** Those that let the record of that id, which this one is like, stand for so many more. The list fails where there is no such record. */
  readonly more: (record: UsageRecord, repeats: number) => readonly Step[];
}

/** Makes it. */
export function createRepeats(host: Host, write: Writing): Repeats {
  const { store, clock, peers } = host;
  /** By key and minute, then by what else has to be the same. */
  const minutes = new Map<string, Map<string, Tally>>();
  let last: Promise<void> = Promise.resolve();

  /** Those that this record belongs to, and the record without what they do not share. */
  function find(record: UsageRecord): readonly [tallies: Map<string, Tally>, name: string, record: UsageRecord] {
    const { accountId, keyId, atMs } = record;
    const minute = `${Math.floor(atMs / MINUTE_MS)} ${accountId} ${keyId}`;
    const tallies = minutes.get(minute) ?? new Map<string, Tally>();
    minutes.set(minute, tallies);
    const name = nameOf(record);
    if (tallies.has(name) || tallies.size < MOST_WITH_MODEL) return [tallies, name, record];
    const nameless = { ...record, model: '' };
    return [tallies, nameOf(nameless), nameless];
  }

  async function writeTally(tally: Tally): Promise<void> {
    const { id, waiting, last: newest } = tally;
    if (waiting === 0) return;
    tally.waiting = 0;
    try {
      const isThere =
        id !== undefined && (await store.atomic(write.more({ ...newest, id, atMs: msOf(id) }, waiting))) === undefined;
      if (isThere) return;
      // There is none yet, or it could not be written: the newest stands for all.
      await store.atomic(write.record({ ...newest, repeats: waiting - 1 }));
      tally.id = newest.id;
    } catch (error) {
      tally.waiting += waiting;
      throw error;
    }
  }

  async function writeAll(): Promise<void> {
    const now = Math.floor(clock.now() / MINUTE_MS);
    const writing: Promise<void>[] = [];
    for (const [minute, tallies] of minutes) {
      const all = [...tallies.values()];
      // A request that began in a minute may end in the next.
      if (Number.parseInt(minute, 10) < now - 1 && all.every(({ waiting }) => waiting === 0)) minutes.delete(minute);
      else writing.push(...all.map(writeTally));
    }
    const failed = (await Promise.allSettled(writing)).find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  /** One after the other: what a record stands for is known before the next is written. */
  function flush(): Promise<void> {
    last = last.catch(() => {}).then(writeAll);
    return last;
  }

  const chore = createChore(host, {
    everyMs: EVERY_MS,
    everywhere: true,
    work: flush,
    failure: 'requests that were added up could not be written yet',
  });

  return {
    first(record) {
      const [tallies, name, found] = find(record);
      const tally = tallies.get(name);
      if (tally === undefined) {
        tallies.set(name, { id: found.id, waiting: 0, last: found });
        return found;
      }
      tally.waiting += 1;
      tally.last = found;
      return undefined;
    },
    count(record) {
      const [tallies, name, found] = find(record);
      const tally = tallies.get(name) ?? { id: undefined, waiting: 0, last: found };
      tallies.set(name, tally);
      tally.waiting += 1;
      tally.last = found;
    },
    async written() {
      const here = flush().catch(() => {});
      if (peers.count > 1) await peers.ask(WRITE, null);
      await here;
    },
    start() {
      peers.on(WRITE, async () => {
        await flush().catch(() => {});
        return true;
      });
      chore.start();
    },
    async stop() {
      await chore.stop();
      await flush();
    },
  };
}

/** What is the same of all that one record stands for, beside key and minute. */
function nameOf({ outcome, status, style, route, model, other }: UsageRecord): string {
  return JSON.stringify([outcome, status, other.code ?? '', style, route ?? '', model]);
}
