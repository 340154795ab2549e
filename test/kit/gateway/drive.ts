/** Drives a few real plugins phase by phase: an in-memory store, a clock by hand, exchanges made by hand; no HTTP. */

import { createHash } from 'node:crypto';
import { LastingStates } from '../../../core/assembly/lasting-state.ts';
import { FirstStart } from '../../../core/contracts/first-start.ts';
import { aloneOf } from '../../../core/contracts/peers.ts';
import { printed, readWords } from '../../../core/operations/commands/command-line.ts';
import { createAgents } from '../../../core/outgoing/fetch.ts';
import { noAsking } from '../../../core/outgoing/vendor-request.ts';
import {
  type Awaitable,
  type Caller,
  type Command,
  type Host,
  type Known,
  type Migration,
  type Parts,
  type Peers,
  type Service,
  type Step,
  type Store,
  statementOf,
  type Value,
} from '../../../core/plugin.ts';
import { createVault } from '../../../core/store/vault.ts';
import { createOutgoingProxies } from '../../../core/upstream/proxy.ts';
import { Database } from '../../../plugins/stores/sqlite/binding.ts';
import { type FakeClock, fakeClock } from './clock.ts';

/** A store that counts what is read from it. */
export interface MemoryStore extends Store {
  readonly reads: number;
  /** What it is on, for tests that look past the store. */
  readonly db: RawDatabase;
}

/** A database of better-sqlite3, as far as tests use it: its own types are no part of the package. */
export interface RawDatabase {
  exec(sql: string): unknown;
  pragma(source: string, options?: { readonly simple?: boolean }): unknown;
  prepare(sql: string): RawStatement;
  close(): unknown;
}

/** One of its statements. */
export interface RawStatement {
  run(...params: unknown[]): { readonly changes: number };
  get(...params: unknown[]): unknown;
  all(...params: unknown[]): unknown[];
  /** Only the first column of each row. */
  pluck(): RawStatement;
  /** Rows as lists. */
  raw(): RawStatement;
  /** Whole numbers as bigint. */
  safeIntegers(): RawStatement;
}

export function memoryStore(): MemoryStore {
  const db = new Database(':memory:');
  db.pragma('foreign_keys = ON');
  db.function('sha256_hex', { deterministic: true }, (text) =>
    text === null ? null : createHash('sha256').update(String(text)).digest('hex'),
  );
  db.function('utf8_bytes', { deterministic: true }, (text) => (text === null ? null : Buffer.from(String(text))));
  let reads = 0;
  const runAll = db.transaction((steps: readonly Step[]) => {
    for (const { sql, params = [], must } of steps.map(statementOf)) {
      if (db.prepare(sql).run(...params).changes === 0 && must !== undefined) throw new Missed(must);
    }
  });
  const read = async <T>(answer: T): Promise<T> => {
    reads++;
    return answer;
  };
  return {
    db,
    get reads() {
      return reads;
    },
    one: async <T>(sql: string, ...params: readonly Value[]) => read(db.prepare(sql).get(...params) as T | undefined),
    all: async <T>(sql: string, ...params: readonly Value[]) => read(db.prepare(sql).all(...params) as T[]),
    run: async (sql, ...params) => db.prepare(sql).run(...params).changes,
    async atomic(steps) {
      try {
        runAll.immediate(steps);
        return undefined;
      } catch (error) {
        if (error instanceof Missed) return error.message;
        throw error;
      }
    },
    pressure: () => ({ waiting: 0, oldestMs: 0 }),
  };
}
class Missed extends Error {}

/** Plugins that have been created, and what surrounds them. */
export interface Driven {
  readonly store: MemoryStore;
  readonly clock: FakeClock;
  /** What the first start would have shown. */
  readonly shown: { readonly rootPassword?: string; readonly key?: string }[];
  use<T>(service: Service<T>): T;
  readonly parts: readonly Parts[];
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Runs a command; `values` as `parseArgs` gives them. */
  run(
    command: string,
    values?: Readonly<Record<string, string | boolean>>,
    more?: { stdin?: string; positionals?: string[] },
  ): Promise<string>;
}

/** A plugin whatever its sections. */
interface AnyPlugin {
  readonly migrations?: readonly Migration[];
  create(host: Host, config: never): Awaitable<Parts>;
}

