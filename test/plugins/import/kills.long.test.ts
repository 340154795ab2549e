/** Imports whose process is killed: the next one completes them, and nothing is there twice. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Database } from '../../../plugins/stores/sqlite/binding.ts';
import { CONSOLE_PIPELINE, PATIENT, ROOT_ENV } from '../../kit/console/console.ts';
import { defaultConfig, startGateway } from '../../kit/gateway/gateway.ts';
import { turnpike } from '../../kit/gateway/process.ts';
import { onlyOnSqlite } from '../../kit/stand-ins/postgres.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { changeSqlite, makeSqlite, NEW_API_VERSIONS, type TestRow } from './databases.ts';

const TURNPIKE = fileURLToPath(new URL('../../../scripts/turnpike.mjs', import.meta.url));
const USERS = 12;
/** More than two lists. */
const KEYS = 450;
const CHANNELS = 8;
const DAYS = 4;

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i + 1);
const users = numbers(USERS).map(
  (n): TestRow => ({
    ...{ id: n + 1, username: `user${n}`, password: '', role: 1, status: 1, quota: n * 1_000, group: 'default' },
    ...{ email: `user${n}@example.com`, aff_code: `code${n}` },
  }),
);
const tokens = numbers(KEYS).map(
  (n): TestRow => ({
    ...{ id: n, user_id: 2 + (n % USERS), key: `${n}`.padStart(6, '0').repeat(8), name: `key ${n}`, status: 1 },
    ...{ expired_time: -1, unlimited_quota: 0, remain_quota: n },
  }),
);
const logs = numbers(DAYS * 10).map(
  (n): TestRow => ({
    ...{ id: n, user_id: 2 + (n % USERS), type: 2, created_at: 1_750_000_000 + (n % DAYS) * 86_400, token_id: n },
    ...{ model_name: 'house', quota: n, prompt_tokens: n, completion_tokens: 1 },
  }),
);
const LOGS = `CREATE TABLE logs (id integer PRIMARY KEY, user_id integer, type integer, created_at bigint, token_id integer,
  model_name text, quota integer, prompt_tokens integer, completion_tokens integer);`;

/** The folder of a gateway that was started once, with the other gateway's database. */
async function prepared(vendor: FakeVendor): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-kills-'));
  const config = { ...defaultConfig([vendor]), pipeline: [...CONSOLE_PIPELINE, 'groups', 'import'], console: PATIENT };
  await (await startGateway({ vendor, config, env: ROOT_ENV, dir })).stop();
  const channels = numbers(CHANNELS).map(
    (n): TestRow => ({
      ...{ id: n, type: 1, key: `upstream-${n}`, status: 1, name: `upstream ${n}`, base_url: 'https://up.example' },
      ...{ models: 'house', group: 'default', priority: n },
    }),
  );
  const options = [
    { key: 'ModelRatio', value: '{"house":1.25}' },
    { key: 'CompletionRatio', value: '{"house":4}' },
  ];
  const version = NEW_API_VERSIONS[2]!;
  makeSqlite(join(dir, 'old.db'), { ...version, sql: version.sql + LOGS }, { users, tokens, channels, options, logs });
  return dir;
}

const IMPORT = ['import', 'new-api', 'old.db', '--apply', '--history', '--config', 'gateway.yaml'];

/** Asks the store of a folder from outside, as it is on disk. */
function ask<T>(dir: string, sql: string): readonly T[] {
  const db = new Database(join(dir, 'turnpike.db'), { readonly: true });
  try {
    return db.prepare(sql).all() as T[];
  } finally {
    db.close();
  }
}
const count = (dir: string, from: string): number => ask<{ n: number }>(dir, `SELECT COUNT(*) AS n FROM ${from}`)[0]!.n;
/** How often an imported thing was changed by a later import. */
const revisions = (dir: string): number =>
  ask<{ n: number | null }>(dir, 'SELECT SUM(revision) AS n FROM imported')[0]!.n ?? 0;
const imported = (kind: string, least: number) => (dir: string) =>
  count(dir, `imported WHERE kind = '${kind}'`) >= least;
const rows = (table: string, least: number) => (dir: string) => count(dir, table) >= least;

/** Where a process is killed: as soon as what it writes has come that far. */
const PLACES: readonly ((dir: string) => boolean)[] = [
  rows('import_claim', 1),
  imported('user', 1),
  ...[1, 201, 401].map((least) => imported('key', least)),
  ...[1, 2, 3, DAYS].map((least) => imported('day', least)),
  ...[1, 2, 5, 8, USERS].map((least) => imported('link', least)),
  ...[1, 2, 5, CHANNELS].map((least) => rows('config_secret', least)),
  (dir) => readdirSync(dir).some((name) => name.startsWith('.gateway.yaml.')),
  rows('config_version', 2),
  (dir) => readdirSync(dir).some((name) => name.includes('.report.')),
];

