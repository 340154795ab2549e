/**
 * Sends many statements as one message and reads one answer: each `client.query` would cost a network write, a round of work in the server,
 * and a promise. It is a query object of `pg`, which calls the `handle…` methods.
 */
import type pg from 'pg';
import type { Value } from '../../../core/plugin.ts';
import { bound, nameOf } from './connection.ts';

/** A statement with numbered parameters. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly (Value | undefined)[];
}

/** The results of statements. */
export interface Ran {
  /** Rows changed by each statement that ran. */
  readonly changes: readonly number[];
  /** The error of the first statement that failed; later ones did not run. */
  readonly error: unknown;
}

/** Runs statements inside a transaction that is open, or that they begin. The connection itself must not pipeline. */
export function runStatements(client: pg.Client, statements: readonly Statement[]): Promise<Ran> {
  return new Promise((resolve) => void client.query(new Run(statements, resolve)));
}

/** Members of a `pg` connection that its types lack. */
interface Wire extends Omit<pg.Connection, 'parse' | 'bind' | 'execute' | 'close'> {
  parse(statement: { readonly name: string; readonly text: string }): void;
  bind(values: {
    readonly statement: string;
    readonly values: readonly unknown[];
    readonly valueMapper: (value: Value | undefined) => unknown;
  }): void;
  execute(): void;
  close(statement: { readonly type: 'S'; readonly name: string }): void;
}

/** The names of the prepared statements, by connection. */
const prepared = new WeakMap<Wire, Set<string>>();

class Run implements pg.Submittable {
  readonly #statements: readonly Statement[];
  readonly #resolve: (ran: Ran) => void;
  readonly #changes: number[] = [];
  /** The statements that this query prepares, and their indexes. */
  readonly #named: { readonly name: string; readonly at: number }[] = [];
  #names: Set<string> | undefined;

  constructor(statements: readonly Statement[], resolve: (ran: Ran) => void) {
    this.#statements = statements;
    this.#resolve = resolve;
  }

  submit(connection: pg.Connection): void {
    const wire = connection as unknown as Wire;
    const names = prepared.get(wire) ?? new Set();
    prepared.set(wire, names);
    this.#names = names;
    wire.stream.cork();
    try {
      for (let at = 0; at < this.#statements.length; at++) {
        const { sql, params } = this.#statements[at]!;
        const name = nameOf(sql) ?? '';
        if (!names.has(name)) {
          // It may be prepared nevertheless, if another statement failed.
          if (name !== '') {
            wire.close({ type: 'S', name });
            names.add(name);
            this.#named.push({ name, at });
          }
          wire.parse({ name, text: sql });
        }
        wire.bind({ statement: name, values: params, valueMapper: bound });
        wire.execute();
      }
      wire.sync();
    } finally {
      wire.stream.uncork();
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    // `UPDATE 3`, `INSERT 0 1`, `BEGIN`.
    this.#changes.push(Number(text.slice(text.lastIndexOf(' ') + 1)) || 0);
  }

  /** Ignores rows: those of lock functions, and returned rows that are not needed. */
  handleDataRow(): void {}

  handleError(error: unknown): void {
    for (const { name, at } of this.#named) if (at >= this.#changes.length) this.#names?.delete(name);
    this.#resolve({ changes: this.#changes, error });
  }

  handleReadyForQuery(): void {
    this.#resolve({ changes: this.#changes, error: undefined });
  }
}
