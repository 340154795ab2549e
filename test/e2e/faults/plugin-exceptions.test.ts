/** A plugin that throws where nothing handles it: the process goes on, and the log names the plugin. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { defaultConfig } from '../../kit/gateway/gateway.ts';
import { type GatewayProcess, startProcess } from '../../kit/gateway/process.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { wholeAnswer } from '../../kit/vendors/script.ts';

/** What the word in the prompt asks for, in `admit` of a call that is otherwise well. */
const FAILING = `
import { definePlugin } from 'turnpike/plugin';

export default definePlugin({
  name: 'failing',
  api: 2,
  create: (host) => ({
    admit({ call }) {
      const text = call.body.bytes.toString();
      // A webhook that is down, without \`.catch\`.
      if (text.includes('fetch')) void host.fetch('http://127.0.0.1:2/');
      if (text.includes('reject')) void (async () => { throw new Error('a rejection of its own'); })();
      if (text.includes('timer')) setTimeout(() => { throw new Error('an exception in a timer'); }, 0);
      // Its stack says nothing about where it comes from.
      if (text.includes('unknown')) setTimeout(() => { throw Object.assign(new Error('of unknown origin'), { stack: 'Error' }); }, 0);
    },
  }),
});
`;

describe('a plugin that throws where nothing handles it', () => {
  let vendor: FakeVendor;
  let dir: string;
  let gateway: GatewayProcess;
  before(async () => {
    vendor = await fakeVendor();
    vendor.always(wholeAnswer());
    dir = mkdtempSync(join(tmpdir(), 'turnpike-exceptions-'));
    writeFileSync(join(dir, 'failing.ts'), FAILING);
    const config = defaultConfig([vendor]);
    const pipeline = [...(config.pipeline as readonly string[]), './failing.ts'];
    writeFileSync(
      join(dir, 'gateway.yaml'),
      stringify({ ...config, pipeline, listen: { host: '127.0.0.1', port: 0 } }),
    );
    gateway = await startProcess(join(dir, 'gateway.yaml'));
  });
  after(async () => {
    await gateway.kill();
    await vendor.close();
    rmSync(dir, { recursive: true, force: true });
  });

  async function call(word: string): Promise<number> {
    const key = String(gateway.log.find(({ msg }) => msg === 'first start')?.key);
    const { status, body } = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'test-model', messages: [{ role: 'user', content: word }] }),
    });
    await body?.cancel();
    return status;
  }

  for (const [word, reason, message] of [
    ['fetch', 'fetch failed', 'a promise was rejected, and nothing handles it'],
    ['reject', 'a rejection of its own', 'a promise was rejected, and nothing handles it'],
    ['timer', 'an exception in a timer', 'an exception was thrown, and nothing handles it'],
  ] as const) {
    it(`is named in the log, and calls go on: ${word}`, async () => {
      assert.equal(await call(word), 200);
      const line = await gateway.logged(({ error }) => (error as Error | undefined)?.message === reason);
      assert.deepEqual([line.level, line.msg, line.plugin], ['error', message, 'failing']);
      if (word !== 'fetch') assert.match(String(line.at), /failing\.ts:\d+$/);
      assert.equal(await call('nothing'), 200);
    });
  }

  it('ends the gateway after its calls, with exit code 1, if the exception may be of the gateway itself', async () => {
    assert.equal(await call('unknown'), 200);
    const { code, stderr } = await gateway.ended;
    assert.equal(code, 1);
    assert.match(stderr, /the gateway cannot continue: start it again.*of unknown origin/);
  });
});
