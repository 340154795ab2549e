/** The waiting lists, and the one connection that writes them: one batch at a time; lists that arrive in the meantime form the next one. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type Log, type Step, type Store, StoreMissing, StoreUnavailable, statementOf } from '../../../core/plugin.ts';
import { checkedValue } from '../../../core/sdk.ts';
import { GivenUp, type List, type Result, runBatch, textOf } from './batch.ts';
import { connect, disconnect, type ServerSettings } from './connection.ts';
import { kindOf, reasonOf } from './errors.ts';
import { assertServer, LOCKS, prepare, retire } from './tables.ts';

/** Beyond either, new lists are refused, so that callers learn of the overload at once. */
const MOST_WAITING = 10_000;
const LONGEST_WAIT_MS = 2_000;
/** Lists per commit; more would only delay the first ones. */
const MOST_IN_BATCH = 1_024;
/** How often a batch may conflict with other transactions before that counts as a failure. */
const MOST_TRIES = 5;
/** The interval between write probes after a failure: the first and the longest. */
const FIRST_PROBE_MS = 250;
const LAST_PROBE_MS = 2_000;

/** The writing half of an open store. */
export interface Writes extends Pick<Store, 'run' | 'atomic' | 'pressure'> {
  /** Names this opening of the store; its row in `store_writer` allows it to write. */
  readonly writer: string;
  /** Connects and creates what is missing. Must be called first. */
  open(mustExist: boolean): Promise<void>;
  /** Permanently rejects waiting and new lists. */
  end(error: StoreUnavailable): void;
  /** Rejects new lists, resolves when waiting ones are answered, and disconnects. */
  close(): Promise<void>;
}

interface Waiting extends List {
  readonly sinceMs: number;
  answer(result: Result): void;
  reject(error: Error): void;
}

