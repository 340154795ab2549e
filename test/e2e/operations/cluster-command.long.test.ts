/** `npm run cluster` as somebody tries it: what it prints works as it stands, and Ctrl-C leaves nothing behind. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { missingForCluster } from '../../../scripts/cluster/cluster.ts';
import { freePort } from '../../../scripts/free-port.ts';

const missing = missingForCluster();

it('npm run cluster: what it prints works, and Ctrl-C ends all of it', {
  skip: missing.length > 0 && missing.join('; '),
}, async () => {
  const port = await freePort();
  const child = spawn(process.execPath, ['--import', 'tsx', 'scripts/cluster.ts', '--port', `${port}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // A terminal sends Ctrl-C to the whole group.
    detached: true,
  });
  const complaints = text(child.stderr);
  const ended = once(child, 'close');
  let printed = '';
  const ready = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (data: string) => {
      printed += data;
      if (printed.includes('Ctrl-C ends it.')) resolve();
    });
  });
  await Promise.race([ready, ended]);
  const find = (pattern: RegExp): string => pattern.exec(printed)?.[1] ?? assert.fail(printed);

  const answer = JSON.parse(execFileSync('sh', ['-c', `${find(/^(curl .*)$/m)} -s`], { encoding: 'utf8' }));
  assert.equal(answer.object, 'chat.completion');
  const gateways = [...printed.matchAll(/gateway-\d +(http:\S+) \(process (\d+)\)/g)];
  assert.equal(gateways.length, 3);
  const key = find(/first API key +(\S+)/);
  for (const [, url] of gateways) {
    const models = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(models.status, 200);
  }

  const folder = find(/logs +(\S+)\/gateway/);
  assert.ok(existsSync(folder));
  process.kill(-child.pid!, 'SIGINT');
  const [code] = await ended;
  assert.equal(code, 0, await complaints);
  assert.equal(existsSync(folder), false);
  for (const [, , pid] of gateways) assert.throws(() => process.kill(Number(pid), 0), { code: 'ESRCH' });
  await assert.rejects(fetch(`http://127.0.0.1:${port}/readyz`));
});
