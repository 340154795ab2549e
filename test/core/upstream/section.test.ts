/** The section `upstream` of gateway.yaml: it may be empty, and `client`, which is gone, is reported; what a start does not load. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { startGateway } from '../../kit/gateway/gateway.ts';
import { fakeVendor } from '../../kit/vendors/fake-vendor.ts';

describe('the section upstream', () => {
  it('may be empty; calls have no header `connection`', async () => {
    const vendor = await fakeVendor();
    const gateway = await startGateway({ vendor, config: { upstream: {} } });
    const answer = await gateway.chat({ model: 'free-model', messages: [{ role: 'user', content: 'hi' }] });
    assert.equal(answer.status, 200);
    await answer.arrayBuffer();
    assert.equal(vendor.requests[0]!.headers.connection, undefined);
    await gateway.stop();
    await vendor.close();
  });

  const gone = /:\d+:\d+: upstream\.client: this option is gone, because there is only one HTTP client; remove it/;

  for (const client of ['own', 'undici', null]) {
    it(`is refused with the client ${client} at a start`, async () => {
      await assert.rejects(startGateway({ config: { upstream: { client } } }), gone);
    });
  }

  it('is refused with a client at a reload', async () => {
    const gateway = await startGateway();
    const written = parse(readFileSync(gateway.configFile, 'utf8')) as Record<string, unknown>;
    writeFileSync(gateway.configFile, stringify({ ...written, upstream: { client: 'own' } }));
    await assert.rejects(gateway.gateway.reload(), gone);
    await gateway.stop();
  });
});

it('undici is not loaded before something needs it', async () => {
  const loaded = `
    await import(${JSON.stringify(new URL('../../../core/gateway/gateway.ts', import.meta.url))});
    const { createRequire } = await import('node:module');
    const { cache } = createRequire(${JSON.stringify(import.meta.url)});
    const isLoaded = () => Object.keys(cache).some((file) => /[\\\\/]undici[\\\\/]/.test(file));
    console.log(isLoaded());
    await import('undici');
    console.log(isLoaded());`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--import',
    'tsx',
    '--input-type=module',
    '--eval',
    loaded,
  ]);
  assert.equal(stdout, 'false\ntrue\n');
});
