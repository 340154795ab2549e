/**
 * Many statements as one message to the server and one answer: each `client.query` would be a write to the network, a round of its own in the
 * server, and a promise. Takes the place of a query in `pg`, which calls the `handle…` methods.
 */
import type pg from 'pg';
import type { Value } from '../../../core/plugin.ts';
import { bound, nameOf } from './connection.ts';

/** A statement with its parameters numbered. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly (Value | undefined)[];
}

/** What became of statements. */
export interface Ran {
  /** Rows that each changed which ran. */
  readonly changes: readonly number[];
  /** What was wrong with the one behind those; what came after it was not tried. */
  readonly error: unknown;
}

/** Runs them in a transaction that was begun, or that they begin. The connection must not pipeline by itself. */
export function runStatements(client: pg.Client, statements: readonly Statement[]): Promise<Ran> {
  return new Promise((resolve) => void client.query(new Run(statements, resolve)));
}

/** What `pg` has of a connection beside what its types say. */
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

/** Names of the statements that are prepared, by connection. */
const prepared = new WeakMap<Wire, Set<string>>();

class Run implements pg.Submittable {
  readonly #statements: readonly Statement[];
  readonly #resolve: (ran: Ran) => void;
  readonly #changes: number[] = [];
  /** Those that it prepares, and at which place. */
  readonly #named: { readonly name: string; readonly at: number }[] = [];
  #known: Set<string> | undefined;

  constructor(statements: readonly Statement[], resolve: (ran: Ran) => void) {
    this.#statements = statements;
    this.#resolve = resolve;
  }

  submit(connection: pg.Connection): void {
    const wire = connection as unknown as Wire;
    const known = prepared.get(wire) ?? new Set();
    prepared.set(wire, known);
    this.#known = known;
    wire.stream.cork();
    try {
      for (let at = 0; at < this.#statements.length; at++) {
        const { sql, params } = this.#statements[at]!;
        const name = nameOf(sql) ?? '';
        if (!known.has(name)) {
          // It may be there nevertheless, where what came with it failed.
          if (name !== '') {
            wire.close({ type: 'S', name });
            known.add(name);
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

  /** A lock that was had is a row, and so is what a statement returns that nobody asked for. */
  handleDataRow(): void {}

  handleError(error: unknown): void {
    for (const { name, at } of this.#named) if (at >= this.#changes.length) this.#known?.delete(name);
    this.#resolve({ changes: this.#changes, error });
  }

  handleReadyForQuery(): void {
    this.#resolve({ changes: this.#changes, error: undefined });
  }
}
