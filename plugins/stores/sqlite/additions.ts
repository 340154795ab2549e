/**
 * Additions that are durable before they are in their rows. A commit keeps the added-up amounts of its lists as one row of `store_addition`, instead
 * of writing every page of the sums they belong to; every few seconds the amounts of all commits are added to their rows. Before anything reads or changes
 * these rows, all of them are added; after a crash, when the file is opened.
 */
import type Database from 'better-sqlite3';
import type { Value } from '../../../core/plugin.ts';
import { addAmounts } from '../../../core/sdk.ts';
import { boundValue } from './values.ts';
import { isStorageError, wireError } from './wire.ts';

/** Rows that a commit adds to in passing: a part of those that were due, so that no commit takes long. */
const FEWEST_IN_PASSING = 16;
const PARTS = 64;
/** More rows than these do not wait for a turn: all of them may have to be added at once. */
const MANY = 4_000;
/** How long it takes at most to begin a snapshot. */
const LONGEST_HOLD_MS = 60_000;

type Amounts = (bigint | number)[];
type Statement = Database.Statement<unknown[]>;

/** A row that amounts are added to, as a process has described it. */
export interface Target {
  readonly text: string;
  /** Its table, in small letters; undefined if that is not plain from the text. */
  readonly table: string | undefined;
  /** Prepares `text`; throws if it is not valid. */
  readonly statement: () => Statement;
  readonly params: readonly (Value | undefined)[];
  readonly isRequired: boolean;
  /** Its row may be removed by any list without additions, and its absence refuses a list. */
  readonly isFence: boolean;
  /** It was added to at least once, so the statement is valid, and a required row exists. */
  isFound: boolean;
  /** The number of lists without additions when that was seen. */
  foundAt: number;
  /** Amounts of the running transaction, and of the commits since the last turn. */
  staged: Amounts | undefined;
  waiting: Amounts | undefined;
  /** Its number in the kept rows of a generation, which describe it once. */
  generation: number;
  number: number;
}

/** Amounts that are due, and the number of their target in the generation in which they were kept. */
interface Due {
  readonly target: Target;
  readonly amounts: Amounts;
  readonly number: number;
}

