/** `turnpike store copy`: copies every table into an empty store of another driver, and proves that nothing is lost. */

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Assembly, planFrom, rehearse } from '../assembly/assemble.ts';
import { keySourceOf, openForCommand, storeFileOf } from '../assembly/open-store.ts';
import { loadDriver } from '../assembly/plugin-loader.ts';
import { placeOfStore } from '../config/core-sections.ts';
import { requireFile } from '../config/file.ts';
import { throwIfWrong } from '../config/sections.ts';
import type { GatewayOptions } from '../gateway/gateway.ts';
import { type OpenStore, type Reader, StoreInUse, type StoreTable, type Value } from '../plugin.ts';
import { systemClock } from '../runtime/clock.ts';
import { reconcile } from '../store/invariants.ts';
import { keySource, openVault } from '../store/master-key.ts';
import {
  CORE_TABLES,
  migrate,
  openStore,
  requireKnown,
  requireUpToDate,
  sealedWith,
  type TableOwner,
} from '../store/migrations.ts';

/** Values of one statement: SQLite allows 32,766. */
const MOST_VALUES = 10_000;

/** The target's own tables. */
const OWN = ['migration'];

/**
 * Copies the store of a gateway.yaml to `to`: the URL of a server, whose scheme selects the driver, or an SQLite file.
 * Returns the lines to print. Throws if another process has the store open, or if `to` is not empty. The source is not
 * changed.
 */
