/** Runs many lists, of one or several senders, in one transaction: each list is atomic, and one commit serves all. */
import type Database from 'better-sqlite3';
import type { Value } from '../../../core/plugin.ts';
import { createAdditions, createTarget, type Target } from './additions.ts';
import { boundValue } from './values.ts';
import type { Answers, Batch, FromWriter, StepError } from './wire.ts';
import { DURABLE, FOLDED, HOLD, isLastingError, isStorageError, OF_FOLDS, QUERY, RELEASE, wireError } from './wire.ts';

/**
 * How long a failed commit is remembered. On a nearly full disk the next commit may succeed and the one after it fail, so lists that are
 * answered before their commit would often be lost.
 */
const DOUBT_MS = 60_000;

/** The number of pages in the write-ahead log that triggers a checkpoint: eight megabytes. */
const FOLD_FROM = 2_000n;
/** Commits between two looks at it. */
const LOOK_EACH = 16;
/** How long amounts wait at most before they are added to their rows. */
const TURN_MS = 5_000;

/** By the flags of a sum on the wire. */
const REQUIREMENTS = [
  { isRequired: false, isFence: false },
  { isRequired: true, isFence: false },
  { isRequired: true, isFence: true },
] as const;

type Statement = Database.Statement<unknown[]>;

/** Pages in the write-ahead log, and how many of them are in the database. */
interface LogState {
  readonly log: bigint;
  readonly checkpointed: bigint;
}

/** A process that sends batches. */
export interface Sender {
  /** Receives the results. */
  readonly post: (message: FromWriter) => void;
  /** The statements it has sent, prepared. */
  readonly texts: string[];
  readonly statements: (Statement | undefined)[];
  /** The rows that it adds to. */
  targets: Target[];
}

/** A batch and its sender. */
export interface Sent {
  readonly from: Sender;
  readonly batch: Batch;
}

export function createSender(post: (message: FromWriter) => void): Sender {
  return { post, texts: [], statements: [], targets: [] };
}

/** Results of a batch's lists, by when they are answered. */
interface Outcome {
  readonly ran: Answers;
  readonly durable: Answers;
}

/** Runs batches. */
export interface Batches {
  /**
   * Runs the lists of some batches as one transaction, and posts the results: some before the commit, the others after it, or that everything
   * failed, or that the batch has to be sent again without folds. After a permanent failure every batch fails without being tried.
   */
  run(sent: readonly Sent[]): void;
  /** Adds what is not in its row yet. */
  close(): void;
}

/** How batches are run. */
export interface BatchesOptions {
  /** Returns what happened to a database file that is no longer in its place: what is written to it is lost. */
  loss?(): string | undefined;
  /** Is told of amounts that could not be added to their row. */
  unadded?(text: string, reason: string): void;
  /** Runs something later; returns a function that cancels it. */
  later?(work: () => void): () => void;
}

function nextTurn(work: () => void): () => void {
  const timer = setTimeout(work, TURN_MS);
  return () => clearTimeout(timer);
}