/** Creates plugins in the order given, each with its sections. */
export async function drive(
  plugins: readonly AnyPlugin[],
  options: {
    readonly store?: MemoryStore;
    readonly clock?: FakeClock;
    readonly sections?: Readonly<Record<string, unknown>>;
    readonly env?: Readonly<Record<string, string>>;
    /** Stand-ins for plugins that are not there. */
    readonly services?: (store: MemoryStore, clock: FakeClock) => readonly (readonly [Service<unknown>, unknown])[];
    /** Stands in for what posts to addresses of people. */
    readonly post?: Host['post'];
    /** Their tables. */
    readonly tables?: readonly Migration[];
    /** The processes beside this one; else there is none. */
    readonly peers?: Peers;
  } = {},
): Promise<Driven> {
  const { store = memoryStore(), clock = fakeClock(), sections = {}, env = {} } = options;
  const shown: Driven['shown'] = [];
  const provided = new Map<string, unknown>([
    [FirstStart.id, { begin() {}, note: (lines: Driven['shown'][number]) => shown.push(lines), signIn() {} }],
    ...(options.services?.(store, clock) ?? []).map(([service, it]) => [service.id, it] as const),
  ]);
  const lasting = new LastingStates();
  const quiet = () => {};
  const host: Host = {
    store,
    clock,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet, hide: quiet },
    boot: 'test',
    peers: options.peers ?? aloneOf('test'),
    env,
    use<T>(service: Service<T>): T {
      if (!provided.has(service.id)) throw new Error(`nobody provides ${service.id}`);
      return provided.get(service.id) as T;
    },
    find: <T>(service: Service<T>) => provided.get(service.id) as T | undefined,
    provide: (service, it) => void provided.set(service.id, it),
    ...noAsking('nobody is asked here')(),
    fetch,
    agent: createAgents(createOutgoingProxies('none', {}, quiet)),
    post: options.post ?? (() => Promise.reject(new Error('nothing is posted here'))),
    vendors: () => new Map(),
    styles: () => new Map(),
    routes: () => [],
    guards: () => new Map(),
    errors: () => new Map(),
    vault: createVault(Buffer.alloc(32, 7)),
    lasting: (state) => lasting.get(state),
    problem: (path, message) => {
      throw new Error(`${path.join('.')}: ${message}`);
    },
    warn() {},
  };
  // A store that another host has used before has its tables.
  if (store.db.pragma('user_version', { simple: true }) === 0) {
    for (const { sql } of [...(options.tables ?? []), ...plugins.flatMap((plugin) => plugin.migrations ?? [])]) {
      for (const statement of sql) store.db.exec(statement);
    }
    store.db.pragma('user_version = 1');
  }
  const parts: Parts[] = [];
  for (const plugin of plugins) parts.push(await plugin.create(host, sections as never));
  const commands = new Map<string, Command>(
    parts.flatMap((part) => (part.commands ?? []).map((c) => [c.name, c] as const)),
  );
  return {
    store,
    clock,
    shown,
    parts,
    use: host.use,
    async start() {
      for (const part of parts) await part.start?.();
    },
    async stop() {
      for (const part of [...parts].reverse()) await part.stop?.();
    },
    async run(name, values = {}, { stdin = '', positionals = [] } = {}) {
      const command = commands.get(name);
      if (command === undefined) throw new Error(`no command ${name}`);
      const options = Object.entries(values)
        .filter(([, value]) => value !== false)
        .map(([option, value]) => (value === true ? `--${option}` : `--${option}=${value}`));
      const words = readWords(command, [...name.split(' '), ...options, '--', ...positionals]);
      return printed(command, words.values, await command.run({ ...words, stdin, cwd: '/', remark() {} })).trimEnd();
    },
  };
}

/** A request as guards and authentication see it. */
export function caller(facts: Partial<Omit<Caller, 'query'>> & { readonly query?: string } = {}): Caller {
  return {
    method: facts.method ?? 'POST',
    path: facts.path ?? '/v1/chat/completions',
    query: new URLSearchParams(facts.query ?? ''),
    headers: facts.headers ?? {},
    ip: facts.ip ?? '192.0.2.1',
  };
}

/** An exchange with only what a test says about it. */
export function exchange(facts: Partial<Known>): Known {
  return {
    ...caller(),
    id: 'x',
    startedMs: 0,
    attempts: [],
    notes: {},
    status: 200,
    delivered: false,
    defer: () => {},
    hold: () => {},
    drop: () => {},
    ...facts,
  } as Known;
}

/** The refusal's status and code, or `ok`. */
export async function verdict(run: () => unknown): Promise<string> {
  try {
    await run();
    return 'ok';
  } catch (error) {
    if (error instanceof Error && 'status' in error && 'code' in error) return `${error.status} ${error.code}`;
    throw error;
  }
}
