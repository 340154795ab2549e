/** The section `counters`: addresses of a server, and what `check` says of them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { stringify } from 'yaml';
import { describeAssembly } from '../../../core/cli/check.ts';
import { readAddress } from '../../../plugins/counters/valkey/address.ts';
import { defaultConfig } from '../../kit/gateway/gateway.ts';

/** What `turnpike check` says of a section, or its mistakes. */
async function check(counters: object | undefined, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-test-'));
  try {
    const file = join(dir, 'gateway.yaml');
    writeFileSync(file, stringify({ ...defaultConfig([]), ...(counters && { counters }) }));
    return await describeAssembly(file, env);
  } catch (error) {
    return (error as Error).message;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

describe('the address of a Valkey server', () => {
  it('has a host, and what else is needed to sign in there', () => {
    assert.deepEqual(readAddress('valkey://cache'), {
      url: 'redis://cache',
      tlsName: undefined,
      password: '',
      database: 0,
      name: 'cache:6379',
    });
    assert.deepEqual(readAddress('rediss://ann:p%40ss%2Fword@cache.example.com:7000/2'), {
      url: 'rediss://ann:p%40ss%2Fword@cache.example.com:7000/2',
      tlsName: 'cache.example.com',
      password: 'p@ss/word',
      database: 2,
      name: 'cache.example.com:7000',
    });
    assert.deepEqual(readAddress('valkeys://:secret@[::1]:6380/'), {
      url: 'rediss://:secret@[::1]:6380/',
      tlsName: undefined,
      password: 'secret',
      database: 0,
      name: '[::1]:6380',
    });
    assert.equal(readAddress('redis://:secret@127.0.0.1')?.tlsName, undefined);
  });

  it('is none without a host, of another scheme, or with what it cannot say', () => {
    for (const address of [
      '',
      'cache:6379',
      'valkey://',
      'http://cache:6379',
      'valkey://cache/first',
      'valkey://cache/1/2',
      'valkey://cache?tls=true',
      'valkey://:%ff@cache',
    ])
      assert.equal(readAddress(address), undefined, address);
  });
});

describe('the section counters', () => {
  const CANARY = 'canary-4c1e9a70';

  it('may be left out', async () => {
    const text = await check(undefined);
    assert.match(text, /^models +1 model/m);
    assert.doesNotMatch(text, /^counters/m);
  });

  it('names the server and nothing secret of its address', async () => {
    const text = await check(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: gateway.yaml fills it in
      { driver: 'valkey', url: '${CACHE}' },
      { CACHE: `valkeys://ann:${CANARY}@cache.example.com/2` },
    );
    assert.match(text, /counted on the server cache\.example\.com:6379, database 2, under turnpike:/);
    assert.doesNotMatch(text, new RegExp(CANARY));
  });

  it('is wrong if there is no address, or one that is none, and does not repeat it', async () => {
    for (const url of ['', `valkey://:${CANARY}@cache/first`, `http://:${CANARY}@cache`, `${CANARY}@cache`]) {
      const text = await check({ driver: 'valkey', url });
      assert.match(text, /counters\.url/, url);
      assert.match(text, /valkeys:\/\/cache\.example\.com:6379\/0/, url);
      assert.doesNotMatch(text, new RegExp(CANARY), url);
    }
    assert.match(await check({ driver: 'valkey' }), /counters\.url/);
  });
});