/** Creates it for an open database. */
export function createBatches(
  db: Database.Database,
  { loss = () => undefined, unadded = () => {}, later = nextTurn }: BatchesOptions = {},
): Batches {
  const additions = createAdditions(db, unadded);
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');
  const savepoint = db.prepare('SAVEPOINT list');
  const undo = db.prepare('ROLLBACK TO list');
  const release = db.prepare('RELEASE list');
  const readLog = db.prepare<[], LogState>('PRAGMA wal_checkpoint(NOOP)');

  /** One reused array per number of parameters: binding copies the values. */
  const parameters: (Value | undefined)[][] = [];
  let broken: string | undefined;
  /** Until then, no list is answered before its commit, because a commit has failed. */
  let doubtfulUntilMs = 0;
  let commits = 0;

  function prepare(text: string): Statement {
    const statement = db.prepare<unknown[]>(text);
    // COMMIT, ROLLBACK and SAVEPOINT are readonly, too: they must not run between the lists of others.
    if (statement.readonly) throw new Error('only statements that write can be in a list');
    return statement;
  }

  function find({ texts, statements }: Sender, name: Value | undefined): Statement {
    if (typeof name !== 'number') return prepare(String(name));
    const prepared = statements[name] ?? prepare(texts[name]!);
    statements[name] = prepared;
    return prepared;
  }

  /** The running step, for error messages. */
  let step = 0;

  /** Rows changed by the last step, or `-1 - step` if a step that must change something did not. */
  function runList(sender: Sender, wire: Batch['lists'], from: number, end: number): number {
    let changes = 0;
    step = 0;
    for (let at = from; at < end; step++) {
      const statement = find(sender, wire[at]);
      const shape = wire[at + 1] as number;
      const count = shape >> 1;
      const bound = parameters[count] ?? new Array(count);
      parameters[count] = bound;
      at += 2;
      for (let i = 0; i < count; i++) bound[i] = boundValue(wire[at++]);
      // As arguments they are bound faster than as elements of an array.
      changes = statement.run(...bound).changes;
      if (changes === 0 && (shape & 1) === 1) return -1 - step;
    }
    return changes;
  }

  function define(sender: Sender, { sums, forget }: Batch): void {
    if (forget) sender.targets = [];
    for (const [name, flags, ...params] of sums) {
      const text = typeof name === 'number' ? sender.texts[name]! : String(name);
      const target = createTarget(text, () => find(sender, name), params, REQUIREMENTS[flags as 0 | 1 | 2]);
      sender.targets.push(target);
      additions.know(target);
    }
  }

  /** Runs a fold: `sum, count, amount…` of each. False: a row that must exist does not. */
  function addUp({ targets }: Sender, wire: Batch['lists'], from: number, end: number): boolean {
    for (let at = from; at < end; ) {
      const target = targets[wire[at] as number]!;
      const until = at + 2 + (wire[at + 1] as number);
      if (!additions.add(target, wire.slice(at + 2, until) as (bigint | number)[])) return false;
      at = until;
    }
    return true;
  }

  /**
   * Runs all lists of a batch in the open transaction. Returns `undo` if a list has to be rolled back and there is no savepoint, and
   * `unfold` if that list is part of a sum. Throws if the transaction itself failed.
   */
  function runBatch({ from, batch: { lists } }: Sent, guarded: boolean): Outcome | 'undo' | 'unfold' {
    const ran: (number | StepError)[] = [];
    const durable: (number | StepError)[] = [];
    for (let at = 0; at < lists.length; ) {
      const number = lists[at] as number;
      const end = lists[at + 1] as number;
      const flags = lists[at + 2] as number;
      const isFolded = number === OF_FOLDS || (flags & FOLDED) !== 0;
      let undone = false;
      const isQuery = (flags & QUERY) !== 0;
      // It may read or change what was added to.
      const isRead = isQuery && willRead(lists[at + 3] as string);
      let result: number | StepError = Number(isRead);
      const isReady = isQuery ? !isRead || additions.addAll() : isFolded || additions.addBefore();
      if (!isReady) return 'unfold';
      if (guarded) savepoint.run();
      try {
        if (number === OF_FOLDS) result = addUp(from, lists, at + 3, end) ? 0 : -1;
        else if (!isQuery) result = runList(from, lists, at + 3, end);
        // If the first step changed nothing, there is nothing to roll back.
        undone = result < (isFolded ? 0 : -1);
      } catch (error) {
        const failure = wireError(error);
        if (!db.inTransaction || isStorageError(failure.code)) throw error;
        result = { step, ...failure };
        undone = true;
      }
      if (undone && isFolded) return 'unfold';
      if (undone && !guarded) return 'undo';
      if (undone) undo.run();
      if (guarded) release.run();
      if (number !== OF_FOLDS) ((flags & DURABLE) !== 0 ? durable : ran).push(number, result);
      at = end;
    }
    return { ran, durable };
  }

  /** Whether a query may read what is added, or a snapshot that begins. */
  function willRead(query: string): boolean {
    if (query === HOLD) additions.hold();
    if (query === RELEASE) additions.release();
    return query === HOLD || (query !== RELEASE && additions.mayRead(query));
  }

  /** The same for every batch; the first one that cannot run decides how it is repeated. Without batches, everything is added to its row. */
  function runAll(sent: readonly Sent[], guarded: boolean): Outcome[] | 'undo' | 'unfold' {
    const outcomes: Outcome[] = [];
    if (sent.length === 0) additions.addAll();
    for (const each of sent) {
      const outcome = runBatch(each, guarded);
      if (typeof outcome === 'string') return outcome;
      outcomes.push(outcome);
    }
    return outcomes;
  }

  function fail(sent: readonly Sent[], reason: string): void {
    for (const { from } of sent) from.post({ kind: 'failed', reason, lasting: broken !== undefined });
  }

  /** Keeps the write-ahead log short. Pages that cannot be copied to the database now are safe in the log; the next run tries again. */
  function fold(sent: readonly Sent[]): void {
    if (++commits % LOOK_EACH !== 0) return;
    try {
      const { log, checkpointed } = readLog.get()!;
      if (log - checkpointed >= FOLD_FROM) db.pragma('wal_checkpoint(PASSIVE)');
    } catch (error) {
      const { message, code } = wireError(error);
      if (!isLastingError(code)) return;
      broken = `${message} (${code}): open the store again`;
      fail(sent, broken);
    }
  }

  function beginAgain(): void {
    begin.run();
    additions.begin();
  }

  function undoAll(): void {
    if (db.inTransaction) rollback.run();
    additions.rolledBack();
  }

  function again(sent: readonly Sent[]): void {
    if (sent.length === 1) sent[0]!.from.post({ kind: 'again' });
    // Each batch then runs alone, which shows the one that failed.
    else for (const each of sent) transact([each]);
  }

  function transact(sent: readonly Sent[]): void {
    if (broken !== undefined) {
      fail(sent, broken);
      return;
    }
    try {
      beginAgain();
      // Savepoints cost a third of the work, and few batches need them: these run twice.
      let outcomes = runAll(sent, false);
      if (outcomes === 'undo' && sent.length === 1) {
        undoAll();
        beginAgain();
        outcomes = runAll(sent, true);
      }
      // Before any list is answered.
      if (typeof outcomes === 'string' || !additions.complete()) {
        undoAll();
        again(sent);
        return;
      }
      const doubtful = performance.now() < doubtfulUntilMs;
      for (const [i, { ran }] of outcomes.entries()) {
        if (ran.length > 0 && !doubtful) sent[i]!.from.post({ kind: 'ran', answers: ran });
      }
      commit.run();
      additions.committed();
      // Checked after the commit: the answered lists were written to files that still existed.
      broken = loss();
      if (broken !== undefined) {
        fail(sent, broken);
        return;
      }
      for (const [i, { ran, durable }] of outcomes.entries()) {
        sent[i]!.from.post({
          kind: 'done',
          answers: doubtful ? [...ran, ...durable] : durable,
          behind: additions.isBehind(),
        });
      }
      fold(sent);
    } catch (error) {
      const { message, code } = wireError(error);
      doubtfulUntilMs = performance.now() + DOUBT_MS;
      if (isLastingError(code)) broken = `${message} (${code}): open the store again`;
      try {
        undoAll();
      } catch (second) {
        broken ??= `a failed transaction could not be undone: ${wireError(second).message}`;
      }
      fail(sent, broken ?? (code === '' ? message : `${message} (${code})`));
    }
  }

  let cancel: (() => void) | undefined;
  function turn(): void {
    cancel = undefined;
    if (additions.turn()) transact([]);
    addLater();
  }
  function addLater(): void {
    if (broken === undefined && additions.isBehind()) cancel ??= later(turn);
  }

  return {
    run(sent) {
      for (const { from, batch } of sent) {
        from.texts.push(...batch.texts);
        define(from, batch);
      }
      transact(sent);
      if (additions.isFull()) additions.turn();
      addLater();
    },
    close() {
      cancel?.();
      if (broken === undefined && additions.isBehind()) transact([]);
    },
  };
}