/** How often it is looked. */
const POLL_MS = 10;

/** Runs a command, and kills its process at a place; one that is not reached any more lets it end. */
async function killedAt(dir: string, args: readonly string[], isReached: (dir: string) => boolean): Promise<void> {
  const child = spawn(process.execPath, [TURNPIKE, ...args], { cwd: dir, stdio: 'ignore' });
  const ended = once(child, 'exit');
  while (child.exitCode === null && child.signalCode === null) {
    if (isReached(dir)) child.kill('SIGKILL');
    await wait(POLL_MS);
  }
  await ended;
}

/** What is in the store and in the configuration, but for times and what is drawn by lot. */
function contentOf(dir: string): object {
  const tables = [
    'account',
    'api_key',
    'bucket',
    'entry',
    'password',
    'audit',
    'usage_day',
    'config_secret',
    'config_version',
  ];
  return {
    imported: ask(
      dir,
      "SELECT kind, foreign_id, CASE kind WHEN 'secret' THEN 0 ELSE name END AS name, own_id, seen FROM imported ORDER BY 1, 2",
    ),
    counts: tables.map((table) => [table, count(dir, table)]),
    balances: ask(dir, 'SELECT kind, owner, granted, used, debt FROM bucket ORDER BY kind, owner'),
    usage: ask(dir, 'SELECT begin_ms, account_id, key_id, model, repeats, amount FROM usage_day ORDER BY 1, 2, 3, 4'),
    gateway: readFileSync(join(dir, 'gateway.yaml'), 'utf8').replaceAll(dir, ''),
  };
}

/** Each process takes seconds on a busy machine, and there are many. */
const PATIENTLY = { timeout: 900_000 };

describe('an import whose process is killed', onlyOnSqlite('its commands run without a gateway'), () => {
  let vendor: FakeVendor;
  const dirs: string[] = [];
  before(async () => {
    vendor = await fakeVendor();
    dirs.push(await prepared(vendor), await prepared(vendor));
  });
  after(async () => {
    await vendor.close();
    for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
  });
  const isSound = async (dir: string): Promise<void> =>
    assert.match((await turnpike(['reconcile', '--config', 'gateway.yaml'], { cwd: dir })).stdout, /^(ok .*\n?)+$/);

  it('at each of its writes, is completed by the next one as if it had never been killed', PATIENTLY, async () => {
    const [dir = '', other = ''] = dirs;
    for (const place of PLACES) await killedAt(dir, IMPORT, place);
    for (const each of [dir, other]) {
      const { code, stderr } = await turnpike(IMPORT, { cwd: each });
      assert.equal(code, 0, stderr);
      await isSound(each);
    }
    assert.deepEqual(contentOf(dir), contentOf(other));
    assert.match((await turnpike(IMPORT, { cwd: dir })).stdout, /^nothing was changed: /m);
  });

  it('while it follows, applies each change once', PATIENTLY, async () => {
    const [, dir = ''] = dirs;
    assert.equal((await turnpike(IMPORT, { cwd: dir })).code, 0);
    const follow = [...IMPORT, '--follow', '--every', '100ms'];
    for (let round = 1; round <= 4; round++) {
      changeSqlite(
        join(dir, 'old.db'),
        'UPDATE users SET quota = quota + 7; UPDATE tokens SET remain_quota = remain_quota + 1',
      );
      const was = revisions(dir);
      await killedAt(dir, follow, () => revisions(dir) >= was + round * 100);
    }
    const { code, stderr } = await turnpike([...IMPORT, '--update'], { cwd: dir });
    assert.equal(code, 0, stderr);
    const granted = ask<{ kind: string; total: number }>(
      dir,
      `SELECT bucket.kind AS kind, SUM(granted) / 1000000 AS total FROM bucket
        JOIN imported ON own_id = owner AND imported.kind = CASE bucket.kind WHEN 'account' THEN 'user' ELSE 'key' END
        WHERE bucket.kind IN ('account', 'key') GROUP BY bucket.kind ORDER BY bucket.kind`,
    );
    const sum = (count: number): number => (count * (count + 1)) / 2;
    assert.deepEqual(
      granted.map(({ kind, total }) => [kind, total]),
      [
        ['account', sum(USERS) * 1_000 + USERS * 28],
        ['key', sum(KEYS) + KEYS * 4],
      ],
    );
    await isSound(dir);
  });
});
