/** Copies of the database that a kill has left, which have its secrets. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { startGateway } from '../../../kit/gateway/gateway.ts';
import { onlyOnSqlite } from '../../../kit/stand-ins/postgres.ts';

const dir = mkdtempSync(join(tmpdir(), 'turnpike-left-'));
after(() => rmSync(dir, { recursive: true }));
const YESTERDAY = Date.now() / 1_000 - 86_400;

/** A folder with a file that a kill has left yesterday, or a moment ago. */
function leave(path: string, isOld = true): string {
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'copy'), 'secrets');
  if (isOld) utimesSync(path, YESTERDAY, YESTERDAY);
  return path;
}
function leaveFile(path: string, isOld = true): string {
  writeFileSync(path, 'secrets');
  if (isOld) utimesSync(path, YESTERDAY, YESTERDAY);
  return path;
}

describe('what a kill has left', onlyOnSqlite('a database on a server has no files here'), () => {
  it('is removed at the next start, and nothing else', async () => {
    const first = await startGateway({ dir });
    const store = first.storeFile;
    await first.stop();
    const old = [
      leave(`${store}.backup-scratch`),
      leave(`${store}.upgrade-scratch`),
      leaveFile(`${store}.restoring-77`),
      leaveFile(`${store}.restoring-77-wal`),
      leave(join(tmpdir(), `turnpike-proof-old-${process.pid}`)),
    ];
    const kept = [
      leaveFile(`${store}.before-upgrade-20261101T000000Z`),
      leaveFile(`${store}.restoring-mine`),
      leaveFile(join(dir, 'restoring-7')),
      // Of a command that may be running.
      leaveFile(`${store}.restoring-78`, false),
      leave(join(tmpdir(), `turnpike-proof-new-${process.pid}`), false),
    ];
    const second = await startGateway({ dir });
    await second.stop();
    for (const path of old) assert.ok(!existsSync(path), path);
    for (const path of kept) assert.ok(existsSync(path), path);
    rmSync(kept.at(-1)!, { recursive: true });
  });

  it('of a backup is removed by the next one', async () => {
    const folder = join(dir, 'backups');
    mkdirSync(folder);
    const left = leaveFile(join(folder, '.turnpike-20261101T000000Z.db.part'));
    const others = [leaveFile(join(folder, '.mine.part')), leaveFile(join(folder, '.turnpike-20261101T000000Z.db'))];
    const gateway = await startGateway({ dir, config: { backup: { to: './backups' } } });
    await gateway.command('backup now');
    await gateway.stop();
    assert.ok(!existsSync(left));
    for (const path of others) assert.ok(existsSync(path), path);
  });
});
