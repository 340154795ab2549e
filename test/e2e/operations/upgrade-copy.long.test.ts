/** A new version that changes tables leaves a copy of the database as it was; the version before can go on from it. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { runAlone } from '../../../core/cli/offline.ts';
import { definePlugin, type Migration } from '../../../core/plugin.ts';
import { silentLog } from '../../../core/runtime/logger.ts';
import { Database } from '../../../plugins/stores/sqlite/binding.ts';
import { restore } from '../../../plugins/stores/sqlite/restore.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { onlyOnSqlite } from '../../kit/stand-ins/postgres.ts';

const MADE: Migration = { id: 1, title: 'shells', sql: ['CREATE TABLE shell (name TEXT NOT NULL) STRICT'] };
const CHANGED: Migration = { id: 3, title: 'their colours', sql: ['ALTER TABLE shell ADD COLUMN colour TEXT'] };
const AGAIN: Migration = { id: 4, title: 'their sizes', sql: ['ALTER TABLE shell ADD COLUMN size TEXT'] };

const silent = silentLog;

/** A version of a plugin that keeps shells, and adds one whenever it starts. */
const shells = (...migrations: readonly Migration[]) =>
  definePlugin({
    name: 'sea/shells',
    api: 2,
    migrations,
    create: (host) => ({ start: () => host.store.run("INSERT INTO shell (name) VALUES ('whelk')").then(() => {}) }),
  });

const copies = onlyOnSqlite('a server has backups of its own');
describe('the copy that is made before tables change', copies, () => {
  const dirs: string[] = [];
  afterEach(() => {
    for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true });
  });
  const folder = (): string => {
    const dir = mkdtempSync(join(tmpdir(), 'turnpike-copy-'));
    dirs.push(dir);
    return dir;
  };
  const start = (dir: string, ...migrations: readonly Migration[]): Promise<TestGateway> =>
    startGateway({ dir, plugins: [shells(...migrations)] });
  const copiesIn = (dir: string): readonly string[] =>
    readdirSync(dir).filter((name) => /\.before-[a-z]+-[a-z]+-\d+$/.test(name));
  const columnsOf = (file: string): readonly unknown[] => {
    const db = new Database(file, { readonly: true });
    try {
      return db.prepare<[], string>("SELECT name FROM pragma_table_info('shell')").pluck().all();
    } finally {
      db.close();
    }
  };
  const shellsIn = (file: string): number => {
    const db = new Database(file, { readonly: true });
    try {
      return db.prepare<[], number>('SELECT COUNT(*) FROM shell').pluck().get() ?? 0;
    } finally {
      db.close();
    }
  };

  it('is not made by a first start, by a start that changes nothing, or for a plugin that is new', async () => {
    const dir = folder();
    await (await startGateway({ dir })).stop();
    await (await start(dir, MADE)).stop();
    await (await start(dir, MADE)).stop();
    assert.deepEqual(copiesIn(dir), []);
  });

  it('holds everything as it was, is named after the first change, told, and kept as it is', async () => {
    const dir = folder();
    await (await start(dir, MADE)).stop();
    const newer = await start(dir, MADE, CHANGED);
    const copy = `${newer.storeFile}.before-sea-shells-3`;
    const told = newer.log.filter((line) => line.includes('the database was copied before migrating'));
    assert.deepEqual([told.length, told[0]?.includes(copy)], [1, true]);
    await newer.stop();
    assert.deepEqual([columnsOf(copy), shellsIn(copy)], [['name'], 1]);
    assert.deepEqual([columnsOf(newer.storeFile), shellsIn(newer.storeFile)], [['name', 'colour'], 2]);
    await (await start(dir, MADE, CHANGED)).stop();
    await (await start(dir, MADE, CHANGED, AGAIN)).stop();
    assert.deepEqual(copiesIn(dir), ['turnpike.db.before-sea-shells-3', 'turnpike.db.before-sea-shells-4']);
    assert.equal(shellsIn(copy), 1);
  });

  it('is what the version before goes on from, which refuses the changed tables', async () => {
    const dir = folder();
    await (await start(dir, MADE)).stop();
    const newer = await start(dir, MADE, CHANGED);
    await newer.stop();
    await assert.rejects(start(dir, MADE), /created by a newer version/);
    await restore({ from: `${newer.storeFile}.before-sea-shells-3`, file: newer.storeFile, log: silent });
    const older = await start(dir, MADE);
    assert.equal(await older.command('reconcile').then(() => shellsIn(older.storeFile)), 2);
    await older.stop();
  });

  it('is not made by a command, which changes no tables', async () => {
    const dir = folder();
    const first = await start(dir, MADE);
    await first.stop();
    const { configFile, storeFile } = first;
    const options = { configFile, env: {}, log: silent, plugins: [shells(MADE, CHANGED)] };
    await assert.rejects(
      runAlone(options, { argv: ['reconcile'], stdin: '', cwd: dir }),
      /run `turnpike start` to migrate it/,
    );
    assert.ok(existsSync(storeFile));
    assert.deepEqual([copiesIn(dir), columnsOf(storeFile)], [[], ['name']]);
  });
});
