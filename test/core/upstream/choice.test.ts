/** Which client a gateway uses: its own, unless gateway.yaml asks for undici. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { fakeVendor } from '../../kit/fake-vendor.ts';
import { startGateway } from '../../kit/gateway.ts';

describe('the setting upstream.client', () => {
  for (const config of [{}, { upstream: {} }, { upstream: { client: 'own' } }, { upstream: { client: 'undici' } }]) {
    it(`serves calls with ${JSON.stringify(config)}`, async () => {
      const vendor = await fakeVendor();
      const gateway = await startGateway({ vendor, config });
      const answer = await gateway.chat({ model: 'free-model', messages: [{ role: 'user', content: 'hi' }] });
      assert.equal(answer.status, 200);
      await answer.arrayBuffer();
      // undici names the way the connection is to be used, although it is the usual one.
      const isUndici =
        config.upstream !== undefined && 'client' in config.upstream && config.upstream.client === 'undici';
      assert.equal(vendor.requests[0]!.headers.connection, isUndici ? 'keep-alive' : undefined);
      await gateway.stop();
      await vendor.close();
    });
  }

  it('does not change with a reload', async () => {
    const gateway = await startGateway();
    const written = parse(readFileSync(gateway.configFile, 'utf8')) as Record<string, unknown>;
    writeFileSync(gateway.configFile, stringify({ ...written, upstream: { client: 'undici' } }));
    await assert.rejects(gateway.gateway.reload(), /upstream\.client: changing this needs a restart/);
    await gateway.stop();
  });

  it('does not load undici unless it is needed', async () => {
    const loaded = `
      await import(${JSON.stringify(new URL('../../../core/gateway.ts', import.meta.url))});
      const { openUpstream } = await import(${JSON.stringify(new URL('../../../core/upstream.ts', import.meta.url))});
      const { systemClock } = await import(${JSON.stringify(new URL('../../../core/clock.ts', import.meta.url))});
      const { createRequire } = await import('node:module');
      const { cache } = createRequire(${JSON.stringify(import.meta.url)});
      for (const client of ['own', 'undici']) {
        await (await openUpstream(client, systemClock)).close();
        console.log(Object.keys(cache).some((file) => /[\\\\/]undici[\\\\/]/.test(file)));
      }`;
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--import',
      'tsx',
      '--input-type=module',
      '--eval',
      loaded,
    ]);
    assert.equal(stdout, 'false\ntrue\n');
  });
});
