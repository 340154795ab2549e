/**
 * Combines repeated requests of a key within a minute, so that each process writes a bounded number of records however many requests a key
 * sends.
 */
import type { UsageRecord } from '../../core/contracts/records.ts';
import type { Host, Step } from '../../core/plugin.ts';
import { createChore } from '../../core/sdk.ts';
import { msOf } from './ids.ts';

const MINUTE_MS = 60_000;
/** The write interval, so that a flood of requests does not load the disk. */
const EVERY_MS = 1_000;
/** The number of records per key and minute that name their model; further ones are combined without it, because clients choose names. */
const MOST_WITH_MODEL = 20;

/** The topic that makes other processes write their counts. */
const WRITE = 'log.repeats';

/** Requests that are alike. */
interface Tally {
  /** The record that counts them; undefined if none was written. */
  id: string | undefined;
  /** The number of unwritten requests, and the last of them. */
  waiting: number;
  last: UsageRecord;
}

/** The steps for records. */
export interface Writing {
  /** The steps that write a record. */
  readonly record: (record: UsageRecord) => readonly Step[];
  /** The steps that count further requests on a record. The list fails if the record does not exist. */
  readonly more: (record: UsageRecord, repeats: number) => readonly Step[];
}

export function createRepeats(host: Host, write: Writing) {
  const { store, clock, peers } = host;
  /** By key and minute, then by the values that have to be equal. */
  const minutes = new Map<string, Map<string, Tally>>();
  let last: Promise<void> = Promise.resolve();

  /** The tally of a record, and the record without the values that its requests do not share. */
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
      // No record was written yet, or writing it failed: the newest request becomes the record.
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
      // A request that began in one minute may end in the next.
      if (Number.parseInt(minute, 10) < now - 1 && all.every(({ waiting }) => waiting === 0)) minutes.delete(minute);
      else writing.push(...all.map(writeTally));
    }
    const failed = (await Promise.allSettled(writing)).find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  /** Writes one tally after the other: a record's count must be written before the next one. */
  function flush(): Promise<void> {
    last = last.catch(() => {}).then(writeAll);
    return last;
  }

  const chore = createChore(host, {
    everyMs: EVERY_MS,
    everywhere: true,
    work: flush,
    failure: 'could not write combined requests yet',
  });

  return {
    /** The record to write if it is the first of its minute; undefined: it only has to be counted. */
    first(record: UsageRecord): UsageRecord | undefined {
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
    /** Counts a request, including the first one, and writes the count soon. */
    count(record: UsageRecord): void {
      const [tallies, name, found] = find(record);
      const tally = tallies.get(name) ?? { id: undefined, waiting: 0, last: found };
      tallies.set(name, tally);
      tally.waiting += 1;
      tally.last = found;
    },
    /** Resolves when all requests counted so far, in any process, are written, or cannot be written now. */
    async written(): Promise<void> {
      const here = flush().catch(() => {});
      if (peers.count > 1) await peers.ask(WRITE, null);
      await here;
    },
    start(): void {
      peers.on(WRITE, async () => {
        await flush().catch(() => {});
        return true;
      });
      chore.start();
    },
    /** Writes the remaining counts. */
    async stop(): Promise<void> {
      await chore.stop();
      await flush();
    },
  };
}

/** The values that all requests of a record share, besides key and minute. */
function nameOf({ outcome, status, style, route, model, other }: UsageRecord): string {
  return JSON.stringify([outcome, status, other.code ?? '', style, route ?? '', model]);
}
