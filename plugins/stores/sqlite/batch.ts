/** Runs many lists in one transaction, also of several senders: each all or none, one commit for all of them. */
import type Database from 'better-sqlite3';
import type { Value } from '../../../core/plugin.ts';
import { boundValue } from './values.ts';
import type { Answers, Batch, FromWriter, StepError } from './wire.ts';
import { DURABLE, FOLDED, isLastingError, isStorageError, OF_FOLDS, wireError } from './wire.ts';

/**
 * How long a failed commit is remembered. On a disk that is nearly full the next one may go well, and the one behind it fail: what
 * is answered before a commit in that time is lost as often as not.
 */
const DOUBT_MS = 60_000;

/** Pages of the write-ahead log that are not in the database yet, from which on they are put there: eight megabytes. */
const FOLD_FROM = 2_000n;

type Statement = Database.Statement<unknown[]>;

/** Pages in the write-ahead log, and how many of them are in the database. */
interface LogState {
  readonly log: bigint;
  readonly checkpointed: bigint;
}

/** Somebody who sends batches. */
export interface Sender {
  /** Gets what came of them. */
  readonly post: (message: FromWriter) => void;
  /** Those that it has told, and what they were prepared to. */
  readonly texts: string[];
  readonly statements: (Statement | undefined)[];
}

/** A batch, and whose it is. */
export interface Sent {
  readonly from: Sender;
  readonly batch: Batch;
}

/** Makes a sender. */
export function createSender(post: (message: FromWriter) => void): Sender {
  return { post, texts: [], statements: [] };
}

/** What came of the lists of a batch, by when they are answered. */
interface Outcome {
  readonly ran: Answers;
  readonly durable: Answers;
}

/**
 * Runs the lists of some batches as one transaction on `db`, and posts what came of them: some answers before the commit, the others behind
 * it, or that all of it failed, or has to be sent again without folds. After a lasting failure everything fails without being tried.
 * `loss` says what has become of a file of the database that is no longer where it was: nothing that is written to it counts.
 */
export function createBatches(
  db: Database.Database,
  loss: () => string | undefined = () => undefined,
): (sent: readonly Sent[]) => void {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');
  const savepoint = db.prepare('SAVEPOINT list');
  const undo = db.prepare('ROLLBACK TO list');
  const release = db.prepare('RELEASE list');
  const readLog = db.prepare<[], LogState>('PRAGMA wal_checkpoint(NOOP)');

  /** One array per number of parameters, used again and again: binding copies. */
  const parameters: (Value | undefined)[][] = [];
  let broken: string | undefined;
  /** Until when no list is answered before its commit: for a while after one has failed. */
  let doubtfulUntilMs = 0;

  function prepare(text: string): Statement {
    const statement = db.prepare<unknown[]>(text);
    // COMMIT, ROLLBACK and SAVEPOINT count as reading, too: none of them may get between the lists of others.
    if (statement.readonly) throw new Error('only statements that write can be in a list');
    return statement;
  }

  function find({ texts, statements }: Sender, name: Value | undefined): Statement {
    if (typeof name !== 'number') return prepare(String(name));
    const known = statements[name] ?? prepare(texts[name]!);
    statements[name] = known;
    return known;
  }

  /** The step that runs now, for whoever has to say where an error happened. */
  let step = 0;

  /** Rows changed by the last step, or `-1 - step` where a step that must change something did not. */
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
      changes = statement.run(bound).changes;
      if (changes === 0 && (shape & 1) === 1) return -1 - step;
    }
    return changes;
  }

  /**
   * Runs all lists of a batch inside the open transaction. `undo` where one of them has to be undone and there is no savepoint to go back to,
   * `unfold` where that cannot be told from others, since they are added up. Throws where the transaction itself is lost.
   */
  function runBatch({ from, batch: { lists } }: Sent, guarded: boolean): Outcome | 'undo' | 'unfold' {
    const ran: (number | StepError)[] = [];
    const durable: (number | StepError)[] = [];
    for (let at = 0; at < lists.length; ) {
      const number = lists[at] as number;
      const end = lists[at + 1] as number;
      const flags = lists[at + 2] as number;
      const isFolded = number === OF_FOLDS || (flags & FOLDED) !== 0;
      let result: number | StepError;
      let undone = false;
      if (guarded) savepoint.run();
      try {
        result = runList(from, lists, at + 3, end);
        // Where the first step changed nothing, there is nothing to undo.
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

  /** The same of each; the first that does not go well says how it is to be done. */
  function runAll(sent: readonly Sent[], guarded: boolean): Outcome[] | 'undo' | 'unfold' {
    const outcomes: Outcome[] = [];
    for (const one of sent) {
      const outcome = runBatch(one, guarded);
      if (typeof outcome === 'string') return outcome;
      outcomes.push(outcome);
    }
    return outcomes;
  }

  function fail(sent: readonly Sent[], reason: string): void {
    for (const { from } of sent) from.post({ kind: 'failed', reason, lasting: broken !== undefined });
  }

  /** Keeps the log short. What cannot be put into the database now is safe in the log, and will be tried again. */
  function fold(sent: readonly Sent[]): void {
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

  function transact(sent: readonly Sent[]): void {
    if (broken !== undefined) {
      fail(sent, broken);
      return;
    }
    try {
      begin.run();
      // Savepoints cost a third of the work, and almost every batch does without: the one that needs them runs twice.
      let outcomes = runAll(sent, false);
      if (outcomes === 'undo' && sent.length === 1) {
        rollback.run();
        begin.run();
        outcomes = runAll(sent, true);
      }
      if (typeof outcomes === 'string') {
        rollback.run();
        if (sent.length === 1) sent[0]!.from.post({ kind: 'again' });
        // Whose it was is found out by itself.
        else for (const one of sent) transact([one]);
        return;
      }
      const doubtful = performance.now() < doubtfulUntilMs;
      for (const [i, { ran }] of outcomes.entries()) {
        if (ran.length > 0 && !doubtful) sent[i]!.from.post({ kind: 'ran', answers: ran });
      }
      commit.run();
      // Looked at behind the commit: what is answered now was written to files that were still there.
      broken = loss();
      if (broken !== undefined) {
        fail(sent, broken);
        return;
      }
      for (const [i, { ran, durable }] of outcomes.entries()) {
        sent[i]!.from.post({ kind: 'done', answers: doubtful ? [...ran, ...durable] : durable });
      }
      fold(sent);
    } catch (error) {
      const { message, code } = wireError(error);
      doubtfulUntilMs = performance.now() + DOUBT_MS;
      if (isLastingError(code)) broken = `${message} (${code}): open the store again`;
      try {
        if (db.inTransaction) rollback.run();
      } catch (second) {
        broken ??= `a failed transaction could not be undone: ${wireError(second).message}`;
      }
      fail(sent, broken ?? (code === '' ? message : `${message} (${code})`));
    }
  }

  return (sent) => {
    for (const { from, batch } of sent) from.texts.push(...batch.texts);
    transact(sent);
  };
}