export async function copyStore(
  { configFile, env, log, plugins }: GatewayOptions,
  to: string,
): Promise<readonly string[]> {
  const plan = await planFrom(configFile, env, plugins);
  requireFile(plan.file);
  throwIfWrong(plan.file);
  await rehearse(plan);
  const scheme = /^([a-z]+):\/\//.exec(to)?.[1];
  const section = scheme === undefined ? { driver: 'sqlite', file: to } : { driver: scheme, url: to };
  const file = resolve(plan.file.dir, placeOfStore(section));
  if (scheme === undefined && existsSync(file)) throw new Error(`${file} exists: a copy never overwrites anything`);

  const owners = [CORE_TABLES, ...plan.plugins];
  const source = await openForCommand(plan, log);
  try {
    await requireAlone(source);
    await requireUpToDate(source, owners);
    await requireKnown(source, owners);
    const driver = await loadDriver(section.driver, plan.file.dir);
    const target = await openStore({ driver, file, settings: withDefaults(section, driver.section), log });
    try {
      if ((await target.one('SELECT 1 FROM migration')) !== undefined) {
        throw new Error('the target is not empty: name a new database');
      }
      const rows = await copyAll(source, target, owners);
      const vault = await openVault(keySourceOf(plan), source, false);
      const around = { vault, log, clock: systemClock };
      for (const [name, store] of [
        ['source', source],
        ['copy', target],
      ] as const) {
        await prove(name, await rehearse(plan, { ...around, store }), store);
      }
      return [
        `${rows} rows were copied; both stores reconcile. In gateway.yaml, write:`,
        'store:',
        ...Object.entries(section).map(([key, value]) => `  ${key}: ${key === 'url' ? withoutPassword(value) : value}`),
        ...keyAdvice(storeFileOf(plan), file, env),
      ];
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Throws if another process has the store open: data that it writes in the meantime would be missing. */
async function requireAlone(store: OpenStore): Promise<void> {
  const facts = { epoch: randomUUID(), name: 'store copy', version: '', config: '' };
  const membership = await store.join?.(facts, { left: () => {}, message: () => {}, ended: () => {} });
  if (membership === undefined || membership.members.length === 1) return;
  throw new StoreInUse('the store is in use: stop every gateway that uses it; after a crash, wait ten seconds');
}

/** The section as a driver reads it, with defaults. */
function withDefaults(section: object, schema: object | undefined): Readonly<Record<string, unknown>> {
  const { properties = {} } = (schema ?? {}) as {
    readonly properties?: Readonly<Record<string, { default?: unknown }>>;
  };
  const defaults = Object.entries(properties).flatMap(([name, { default: value }]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return { ...Object.fromEntries(defaults), ...section };
}

const withoutPassword = (url: string): string => url.replace(/(\/\/[^:@/]*):[^@/]*@/, '$1:…@');

function keyAdvice(from: string, to: string, env: GatewayOptions['env']): readonly string[] {
  const { file, given } = keySource(from, env);
  return given === undefined ? [`Copy the master key: cp -p ${file} ${keySource(to, env).file}`] : [];
}

/** All rows of all tables, in one snapshot. Returns their number. */
async function copyAll(source: OpenStore, target: OpenStore, owners: readonly TableOwner[]): Promise<number> {
  const { owners: bare, triggers } = withoutTriggers(owners);
  await migrate(target, bare);
  await sealedWith(target);
  const [tables, known] = await Promise.all([source.tables(), target.tables()]);
  const foreign = tables.filter(({ name }) => !known.some((table) => table.name === name)).map(({ name }) => name);
  if (foreign.length > 0) {
    throw new Error(`no plugin of this gateway.yaml has the tables ${foreign.join(', ')}: list those that have them`);
  }
  let count = 0;
  await source.snapshot(async (reader) => {
    const byName = new Map(tables.map((table) => [table.name, table]));
    const referred = ({ references }: StoreTable) => references.map(({ table }) => byName.get(table));
    for (const table of inOrderOfReferences(tables, referred)) {
      if (OWN.includes(table.name)) continue;
      // Rows that a migration created are among those of the source.
      await target.run(`DELETE FROM ${table.name}`);
      count += await copyTable(reader, target, table);
    }
  });
  await target.atomic(triggers.map((sql) => ({ sql })));
  await target.rowsLoaded?.();
  return count;
}

/** Triggers would change rows while they are copied: they are created last. */
function withoutTriggers(owners: readonly TableOwner[]): {
  readonly owners: readonly TableOwner[];
  readonly triggers: readonly string[];
} {
  const triggers = new Map<string, string>();
  const kept = (sql: string): boolean => {
    const [, verb, name = ''] = /^\s*(CREATE|DROP) TRIGGER (\w+)/.exec(sql) ?? [];
    if (verb === 'CREATE') triggers.set(name, sql);
    if (verb === 'DROP') triggers.delete(name);
    return verb === undefined;
  };
  const bare = owners.map(({ name, migrations = [] }) => ({
    name,
    migrations: migrations.map((migration) => ({ ...migration, sql: migration.sql.filter(kept) })),
  }));
  return { owners: bare, triggers: [...triggers.values()] };
}

/** Sorts items: each after those that it refers to; a reference to itself counts for nothing. */
function inOrderOfReferences<T>(items: readonly T[], referencesOf: (item: T) => readonly (T | undefined)[]): T[] {
  const order = new Set<T>();
  const visit = (item: T): void => {
    if (order.has(item)) return;
    for (const other of referencesOf(item)) if (other !== undefined && other !== item) visit(other);
    order.add(item);
  };
  for (const item of items) visit(item);
  return [...order];
}

type Row = Readonly<Record<string, string | number | Uint8Array | null>>;

async function copyTable(reader: Reader, target: OpenStore, table: StoreTable): Promise<number> {
  const { name, columns, key } = table;
  const own = table.references.find((reference) => reference.table === name);
  const limit = Math.floor(MOST_VALUES / columns.length);
  const order = key.map((column) => `${name}.${column}`).join(', ');
  // Integers as text: a number cannot represent all of them.
  const select = columns.map((column) =>
    column.isInteger ? `CAST(${name}.${column.name} AS TEXT) AS ${column.name}` : `${name}.${column.name}`,
  );
  const readValue = (row: Row, column: StoreTable['columns'][number]): Value => {
    const value = row[column.name] ?? null;
    return column.isInteger && value !== null ? BigInt(String(value)) : value;
  };
  let count = 0;
  let waiting: Row[] = [];
  let after: readonly Value[] | undefined;
  for (;;) {
    const where = after === undefined ? '' : `WHERE (${order}) > (${key.map(() => '?').join(', ')})`;
    const rows = await reader.all<Row>(
      `SELECT ${select.join(', ')} FROM ${name} ${where} ORDER BY ${order} LIMIT ${limit}`,
      ...(after ?? []),
    );
    // Rows that refer to others of their own table are few; they are inserted after those.
    waiting.push(...rows);
    const isLast = rows.length < limit;
    if (own === undefined || isLast) {
      if (own !== undefined) {
        const byKey = new Map(waiting.map((row) => [row[own.to], row]));
        waiting = inOrderOfReferences(waiting, (row) => [byKey.get(row[own.column])]);
      }
      for (let i = 0; i < waiting.length; i += limit)
        await insert(target, table, waiting.slice(i, i + limit), readValue);
      count += waiting.length;
      waiting = [];
    }
    if (isLast) return count;
    const last = rows.at(-1)!;
    after = key.map((column) => readValue(last, columns.find((each) => each.name === column)!));
  }
}

async function insert(
  target: OpenStore,
  { name, columns }: StoreTable,
  rows: readonly Row[],
  readValue: (row: Row, column: StoreTable['columns'][number]) => Value,
): Promise<void> {
  const line = `(${columns.map(() => '?').join(', ')})`;
  const sql = `INSERT INTO ${name} (${columns.map((column) => column.name).join(', ')}) VALUES ${rows.map(() => line).join(', ')}`;
  await target.run(sql, ...rows.flatMap((row) => columns.map((column) => readValue(row, column))));
}

/** Throws unless all invariants of the store hold, the audit log's hash chain included. */
async function prove(what: string, { players }: Assembly, store: OpenStore): Promise<void> {
  const findings = await reconcile(players, store);
  const faults = findings.flatMap(({ name, faults }) => faults.map((fault) => `${name}: ${fault}`));
  if (faults.length > 0) throw new Error(`the ${what} does not reconcile: ${faults.join('; ')}`);
}
