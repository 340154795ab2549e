/** Files that are replaced in one step: what stays, what is refused, and why. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { obstacleOf, removeDrafts, replaceFile } from '../../../../core/operations/config-editing/replace-file.ts';
import { fakeClock } from '../../../kit/gateway/clock.ts';
import { startGateway } from '../../../kit/gateway/gateway.ts';
import { until } from '../../../kit/until.ts';

const dir = mkdtempSync(join(tmpdir(), 'turnpike-replace-'));
after(() => rmSync(dir, { recursive: true }));
const file = join(dir, 'a.yaml');
const link = join(dir, 'link.yaml');
beforeEach(() => {
  for (const name of readdirSync(dir)) rmSync(join(dir, name));
  writeFileSync(file, 'old\n', { mode: 0o640 });
  symlinkSync('a.yaml', link);
});

describe('replacing a file', () => {
  it('keeps its mode, follows links, and leaves nothing behind', async () => {
    assert.equal(await obstacleOf(link), undefined);
    assert.equal(await replaceFile(link, 'old\n', 'new\n'), true);
    assert.deepEqual([readFileSync(file, 'utf8'), statSync(file).mode & 0o777], ['new\n', 0o640]);
    assert.deepEqual(readdirSync(dir).sort(), ['a.yaml', 'link.yaml']);
  });

  it('that a crash has interrupted leaves a draft, which the next start removes, and nothing else', async () => {
    const names = ['.a.yaml.0123456789ab', '.a.yaml.swp', '.a.yaml.0123456789abc', '.b.yaml.0123456789ab'];
    for (const name of names) writeFileSync(join(dir, name), 'a secret');
    await removeDrafts(link, Date.now());
    assert.equal(readdirSync(dir).length, 6, 'a save may be running');
    await removeDrafts(link, Date.now() + 120_000);
    assert.deepEqual(readdirSync(dir).sort(), ['a.yaml', 'link.yaml', ...names.slice(1)].sort());
  });

  it('removes the draft that a crash has left a while ago, and not that of a save that may be running', async () => {
    const [old, young] = ['.a.yaml.0123456789ab', '.a.yaml.ba9876543210'];
    for (const name of [old, young]) writeFileSync(join(dir, name), 'a secret');
    const aWhileAgo = new Date(Date.now() - 120_000);
    utimesSync(join(dir, old), aWhileAgo, aWhileAgo);
    assert.equal(await replaceFile(link, 'old\n', 'new\n'), true);
    assert.deepEqual(readdirSync(dir).sort(), [young, 'a.yaml', 'link.yaml']);
  });

  it('that was interrupted just before a start leaves a draft, which the gateway removes when it is old enough', async () => {
    const clock = fakeClock(Date.now());
    const gateway = await startGateway({ clock });
    const draft = join(gateway.dir, '.gateway.yaml.0123456789ab');
    writeFileSync(draft, 'a secret');
    utimesSync(draft, clock.now() / 1_000, clock.now() / 1_000);
    clock.advance(125_000);
    await until('the draft is removed', () => !existsSync(draft), gateway);
    await gateway.stop();
  });

  it('changes nothing if the file has another text by now', async () => {
    assert.equal(await replaceFile(file, 'older\n', 'new\n'), false);
    assert.equal(readFileSync(file, 'utf8'), 'old\n');
    assert.deepEqual(readdirSync(dir).sort(), ['a.yaml', 'link.yaml']);
  });

  it('is refused with the reason if the file is not there', async () => {
    rmSync(file);
    assert.equal(await obstacleOf(file), 'a.yaml does not exist');
    await assert.rejects(replaceFile(link, '', 'new\n'), { message: 'link.yaml does not exist' });
  });

  it('is refused with the reason if its folder is read-only, or it belongs to another user', (t) => {
    if (process.getuid?.() !== 0) return t.skip('only root can act as another user');
    const module = pathToFileURL(
      join(import.meta.dirname, '../../../../core/operations/config-editing/replace-file.ts'),
    ).href;
    const asNobody = (path: string): string => {
      const code = `process.setgid(65534); process.setuid(65534); console.log(await obstacleOf(${JSON.stringify(path)}))`;
      const script = `const { obstacleOf } = await import(${JSON.stringify(module)}); ${code}`;
      const { stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
        encoding: 'utf8',
      });
      return stdout.trim() || stderr;
    };
    chmodSync(dir, 0o755);
    chmodSync(file, 0o666);
    assert.equal(asNobody(file), "the gateway's user may not write a.yaml, or its folder");
    chmodSync(dir, 0o777);
    assert.equal(asNobody(file), 'a.yaml belongs to another user, to whom the gateway could not give the new file');
  });
});
