/** `turnpike upgrade`: a version with other tables on a store of the version before; if it fails, everything is as it was. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { upgrade } from '../../../core/cli/upgrade.ts';
import { definePlugin, type Migration } from '../../../core/plugin.ts';
import { silentLog } from '../../../core/runtime/logger.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { readRows } from '../../kit/gateway/rows.ts';
import { onlyOnSqlite } from '../../kit/stand-ins/postgres.ts';

const MADE: Migration = { id: 1, title: 'shells', sql: ['CREATE TABLE shell (name TEXT NOT NULL) STRICT'] };
const CHANGED: Migration = { id: 2, title: 'their colours', sql: ['ALTER TABLE shell ADD COLUMN colour TEXT'] };
const BROKEN: Migration = { id: 3, title: 'a mistake', sql: ['ALTER TABLE sheII ADD COLUMN size TEXT'] };

/** A version of a plugin. `faults`: what its invariant reports each time. */
const shells = (migrations: readonly Migration[], faults: () => readonly string[] = () => []) =>
  definePlugin({
    name: 'sea/shells',
    api: 2,
    migrations,
    create: ({ store }) => ({
      start: () => store.run("INSERT INTO shell (name) VALUES ('whelk')").then(() => {}),
      invariants: [{ name: 'shells-are-whole', check: faults }],
    }),
  });

describe('an upgrade', onlyOnSqlite('it looks at files'), () => {
  const dirs: string[] = [];
  afterEach(() => {
    for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true });
  });
  /** A store that the version before has made, and its gateway. */
  async function before(): Promise<TestGateway> {
    const dir = mkdtempSync(join(tmpdir(), 'turnpike-upgrade-'));
    dirs.push(dir);
    return startGateway({ dir, plugins: [shells([MADE])] });
  }
  const run = async ({ configFile }: TestGateway, plugin: ReturnType<typeof shells>, dryRun = false) => {
    const lines: string[] = [];
    const options = { configFile, env: {}, log: silentLog, plugins: [plugin] };
    await upgrade(options, { dryRun, say: (line) => void lines.push(line) });
    return lines.join('\n');
  };
  const columns = ({ storeFile }: TestGateway): string =>
    readRows(storeFile, "SELECT name FROM pragma_table_info('shell')")[0]!
      .map(({ name }) => name)
      .join();
  const left = ({ dir }: TestGateway): readonly string[] =>
    readdirSync(dir).filter((name) => /upgrade|restore|scratch/.test(name));

  it('of a stopped gateway migrates, keeps the copy, and says how to go back', async () => {
    const gateway = await before();
    await gateway.stop();
    const said = await run(gateway, shells([MADE, CHANGED]));
    assert.match(said, /migrated \(1 migrations\) and reconciled \(\d+ invariants\)/);
    assert.equal(columns(gateway), 'name,colour');
    const [copy, ...others] = left(gateway);
    assert.match(copy!, /^turnpike\.db\.before-upgrade-\d{8}T\d{6}Z$/);
    assert.deepEqual(others, []);
    assert.match(said, new RegExp(`run \`turnpike restore .*${copy}\``));
  });

  it('that is only tried changes nothing, and neither does one beside a running gateway', async () => {
    const gateway = await before();
    assert.match(await run(gateway, shells([MADE, CHANGED]), true), /nothing was changed/);
    assert.match(await run(gateway, shells([MADE, CHANGED])), /a gateway runs with the version before: restart it now/);
    await gateway.stop();
    assert.deepEqual([columns(gateway), left(gateway)], ['name', []]);
  });

  it('whose migration fails, or after which the books do not balance, is refused before anything is changed', async () => {
    const gateway = await before();
    await gateway.stop();
    await assert.rejects(
      run(gateway, shells([MADE, CHANGED, BROKEN])),
      /migration 3 of "sea\/shells".*Nothing was changed/,
    );
    await assert.rejects(
      run(
        gateway,
        shells([MADE, CHANGED], () => ['a shell is cracked']),
      ),
      /a shell is cracked.*Nothing/,
    );
    assert.deepEqual([columns(gateway), left(gateway)], ['name', []]);
  });

  it('that fails although its trial succeeded goes back by itself', async () => {
    const gateway = await before();
    await gateway.stop();
    let checks = 0;
    const plugin = shells([MADE, CHANGED], () => (++checks === 1 ? [] : ['a shell is cracked']));
    await assert.rejects(run(gateway, plugin), /a shell is cracked\. The database is as it was before/);
    assert.deepEqual([columns(gateway), checks], ['name', 2]);
    const again = await startGateway({ dir: gateway.dir, plugins: [shells([MADE])] });
    assert.match(await again.command('reconcile'), /ok +shells-are-whole/);
    await again.stop();
  });
});