/** A target without amounts. */
export function createTarget(
  text: string,
  statement: () => Statement,
  params: readonly (Value | undefined)[],
  { isRequired, isFence }: Pick<Target, 'isRequired' | 'isFence'>,
): Target {
  return {
    text,
    table: /^\s*(?:UPDATE(?!\s+OR\s)|INSERT\s+INTO)\s+([a-z_]\w*)(?=[\s(])/i.exec(text)?.[1]?.toLowerCase(),
    statement,
    params: params.map(boundValue),
    isRequired,
    isFence,
    isFound: false,
    foundAt: 0,
    staged: undefined,
    waiting: undefined,
    generation: -1,
    number: 0,
  };
}

/** A kept row: statements and targets that are new in its generation, amounts by target, and the targets whose amounts are in their rows. */
interface Kept {
  readonly texts?: readonly string[];
  readonly targets?: readonly KeptTarget[];
  readonly adds?: readonly (readonly [target: number, ...amounts: readonly (number | string)[]])[];
  readonly done?: readonly number[];
}
/** Its number continues those of earlier rows of its generation. */
type KeptTarget = readonly [text: number, isRequired: 0 | 1, ...params: readonly KeptValue[]];
/** A parameter: JSON has no integers beyond 2^53, and no bytes. Of amounts, `bigint` is text. */
type KeptValue = null | number | string | readonly ['n' | 'b', string];

function keptValue(value: Value | undefined): KeptValue {
  if (typeof value === 'bigint') return ['n', `${value}`];
  if (value instanceof Uint8Array) return ['b', Buffer.from(value).toString('base64')];
  return value ?? null;
}

function unkept(kept: KeptValue): Value {
  if (!Array.isArray(kept)) return kept as Value;
  const [kind, text] = kept as readonly [string, string];
  return kind === 'n' ? BigInt(text) : Buffer.from(text, 'base64');
}

/** Is told of amounts that could not be added to their row, which must not happen. */
export type Unadded = (text: string, reason: string) => void;

/** Creates the table, and adds what a crash has left there. `unadded`: see there. */
export function createAdditions(db: Database.Database, unadded: Unadded) {
  db.exec(`CREATE TABLE IF NOT EXISTS store_addition (
    id INTEGER NOT NULL PRIMARY KEY, generation INTEGER NOT NULL, kept TEXT NOT NULL
  ) STRICT`);
  const tell = telling(db, unadded);
  db.transaction(() => recover(db, tell)).immediate();

  const keep = db.prepare(`INSERT INTO store_addition (generation, kept) VALUES (?, ?)`);
  const forget = db.prepare(`DELETE FROM store_addition WHERE generation <= ?`);

  /** The targets with amounts of each kind. */
  let staged: Target[] = [];
  let waiting: Target[] = [];
  let due: readonly Due[] = [];
  /** The first of those that are still due. */
  let firstDue = 0;
  /** The generation of new amounts, and of those that are due. */
  let current: Generation = newGeneration(1);
  let dueGeneration = 0;

  /** What was before the running transaction, and what it has done, in case it is rolled back. */
  let before: Generation & { readonly known: number } = { ...current, known: 0 };
  let found: Target[] = [];
  let described: { readonly target: Target; readonly generation: number; readonly number: number }[] = [];
  let hasAddedAll = false;
  let addedUntil = 0;
  /** The number of lists without additions. */
  let otherLists = 0;
  /** Snapshots that begin, and until when at most: a process may end before it releases. */
  let holds = 0;
  let newHolds = 0;
  let heldUntilMs = 0;
  const isHeld = (): boolean => newHolds > 0 || (holds > 0 && performance.now() < heldUntilMs);
  /** The tables of all targets. */
  const tables = new Set<string | undefined>();

  /** Adds amounts to a row. False: there is no such row. */
  function addTo({ statement, params }: Target, amounts: Amounts): boolean {
    return statement().run(...amounts.map(boundValue), ...params).changes > 0;
  }

  /** The same for amounts of the running transaction. False also if the statement cannot run any more. */
  function addStaged(target: Target): boolean {
    try {
      return addTo(target, target.staged!) || !target.isRequired;
    } catch (error) {
      if (!db.inTransaction || isStorageError(wireError(error).code)) throw error;
      return false;
    }
  }

  /** The same for amounts that are durable: no list can be refused for them any more. */
  function addDurable(target: Target, amounts: Amounts): void {
    tell(target.text, [amounts, target.params], () => addTo(target, amounts) || !target.isRequired);
  }

  /** Adds everything, in the running transaction. False: what a list of this transaction has added cannot be added. */
  function addAll(): boolean {
    if (!staged.every((target) => addStaged(target))) return false;
    unstage();
    if (hasAddedAll || !isBehind()) return true;
    for (let i = firstDue; i < due.length; i++) addDurable(due[i]!.target, due[i]!.amounts);
    for (const target of waiting) addDurable(target, target.waiting!);
    forget.run(current.number);
    hasAddedAll = true;
    current = newGeneration(current.number + 1);
    return true;
  }

  /** Adds to some of the rows that are due. */
  function addInPassing(): void {
    if (firstDue === due.length || hasAddedAll) return;
    addedUntil = Math.min(due.length, firstDue + Math.max(FEWEST_IN_PASSING, Math.ceil(due.length / PARTS)));
    const done: number[] = [];
    for (let i = firstDue; i < addedUntil; i++) {
      const { target, amounts, number } = due[i]!;
      addDurable(target, amounts);
      done.push(number);
    }
    if (addedUntil === due.length) forget.run(dueGeneration);
    else keep.run(dueGeneration, JSON.stringify({ done } satisfies Kept));
  }

  /** The number of a target in the current generation; describes it in `texts` and `targets` if it is new there. */
  function numberOf(target: Target, texts: string[], targets: KeptTarget[]): number {
    const { generation, number } = target;
    if (generation === current.number) return number;
    let text = current.texts.get(target.text);
    if (text === undefined) {
      text = current.texts.size;
      current.texts.set(target.text, text);
      texts.push(target.text);
    }
    targets.push([text, target.isRequired ? 1 : 0, ...target.params.map(keptValue)]);
    described.push({ target, generation, number });
    target.generation = current.number;
    target.number = current.targets++;
    return target.number;
  }

  /** Keeps the amounts of the running transaction. */
  function keepStaged(): void {
    if (staged.length === 0) return;
    const texts: string[] = [];
    const targets: KeptTarget[] = [];
    const adds = staged.map((target): [number, ...(number | string)[]] => [
      numberOf(target, texts, targets),
      ...target.staged!.map((amount) => (typeof amount === 'bigint' ? `${amount}` : amount)),
    ]);
    const kept: Kept = { ...(texts.length > 0 && { texts }), ...(targets.length > 0 && { targets }), adds };
    keep.run(current.number, JSON.stringify(kept));
  }

  const readViews = db.prepare<[], { readonly name: string; readonly sql: string }>(
    `SELECT name, sql FROM sqlite_schema WHERE type = 'view'`,
  );

  /** Whether a query may read a table that amounts are added to. */
  function mayRead(query: string): boolean {
    if (tables.has(undefined)) return true;
    const words = new Set<string>();
    const read = (text: string): void => {
      for (const [word] of text.matchAll(/\w+/g)) words.add(word.toLowerCase());
    };
    read(query);
    const views = readViews.all();
    // A view may read another one.
    for (let known = 0; known < words.size; ) {
      known = words.size;
      for (const { name, sql } of views) if (words.has(name.toLowerCase())) read(sql);
    }
    for (const table of tables) if (words.has(table!)) return true;
    return false;
  }

  const isBehind = (): boolean => waiting.length > 0 || firstDue < due.length;

  function unstage(): void {
    for (const target of staged) target.staged = undefined;
    staged = [];
  }

  return {
    /** A transaction has begun. */
    begin(): void {
      before = { ...current, known: current.texts.size };
      found = [];
      described = [];
      hasAddedAll = false;
      addedUntil = firstDue;
      newHolds = 0;
    },
    /** Adds amounts with the running transaction. False: a required row does not exist. */
    add(target: Target, amounts: Amounts): boolean {
      if (!target.isFound || (target.isFence && target.foundAt !== otherLists)) {
        if (!addTo(target, amounts) && target.isRequired) return false;
        if (!target.isFound) found.push(target);
        target.isFound = true;
        target.foundAt = otherLists;
        return true;
      }
      if (target.isFence) return true;
      if (target.staged === undefined) {
        target.staged = amounts;
        staged.push(target);
      } else {
        addAmounts(target.staged, amounts);
      }
      return true;
    },
    /** Before a list without additions. False: see `addAll`. */
    addBefore(): boolean {
      otherLists++;
      return addAll();
    },
    mayRead,
    /** From now on, amounts may be added to this row. */
    know({ table }: Target): void {
      tables.add(table);
    },
    addAll,
    /** The running transaction is complete, and will be committed. False: see `addAll`. */
    complete(): boolean {
      if (isHeld()) return addAll();
      addInPassing();
      keepStaged();
      return true;
    },
    /** If the running transaction is committed, everything is added with its list until it is released: a snapshot begins, which must see whole lists. */
    hold(): void {
      newHolds++;
    },
    release(): void {
      newHolds--;
    },
    committed(): void {
      if (newHolds > 0) heldUntilMs = performance.now() + LONGEST_HOLD_MS;
      holds = Math.max(0, holds + newHolds);
      if (hasAddedAll) {
        for (const target of waiting) target.waiting = undefined;
        waiting = [];
        firstDue = due.length;
      } else {
        firstDue = addedUntil;
      }
      if (firstDue === due.length && firstDue > 0) {
        due = [];
        firstDue = 0;
      }
      for (const target of staged) {
        if (target.waiting === undefined) {
          target.waiting = target.staged;
          waiting.push(target);
        } else {
          addAmounts(target.waiting, target.staged!);
        }
      }
      unstage();
    },
    rolledBack(): void {
      unstage();
      const { number, texts, targets, known } = before;
      for (const [text, at] of texts) if (at >= known) texts.delete(text);
      current = { number, texts, targets };
      // Their rows may have been made by the same transaction.
      for (const target of found) target.isFound = false;
      found = [];
      for (const { target, generation, number } of described) {
        target.generation = generation;
        target.number = number;
      }
      described = [];
    },
    /** Whether amounts are not in their rows yet. */
    isBehind,
    /** Whether a turn should come early. */
    isFull: (): boolean => waiting.length >= MANY && firstDue === due.length,
    /** To be called every few seconds. True: nothing was written in the meantime, so that a transaction has to add what is due (`addAll`). */
    turn(): boolean {
      if (firstDue < due.length) return true;
      due = waiting.map((target) => ({ target, amounts: target.waiting!, number: target.number }));
      for (const target of waiting) target.waiting = undefined;
      waiting = [];
      dueGeneration = current.number;
      if (due.length > 0) current = newGeneration(current.number + 1);
      return false;
    },
  };
}

/** Kept rows that are removed together, and describe each target once. */
interface Generation {
  readonly number: number;
  /** Numbers of statements. */
  readonly texts: Map<string, number>;
  targets: number;
}

function newGeneration(number: number): Generation {
  return { number, texts: new Map(), targets: 0 };
}

/** Adds durable amounts: tells if that fails, unless the file is the reason. */
type Tell = (text: string, values: readonly (readonly (Value | undefined)[])[], add: () => boolean) => void;

function telling(db: Database.Database, unadded: Unadded): Tell {
  return (text, values, add) => {
    // With its values, so that it can be added by hand.
    const fail = (reason: string): void => unadded(`${text} -- ${values.flat().map(String).join(', ')}`, reason);
    try {
      if (!add()) fail('there is no such row');
    } catch (error) {
      const { message, code } = wireError(error);
      if (!db.inTransaction || isStorageError(code)) throw error;
      fail(message);
    }
  };
}

/** Adds the kept amounts to their rows. */
function recover(db: Database.Database, tell: Tell): void {
  const rows = db.prepare(`SELECT generation, kept FROM store_addition ORDER BY id`).all() as {
    readonly generation: bigint;
    readonly kept: string;
  }[];
  if (rows.length === 0) return;
  const generations = new Map<bigint, Recovered>();
  for (const { generation, kept } of rows) {
    const { texts = [], targets = [], adds = [], done = [] } = JSON.parse(kept) as Kept;
    const recovered: Recovered = generations.get(generation) ?? { texts: [], targets: [], sums: new Map() };
    generations.set(generation, recovered);
    recovered.texts.push(...texts);
    recovered.targets.push(...targets);
    for (const [target, ...amounts] of adds) {
      const numbers = amounts.map((amount) => (typeof amount === 'string' ? BigInt(amount) : amount));
      const sum = recovered.sums.get(target);
      if (sum === undefined) recovered.sums.set(target, numbers);
      else addAmounts(sum, numbers);
    }
    for (const target of done) recovered.sums.delete(target);
  }
  for (const { texts, targets, sums } of generations.values()) {
    for (const [number, amounts] of sums) {
      const [at, isRequired, ...params] = targets[number]!;
      const text = texts[at]!;
      const values = [...amounts, ...params.map(unkept)].map(boundValue);
      tell(text, [values], () => db.prepare<unknown[]>(text).run(...values).changes > 0 || isRequired === 0);
    }
  }
  db.exec(`DELETE FROM store_addition`);
}

/** What is kept of one generation. */
interface Recovered {
  readonly texts: string[];
  readonly targets: KeptTarget[];
  readonly sums: Map<number, Amounts>;
}
