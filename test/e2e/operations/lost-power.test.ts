/** The disk on which `npm run chaos` takes the gateway's power away: what of a file is left of it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createDisk, type Disk, whyNoDisk } from '../../../scripts/chaos/power.ts';
import { createRandom } from '../../../scripts/chaos/random.ts';

/** Runs a program there, and then takes the power away. `kept`: the part of what was not synced that the disk has, too. */
function afterPowerLoss(kept: number, program: string, use: (folder: string) => void): void {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'turnpike-disk-')));
  try {
    const folder = join(scratch, 'data');
    mkdirSync(folder);
    writeFileSync(join(folder, 'old'), 'old');
    const disk: Disk = createDisk(folder, scratch);
    disk.settle();
    const code = `const fs = require('node:fs'); process.chdir(${JSON.stringify(folder)}); ${program}`;
    const { status, stderr } = spawnSync(process.execPath, ['-e', code], {
      env: { ...process.env, ...disk.env },
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    disk.losePower(kept, createRandom(1));
    use(folder);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

const WRITE = `
  const file = fs.openSync('new', 'w');
  fs.writeSync(file, 'synced');
  fs.fsyncSync(file);
  fs.fsyncSync(fs.openSync('.'));
  fs.writeSync(file, ' and not');`;

describe('a disk that loses its power', { skip: whyNoDisk() ?? false }, () => {
  it('has what was synced, and not what was written after that', () => {
    afterPowerLoss(0, WRITE, (folder) => assert.equal(readFileSync(join(folder, 'new'), 'utf8'), 'synced'));
  });

  it('has what was written after that where it got so far', () => {
    afterPowerLoss(1, WRITE, (folder) => assert.equal(readFileSync(join(folder, 'new'), 'utf8'), 'synced and not'));
  });

  it('has what was there before', () => {
    afterPowerLoss(0, `fs.writeFileSync('old', 'newer')`, (folder) =>
      assert.equal(readFileSync(join(folder, 'old'), 'utf8'), 'old'),
    );
  });

  it('has a file whose name was removed, until its folder is synced', () => {
    afterPowerLoss(0, `fs.unlinkSync('old')`, (folder) => assert.ok(existsSync(join(folder, 'old'))));
    afterPowerLoss(0, `fs.unlinkSync('old'); fs.fsyncSync(fs.openSync('.'))`, (folder) =>
      assert.ok(!existsSync(join(folder, 'old'))),
    );
  });

  it('has no file whose folder was not synced', () => {
    afterPowerLoss(0, `const file = fs.openSync('new', 'w'); fs.writeSync(file, 'x'); fs.fsyncSync(file)`, (folder) =>
      assert.ok(!existsSync(join(folder, 'new'))),
    );
  });

  it('has a file under its new name and not under the old one, once its folder is synced', () => {
    const program = `fs.renameSync('old', 'renamed'); fs.fdatasyncSync(fs.openSync('.'))`;
    afterPowerLoss(0, program, (folder) => {
      assert.equal(readFileSync(join(folder, 'renamed'), 'utf8'), 'old');
      assert.ok(!existsSync(join(folder, 'old')));
    });
  });
});