/** Creates it; `lost` is called with the reason if writing has become impossible permanently. */
export function createWrites(settings: ServerSettings, log: Log, lost: (error: StoreUnavailable) => void): Writes {
  const writer = randomBytes(9).toString('base64url');
  const coming: Waiting[] = [];
  /** Lists of the running batch that have not been answered. */
  const sent = new Set<Waiting>();
  let client: pg.Client | undefined;
  /** The number of committed batches. */
  let number = 0;
  /** Why lists are currently refused. */
  let refusal: StoreUnavailable | undefined;
  let ended: StoreUnavailable | undefined;
  let working: Promise<void> | undefined;

  async function connected(): Promise<pg.Client> {
    if (client !== undefined) return client;
    const gone = (error: Error): void => {
      if (client === made) client = undefined;
      if (ended === undefined) log.warn('lost the write connection', { reason: reasonOf(error) });
    };
    const made = await connect(settings, 'turnpike writer', gone, false);
    client = made;
    return made;
  }

  function drop(): void {
    const old = client;
    client = undefined;
    if (old !== undefined) void disconnect(old);
  }

  function add<T>(steps: readonly Step[], durable: boolean, toAnswer: (result: number) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const error = ended ?? refusal;
      if (error !== undefined) throw error;
      const { waiting, oldestMs } = pressure();
      if (waiting >= MOST_WAITING || oldestMs > LONGEST_WAIT_MS) {
        throw new StoreUnavailable(`the store is behind: ${waiting} lists wait`);
      }
      check(steps);
      const answer = (result: Result): void =>
        typeof result === 'number' ? resolve(toAnswer(result)) : reject(result);
      coming.push({ steps, durable, sinceMs: performance.now(), answer, reject });
      begin();
    });
  }

  function begin(): void {
    // Lists of one turn of the event loop go into one batch.
    working ??= new Promise<void>((done) => setImmediate(done)).then(work).finally(() => {
      working = undefined;
      if (coming.length > 0) begin();
    });
  }

  async function work(): Promise<void> {
    while (coming.length > 0) {
      const batch = coming.splice(0, MOST_IN_BATCH);
      for (const list of batch) sent.add(list);
      await write(batch);
    }
  }

  function answer(list: Waiting, result: Result): void {
    if (sent.delete(list)) list.answer(result);
  }

  /** Writes a batch, or rejects its unanswered lists. */
  async function write(batch: readonly Waiting[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      let results: readonly Result[] = [];
      let isCommitting = false;
      try {
        results = await runBatch(
          await connected(),
          batch,
          { writer, number: number + 1 },
          {
            ran: (outcomes) => {
              results = outcomes;
              batch.forEach((list, i) => {
                if (!list.durable) answer(list, outcomes[i]!);
              });
            },
            committing: () => {
              isCommitting = true;
            },
          },
        );
        succeed(batch, results);
        return;
      } catch (error) {
        if (error instanceof GivenUp) return giveUp(error);
        const kind = kindOf(error);
        if (kind === 'lost') drop();
        if (kind === 'lost' && isCommitting) {
          log.warn('lost the connection during a commit; checking whether the commit was made');
          const isCommitted = await fate();
          if (isCommitted === undefined) return;
          if (isCommitted) return succeed(batch, results);
          // The batch was not committed and the server responds: write it now.
          tries = 0;
          continue;
        }
        if (ended !== undefined) return reject(ended);
        // An idle connection may have been lost long ago.
        if (kind === 'again' && tries < MOST_TRIES) continue;
        if (kind === 'lost' && tries === 1) continue;
        return fail(error);
      }
    }
  }

  function succeed(batch: readonly Waiting[], results: readonly Result[]): void {
    number++;
    if (refusal !== undefined) log.info('the store can be written again');
    refusal = undefined;
    batch.forEach((list, i) => void answer(list, results[i]!));
  }

  function reject(error: Error): void {
    for (const list of sent) list.reject(error);
    sent.clear();
  }

  function refuse(error: unknown): StoreUnavailable {
    const reason = reasonOf(error);
    if (refusal === undefined) log.error('the store cannot be written', { reason });
    refusal = new StoreUnavailable(`the store cannot be written: ${reason}`);
    return refusal;
  }

  /** Refuses this batch and all new lists until a probe succeeds. */
  function fail(error: unknown): void {
    const isFirst = refusal === undefined;
    reject(refuse(error));
    if (isFirst) void probe();
  }

  async function probe(): Promise<void> {
    for (let waitMs = FIRST_PROBE_MS; refusal !== undefined; waitMs = Math.min(waitMs * 2, LAST_PROBE_MS)) {
      await sleep(waitMs, undefined, { ref: false });
      if (ended !== undefined) return;
      await new Promise<void>((done) => {
        coming.push({
          steps: [],
          durable: true,
          sinceMs: performance.now(),
          answer: () => done(),
          reject: () => done(),
        });
        begin();
      });
    }
  }

  /** Whether the last commit was made. Undefined: the store was closed before this could be determined. */
  async function fate(): Promise<boolean | undefined> {
    for (let waitMs = FIRST_PROBE_MS; ; waitMs = Math.min(waitMs * 2, LAST_PROBE_MS)) {
      try {
        const own = await connected();
        // The lock is free once the server has ended the transaction of the lost connection.
        await own.query('BEGIN');
        await own.query('SELECT pg_advisory_xact_lock($1, $2)', [...LOCKS.writing]);
        const { rows } = await own.query<{ batch: number }>('SELECT batch FROM store_writer WHERE name = $1', [writer]);
        await own.query('COMMIT');
        if (rows.length === 0)
          throw new GivenUp('the other processes removed this process, because it did not renew its lease in time');
        const isCommitted = rows[0]!.batch === number + 1;
        log.info('determined the outcome of the commit', { committed: isCommitted });
        return isCommitted;
      } catch (error) {
        if (error instanceof GivenUp) {
          giveUp(error);
          return undefined;
        }
        drop();
        if (ended !== undefined) {
          reject(ended);
          return undefined;
        }
        refuse(error);
        await sleep(waitMs, undefined, { ref: false });
      }
    }
  }

  function giveUp({ message }: GivenUp): void {
    lost(new StoreUnavailable(`the store cannot be written: ${message}`));
  }

  function pressure(): { readonly waiting: number; readonly oldestMs: number } {
    const [oldest = coming[0]] = sent;
    const waiting = sent.size + coming.length;
    if (ended !== undefined || refusal !== undefined) return { waiting, oldestMs: Infinity };
    return { waiting, oldestMs: oldest === undefined ? 0 : performance.now() - oldest.sinceMs };
  }

  return {
    writer,
    run: (sql, ...params) => add([{ sql, params }], true, (changes) => changes),
    atomic: (steps, when = 'durable') =>
      add(steps, when === 'durable', (result) => (result < 0 ? statementOf(steps[-1 - result]!).must : undefined)),
    pressure,
    async open(mustExist) {
      await assertServer(await connected());
      for (let tries = 1; ; tries++) {
        try {
          return await prepare(await connected(), writer, mustExist);
        } catch (error) {
          // On a busy machine, the server may have taken the pause between two statements for the end of this process.
          if (error instanceof StoreMissing || kindOf(error) !== 'lost' || tries === MOST_TRIES) throw error;
          drop();
        }
      }
    },
    end(error) {
      ended ??= error;
      reject(error);
      for (const list of coming.splice(0)) list.reject(error);
    },
    async close() {
      ended ??= new StoreUnavailable('the store is closed');
      while (working !== undefined) await working;
      const own = client;
      client = undefined;
      if (own === undefined) return;
      await retire(own, writer).catch(() => {});
      await disconnect(own);
    },
  };
}

/** Throws for a list that can never be written: its caller gets the error, and other lists are not affected. */
function check(steps: readonly Step[]): void {
  for (const step of steps) {
    const { sql, params = [] } = statementOf(step);
    textOf(sql);
    for (const value of params) checkedValue(value);
  }
}
