/** Output of the command line that cannot be written: the result is lost, so the exit code is no success. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startGateway } from '../../kit/gateway/gateway.ts';

const TURNPIKE = fileURLToPath(new URL('../../../scripts/turnpike.mjs', import.meta.url));

/** A file whose device is always full. */
const FULL = '/dev/full';

describe('output of a command that cannot be written', { skip: process.platform !== 'linux' }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tp-output-'));
  after(() => rmSync(folder, { recursive: true }));

  /** Runs a line of the shell, in which `turnpike` is the command line. */
  const shell = (line: string) => {
    const { stdout, stderr, status } = spawnSync(
      'bash',
      ['-c', `turnpike() { "${process.execPath}" "${TURNPIKE}" "$@"; }; ${line}`],
      { cwd: folder, encoding: 'utf8', env: { PATH: process.env.PATH, HOME: folder } },
    );
    return { stdout, stderr, status };
  };

  it('on a full device exits with 1, and says why on standard error', () => {
    for (const command of ['version', 'errors --config gateway.yaml', 'help']) {
      if (command.startsWith('errors')) assert.equal(shell('turnpike init >&2').status, 0);
      const { stderr, status } = shell(`turnpike ${command} > ${FULL}`);
      assert.equal(status, 1, command);
      assert.match(stderr, /^standard output could not be written, so the result is lost: ENOSPC/m, command);
    }
  });

  it('exits with 1 if only a part of it fits on the disk', () => {
    // The limit of the size of files stands for the end of the disk.
    const { stderr, status } = shell('ulimit -f 1; turnpike errors --config gateway.yaml > part.txt');
    assert.equal(status, 1, stderr);
    assert.match(stderr, /so the result is lost: EFBIG/);
    assert.equal(readFileSync(join(folder, 'part.txt')).length, 1_024);
  });

  it('exits with 1 if its reader has closed the pipe', () => {
    // The command begins when the reader has ended.
    const { status, stderr } = shell('exec 3> >(:); wait $!; turnpike version >&3');
    assert.match(stderr, /so the result is lost: write EPIPE/);
    assert.equal(status, 1);
  });

  it('exits with 1 if it is the only copy of a secret; the command can be repeated', async () => {
    await (await startGateway({ dir: folder })).stop();
    for (const command of ['key create --name ci', 'key rotate 1']) {
      const { stderr, status } = shell(`turnpike ${command} > ${FULL}`);
      assert.match(stderr, /so the result is lost: ENOSPC/, command);
      assert.equal(status, 1, command);
      assert.match(shell(`turnpike ${command}`).stdout, /^sk-[0-9A-Za-z]{49}\n$/, command);
    }
  });

  it('keeps the exit code of a command that failed', () => {
    assert.equal(shell(`turnpike nonsense > ${FULL}`).status, 2);
    assert.equal(shell(`turnpike check --config missing.yaml > ${FULL}`).status, 78);
  });
});
