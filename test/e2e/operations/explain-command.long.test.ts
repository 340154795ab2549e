/** `turnpike explain` as a process of its own: beside a running gateway, and without one. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { stringify } from 'yaml';
import { defaultConfig } from '../../kit/gateway/gateway.ts';
import { startProcess, turnpike } from '../../kit/gateway/process.ts';
import { fakeVendor } from '../../kit/vendors/fake-vendor.ts';

const HELLO = { model: 'test-model', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };

describe('`turnpike explain`', () => {
  it('works beside a running gateway and without one, with files from where it is called', async (t) => {
    const vendor = await fakeVendor();
    t.after(() => vendor.close());
    const dir = mkdtempSync(join(tmpdir(), 'turnpike-explain-'));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    const configFile = join(dir, 'gateway.yaml');
    writeFileSync(configFile, stringify({ ...defaultConfig([vendor]), limits: { requestsPerMinute: 5 } }));
    const cwd = join(dir, 'calls');
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'hello.json'), JSON.stringify(HELLO));
    const run = (key: string, body: string, stdin = '') =>
      turnpike(['explain', '--config', configFile, '--key', key, '--style', 'chat', '--body', body], { cwd, stdin });

    const running = await startProcess(configFile);
    t.after(() => running.kill());
    const key = String(running.log.find(({ msg }) => msg === 'first start')?.key);
    const answer = await fetch(`${running.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(HELLO),
    });
    await answer.text();
    const beside = await run(key, 'hello.json');
    assert.equal(beside.code, 0, beside.stderr);
    assert.match(beside.stdout, /1 of 5 used/, 'the running gateway was asked');
    const long = JSON.stringify({ ...HELLO, messages: [{ role: 'user', content: 'x'.repeat(300_000) }] });
    assert.match((await run(key, '-', long)).stdout, /300051 bytes of input/);
    assert.match((await run('-', 'hello.json', `${key}\n`)).stdout, /goes to main/);
    await running.stop();

    const alone = await run(key, 'hello.json');
    assert.equal(alone.code, 0, alone.stderr);
    assert.match(alone.stdout, /0 of 5 used/);
    assert.equal((await run('sk-nonsense', 'hello.json')).code, 1);
  });
});
