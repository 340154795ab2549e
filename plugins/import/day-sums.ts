/**
 * Sums of calls by day, user, key and model, in a temporary file: there may be millions, and what is kept in memory does not grow with them. SQLite
 * removes the file when it is closed, and the operating system when this process is killed.
 */
import { openTemporary } from './databases/sqlite.ts';
import { nextTurn } from './unhurried.ts';

/** Calls of a user with a key and a model: the key is empty if it is not known. */
export interface DaySum {
  readonly user: string;
  readonly key: string;
  readonly model: string;
  readonly calls: number;
  readonly input: number;
  readonly output: number;
  /** Whole units: of quota there, or micro-quota here. */
  readonly amount: bigint;
}

/** Days between two turns of others. */
const FEW = 1_000;

/**
 * Opens sums of several days, added in any order. `keys`: pairs of the names by which keys are added and of the keys themselves; a name of several keys, or of none, means no key.
 * Without `keys`, sums are added by the keys themselves.
 */
export async function createDaySums(keys?: AsyncIterable<readonly [name: string, key: string]>) {
  const file = openTemporary();
  try {
    // Parts of a day are in a row, whenever they were added.
    // One transaction that never ends: pages are written when there are too many of them, not after each row.
    file.exec(`BEGIN;
      CREATE TABLE parts (day INTEGER, number INTEGER, user TEXT, key TEXT, model TEXT, calls INTEGER, input INTEGER, output INTEGER,
        amount INTEGER, PRIMARY KEY (day, number)) WITHOUT ROWID;
      CREATE TABLE keys (name TEXT PRIMARY KEY, key TEXT) WITHOUT ROWID;`);
    if (keys !== undefined) await addKeys(file, keys);
  } catch (error) {
    file.close();
    throw error;
  }
  const key = keys === undefined ? '?' : "coalesce((SELECT key FROM keys WHERE name = ?), '')";
  const insert = file.prepare(`INSERT INTO parts VALUES (?, ?, ?, ${key}, ?, ?, ?, ?, ?)`);
  // Parts have the same key by different names.
  const select = file
    .prepare(
      `SELECT user, key, model, sum(calls) AS calls, sum(input) AS input, sum(output) AS output, sum(amount) AS amount
        FROM parts WHERE day = ? GROUP BY user, key, model`,
    )
    .safeIntegers();
  const next = file.prepare('SELECT min(day) AS day FROM parts WHERE day > ?').pluck();
  let numbers = 0;
  return {
    /** Adds to a day. With `keys`, the key is a name that was given there. */
    add(day: number, { user, key, model, calls, input, output, amount }: DaySum): void {
      try {
        insert.run(day, numbers++, user, key, model, calls, input, output, amount);
      } catch (error) {
        const reason = (error as Error).message;
        throw new Error(
          `sums of calls cannot be written to a temporary file: ${reason}; make room for it, or set TMPDIR to another folder`,
        );
      }
    },

    /** The days, in order. */
    async days(): Promise<readonly number[]> {
      const days: number[] = [];
      for (let day = next.get(Number.NEGATIVE_INFINITY); day !== null; day = next.get(day)) {
        days.push(day as number);
        if (days.length % FEW === 0) await nextTurn();
      }
      return days;
    },

    /** The sums of a day. */
    of: (day: number): readonly DaySum[] =>
      (select.all(day) as Readonly<Record<keyof DaySum, unknown>>[]).map((row) => ({
        ...{ user: String(row.user), key: String(row.key), model: String(row.model) },
        ...{ calls: Number(row.calls), input: Number(row.input), output: Number(row.output) },
        amount: row.amount as bigint,
      })),

    close: () => void file.close(),
  };
}

export type DaySums = Awaited<ReturnType<typeof createDaySums>>;

async function addKeys(
  file: ReturnType<typeof openTemporary>,
  keys: AsyncIterable<readonly [name: string, key: string]>,
): Promise<void> {
  const insert = file.prepare("INSERT INTO keys VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET key = ''");
  for await (const [name, key] of keys) insert.run(name, key);
}

/** Both together. */
export function summed(a: DaySum, b: DaySum): DaySum {
  return {
    ...a,
    calls: a.calls + b.calls,
    input: a.input + b.input,
    output: a.output + b.output,
    amount: a.amount + b.amount,
  };
}
