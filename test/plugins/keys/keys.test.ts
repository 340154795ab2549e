/** The plugin `keys`: secrets, lookups, what a key may be used for, and the command line. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Catalog } from '../../../core/contracts/catalog.ts';
import type { Holder } from '../../../core/contracts/identity.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import { Ledger } from '../../../core/contracts/ledger.ts';
import { aloneOf, type Peers } from '../../../core/contracts/peers.ts';
import { refuse, UsageError } from '../../../core/plugin.ts';
import { LATEST_MS } from '../../../core/sdk.ts';
import accounts from '../../../plugins/accounts/index.ts';
import { createHolders } from '../../../plugins/keys/holders.ts';
import keys from '../../../plugins/keys/index.ts';
import { hashOf, isWellFormed, newSecret } from '../../../plugins/keys/secret.ts';
import fc from '../../kit/fast-check.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { type Driven, exchange, type MemoryStore, verdict } from '../../kit/gateway/drive.ts';
import { createPeers, type TestPeers } from '../../kit/gateway/peers.ts';
import { driveWithLedger } from '../with-ledger.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const MODELS: Readonly<Record<string, string>> = {
  'gpt-4o': 'gpt-4o',
  'gpt-4o-mini': 'gpt-4o-mini',
  fast: 'gpt-4o-mini',
};
const catalog = {
  require: (name: string) => ({ name: MODELS[name] ?? refuse(404, 'model_not_found', name) }),
  names: () => Object.keys(MODELS),
  patterns: () => [],
  isOff: () => false,
  serves: (name: string) => name in MODELS,
  channel: () => undefined,
};

/** Accounts and keys, with one account that needs no hashed password. */
async function keysHost(store?: MemoryStore, peers?: Peers): Promise<Driven> {
  const host = await driveWithLedger([accounts, keys], {
    ...(store && { store }),
    ...(peers && { peers }),
    services: () => [[Catalog, catalog]],
  });
  host.store.db
    .prepare(
      `INSERT OR IGNORE INTO account (id, name, folded, role, enabled, created_ms) VALUES (1, 'root', 'root', 'root', 1, 0)`,
    )
    .run();
  return host;
}

const alone = () => ({ clock: fakeClock(), peers: aloneOf('test') });

const named = (name: string): Holder => ({ key: { name } }) as Holder;

const asked = { accountId: 1, name: 'k', allowance: undefined };

describe('a secret', () => {
  it('is sk- and 49 base62 characters, never the same', () => {
    const secrets = Array.from({ length: 200 }, newSecret);
    for (const secret of secrets) {
      assert.match(secret, /^sk-[0-9A-Za-z]{49}$/);
      assert.equal(isWellFormed(secret), true);
    }
    assert.equal(new Set(secrets).size, secrets.length);
  });

  it('is known to be misspelt, for every wrong character and every two neighbours exchanged, without asking the store', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const { secret } = await book.create(asked);
    const before = host.store.reads;
    const at = (i: number, text: string): string => secret.slice(0, i) + text + secret.slice(i + text.length);
    let tried = 0;
    for (let i = 0; i < secret.length; i++) {
      for (const character of `${BASE62}-_ é`) {
        if (character === secret[i]) continue;
        tried++;
        assert.equal(book.find(at(i, character)), undefined);
      }
      const neighbours = `${secret[i + 1] ?? ''}${secret[i]}`;
      if (neighbours.length === 2 && neighbours[0] !== neighbours[1]) {
        tried++;
        assert.equal(book.find(at(i, neighbours)), undefined);
      }
    }
    for (const text of [
      '',
      'sk-',
      secret.slice(0, -1),
      `${secret}a`,
      secret.slice(1),
      ` ${secret}`,
      'x'.repeat(10_000),
    ]) {
      assert.equal(book.find(text), undefined);
    }
    assert.ok(tried > 3_000);
    assert.equal(host.store.reads, before);
    assert.equal((await book.find(secret))?.key.name, 'k');
    assert.ok(host.store.reads > before);
  });

  it('misspelt by one character or two neighbours is never well-formed', () => {
    const place = fc.nat(51);
    fc.assert(
      fc.property(place, fc.constantFrom(...BASE62), fc.boolean(), (i, character, exchanged) => {
        const secret = newSecret();
        const wrong = exchanged
          ? secret.slice(0, i) + (secret[i + 1] ?? '') + secret[i] + secret.slice(i + 2)
          : secret.slice(0, i) + character + secret.slice(i + 1);
        assert.equal(isWellFormed(wrong), wrong === secret);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is stored nowhere: only its hash and eight of its characters are', async () => {
    const host = await keysHost();
    const { secret, key } = await host.use(Keys).create(asked);
    assert.equal(key.prefix, secret.slice(0, 7));
    assert.equal(key.suffix, secret.slice(-4));
    const row = host.store.db.prepare('SELECT * FROM api_key').get() as Record<string, unknown>;
    assert.equal(Buffer.from(row.hash as Uint8Array).toString('hex'), hashOf(secret));
    assert.ok(!JSON.stringify(row).includes(secret.slice(7, -4)));
  });
});

describe('a lookup', () => {
  it('is answered at once from memory, for five seconds beside other processes', () =>
    isRemembered(createPeers(2), 5_000));

  it('is answered at once from memory, for a minute in a process that serves alone', () =>
    isRemembered(createPeers(1), 60_000));

  it('is believed for five seconds from the moment on at which another process joins', async () => {
    const net = createPeers(1);
    const host = await keysHost(undefined, net.peers[0]);
    const book = host.use(Keys);
    const { secret } = await book.create(asked);
    await book.find(secret);
    host.clock.advance(5_001);
    assert.notEqual(await book.find(secret), undefined);
    assert.ok(!(book.find(secret) instanceof Promise));
    net.join();
    assert.ok(book.find(secret) instanceof Promise);
  });

  async function isRemembered(net: TestPeers, forMs: number): Promise<void> {
    const host = await keysHost(undefined, net.peers[0]);
    const book = host.use(Keys);
    const { secret } = await book.create(asked);
    const holder = await book.find(secret);
    assert.equal(holder?.account.name, 'root');
    const reads = host.store.reads;
    host.clock.advance(forMs);
    assert.equal(book.find(secret), holder);
    assert.equal(host.store.reads, reads);
    host.clock.advance(1);
    const asking = book.find(secret);
    assert.ok(asking instanceof Promise);
    assert.deepEqual(await asking, holder);
  }

  it('of many callers asks the store once, and remembers that a key is unknown', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const { secret } = await book.create(asked);
    const before = host.store.reads;
    const found = await Promise.all(Array.from({ length: 50 }, () => book.find(secret)));
    assert.equal(new Set(found).size, 1);
    // The key's row and its account's.
    assert.equal(host.store.reads - before, 2);
    const stranger = newSecret();
    await Promise.all(Array.from({ length: 50 }, () => book.find(stranger)));
    assert.equal(host.store.reads - before, 3);
    assert.equal(book.find(stranger), undefined);
    assert.equal(host.store.reads - before, 3);
    host.clock.advance(5_001);
    assert.ok(book.find(stranger) instanceof Promise);
  });

  it('that fails is asked again, not remembered', async () => {
    let failing = true;
    const holders = createHolders(alone(), async () => {
      if (failing) throw new Error('disk');
      return undefined;
    });
    await assert.rejects(async () => holders.find('a'), /disk/);
    failing = false;
    assert.equal(await holders.find('a'), undefined);
  });

  it('never takes one key for another, however much of their hashes agrees [T-AUTH-07]', async () => {
    const holders = createHolders(alone(), async (hash) => ({ holder: named(hash) }));
    const middles = fc.uniqueArray(fc.stringMatching(/^[0-9a-f]{32}$/), { minLength: 2, maxLength: 50 });
    await fc.assert(
      fc.asyncProperty(middles, async (some) => {
        const hashes = some.map((middle) => `0123456789abcdef${middle}0123456789abcdef`);
        for (const hash of hashes) await holders.find(hash);
        for (const hash of hashes) assert.equal((await holders.find(hash))?.key.name, hash);
      }),
    );
  });

  it('keeps the keys that work however many invented ones are tried', async () => {
    let asked = 0;
    const holders = createHolders(alone(), async (hash) => {
      asked++;
      return hash === 'good' ? { holder: named(hash) } : undefined;
    });
    await holders.find('good');
    for (let i = 0; i < 10_050; i++) await holders.find(`bad ${i}`);
    assert.equal(asked, 10_051);
    assert.notEqual(holders.find('good'), undefined);
    // Of the others only so many are remembered.
    await holders.find('bad 0');
    assert.equal(asked, 10_052);
  });
});

describe('a key', () => {
  it('is refused at the very next call after it was revoked [T-AUTH-07]', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const { secret, key } = await book.create(asked);
    assert.equal((await book.find(secret))?.key.id, key.id);
    assert.equal(await book.revoke(key.id), true);
    assert.equal(await book.find(secret), undefined);
    assert.equal(await book.revoke(key.id), false);
    assert.equal(await book.revoke(99), false);
    assert.deepEqual(await book.list(), []);
  });

  it('stays refused where it was revoked while a lookup was under way', async () => {
    const answers: ((loaded: { readonly holder: Holder } | undefined) => void)[] = [];
    const holders = createHolders(alone(), () => new Promise((resolve) => answers.push(resolve)));
    const before = holders.find('a');
    holders.forget('a');
    const after = holders.find('a');
    answers[1]!(undefined);
    assert.equal(await after, undefined);
    answers[0]!({ holder: named('a') });
    assert.notEqual(await before, undefined);
    assert.equal(holders.find('a'), undefined);
  });

  it('revoked by another process, whose message is lost, is refused after five seconds', async () => {
    const net = createPeers(2);
    const here = await keysHost(undefined, net.peers[0]);
    const there = await keysHost(here.store, net.peers[1]);
    net.hold(1);
    const { secret, key } = await here.use(Keys).create(asked);
    assert.notEqual(await here.use(Keys).find(secret), undefined);
    await there.use(Keys).revoke(key.id);
    here.clock.advance(5_001);
    assert.equal(await here.use(Keys).find(secret), undefined);
  });

  it('works as soon as it is made', async () => {
    const book = (await keysHost()).use(Keys);
    const made = await Promise.all([1, 2, 3].map(() => book.create(asked)));
    assert.deepEqual(made.map(({ key }) => key.id).sort(), [1, 2, 3]);
    for (const { secret, key } of made) assert.deepEqual((await book.find(secret))?.key, key);
    assert.deepEqual(
      (await book.list(1)).map((key) => key.id),
      [1, 2, 3],
    );
    assert.deepEqual(await book.list(2), []);
  });

  it('gets a bucket of what it may spend', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const some = await book.create({ ...asked, allowance: 5_000_000n });
    const all = await book.create(asked);
    const balance = (owner: number) => host.use(Ledger).balance({ kind: 'key', owner });
    assert.deepEqual(await balance(some.key.id), { granted: 5_000_000n, used: 0n, held: 0n, unlimited: false });
    assert.equal((await balance(all.key.id))?.unlimited, true);
  });

  it('is not made for nobody, without a name, or with restrictions that make no sense', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const tries = [
      [{ accountId: 7 }, '404 account_not_found'],
      [{ name: ' ' }, '400 invalid_name'],
      [{ name: 'x'.repeat(65) }, '400 invalid_name'],
      [{ models: [] }, '400 invalid_models'],
      [{ models: ['gpt-4'] }, '400 invalid_models'],
      [{ addresses: [] }, '400 invalid_addresses'],
      [{ addresses: [''] }, '400 invalid_addresses'],
      [{ addresses: ['10.0.0.5/8'] }, '400 invalid_addresses'],
      [{ addresses: ['10.0.0.0/33'] }, '400 invalid_addresses'],
    ] as const;
    for (const [part, expected] of tries) {
      assert.equal(await verdict(() => book.create({ ...asked, ...part })), expected, JSON.stringify(part));
    }
    assert.deepEqual(await book.list(), []);
  });

  it('whose account is gone is unknown', async () => {
    const host = await keysHost();
    const { secret } = await host.use(Keys).create(asked);
    host.store.db.exec('DELETE FROM account');
    assert.equal(await host.use(Keys).find(secret), undefined);
  });
});

describe('admitting a call', () => {
  async function admitting(restrictions: { models?: string[]; addresses?: string[] }) {
    const host = await keysHost();
    const book = host.use(Keys);
    const { secret } = await book.create({ ...asked, name: 'mine', ...restrictions });
    const identity = (await book.find(secret))!;
    const { enter, admit } = host.parts[1]!;
    const call = (model: string, more: object = {}) =>
      verdict(async () => {
        const x = exchange({ identity, call: { model } as never, ...more });
        await enter!(x);
        await admit!(x);
      });
    return { call, allows: (model: string) => book.allows(identity.key, model) };
  }

  it('lets a key without restrictions call anything from anywhere', async () => {
    const { call } = await admitting({});
    assert.equal(await call('gpt-4o'), 'ok');
    assert.equal(await call(''), 'ok');
  });

  it('refuses a model outside the scope, naming the model and the key', async () => {
    const { call, allows } = await admitting({ models: ['gpt-4o'] });
    assert.equal(await call('gpt-4o'), 'ok');
    assert.equal(await call('gpt-4o-mini'), '403 model_not_allowed');
    assert.equal(allows('gpt-4o-mini'), false);
    const host = await keysHost();
    const identity = { key: { name: 'mine', models: ['gpt-4o'] } } as unknown as Holder;
    assert.throws(
      () => host.parts[1]!.admit!(exchange({ identity, call: { model: 'fast' } as never })),
      /"mine" may not use the model "fast"/,
    );
  });

  it('knows the model behind an alias, and does not tell a stranger which models there are', async () => {
    const { call, allows } = await admitting({ models: ['gpt-4o-mini'] });
    assert.equal(await call('fast'), 'ok');
    assert.equal(allows('fast'), true);
    assert.equal(await call('no-such-model'), '403 model_not_allowed');
  });

  it('of an alias does not open the model for other names', async () => {
    const { call } = await admitting({ models: ['fast'] });
    assert.equal(await call('fast'), 'ok');
    assert.equal(await call('gpt-4o-mini'), '403 model_not_allowed');
  });

  it('carries bytes nobody looks into for a key without a scope only', async () => {
    const carried = { call: undefined as never, passthrough: { prefix: '/v1/batches' } };
    const scoped = await admitting({ models: ['gpt-4o'] });
    const free = await admitting({});
    assert.equal(await scoped.call('', carried), '403 model_not_allowed');
    assert.equal(await free.call('', carried), 'ok');
  });

  it('refuses an address outside the list, however it is written', async () => {
    const { call } = await admitting({ addresses: ['10.0.0.0/8', '2001:db8::7'] });
    for (const ip of ['10.1.2.3', '::ffff:10.1.2.3', '2001:db8:0::7']) assert.equal(await call('m', { ip }), 'ok', ip);
    for (const ip of ['11.1.2.3', '2001:db8::8', '', 'unknown']) {
      assert.equal(await call('m', { ip }), '403 ip_not_allowed', ip);
    }
  });
});

describe('the first start', () => {
  it('makes one key for root that may spend everything, and shows it once', async () => {
    const host = await keysHost();
    await host.start();
    const again = await keysHost(host.store);
    await again.start();
    assert.deepEqual(again.shown, []);
    assert.equal(host.shown.length, 1);
    const holder = await host.use(Keys).find(host.shown[0]!.key!);
    assert.deepEqual([holder?.key.name, holder?.account.name], ['first', 'root']);
    assert.equal((await host.use(Ledger).balance({ kind: 'key', owner: holder!.key.id }))?.unlimited, true);
  });

  it('makes one key where two gateways start at the same moment', async () => {
    const here = await keysHost();
    const there = await keysHost(here.store);
    await Promise.all([here.start(), there.start()]);
    assert.equal((await here.use(Keys).list()).length, 1);
    assert.equal([...here.shown, ...there.shown].length, 1);
  });

  it('is over once there was a key, even if none is left', async () => {
    const host = await keysHost();
    await host.start();
    await host.use(Keys).revoke(1);
    await host.start();
    assert.deepEqual(await host.use(Keys).list(), []);
    assert.equal(host.shown.length, 1);
  });
});

describe('the command line', () => {
  it('prints the key alone, made for root and without a limit of its own', async () => {
    const host = await keysHost();
    const secret = await host.run('key create', { name: 'ci' });
    const holder = await host.use(Keys).find(secret);
    assert.deepEqual([holder?.key.name, holder?.account.name, holder?.key.expiresMs], ['ci', 'root', undefined]);
    assert.equal((await host.use(Ledger).balance({ kind: 'key', owner: holder!.key.id }))?.unlimited, true);
  });

  it('makes a key that wants faithful translations, and says so in the list', async () => {
    const host = await keysHost();
    const strict = await host.run('key create', { name: 'exact', strict: true });
    const lax = await host.run('key create', { name: 'ci' });
    const book = host.use(Keys);
    assert.equal((await book.find(strict))?.key.strict, true);
    assert.equal((await book.find(lax))?.key.strict, false);
    const list = await host.run('key list');
    assert.match(list, /^ID .* STRICT$/m);
    assert.match(list, /^1 +exact .* yes$/m);
    assert.match(list, /^2 +ci .* no$/m);
    const records = JSON.parse(await host.run('key list', { json: true })) as readonly { readonly strict: boolean }[];
    assert.deepEqual(
      records.map((key) => key.strict),
      [true, false],
    );
  });

  it('makes a key with every restriction there is', async () => {
    const host = await keysHost();
    const secret = await host.run('key create', {
      name: 'ci',
      user: 'ROOT',
      quota: '12',
      models: 'gpt-4o, fast',
      ips: '10.0.0.0/8,2001:0DB8::1',
      expires: '30d',
    });
    const key = (await host.use(Keys).find(secret))!.key;
    assert.deepEqual(key.models, ['gpt-4o', 'fast']);
    assert.deepEqual(key.addresses, ['10.0.0.0/8', '2001:0DB8::1']);
    assert.equal(key.expiresMs, host.clock.now() + 30 * 86_400_000);
    assert.equal((await host.use(Ledger).balance({ kind: 'key', owner: key.id }))?.granted, 12_000_000n);
  });

  it('refuses a model that does not exist and names the nearest', async () => {
    const host = await keysHost();
    await assert.rejects(host.run('key create', { name: 'ci', models: 'gpt-4o,gpt4o-mini' }), /"gpt-4o-mini"/);
    assert.equal(await verdict(() => host.run('key create', { name: 'ci', models: '' })), '400 invalid_models');
    assert.equal(await verdict(() => host.run('key create', { name: 'ci', ips: '' })), '400 invalid_addresses');
    assert.equal(await verdict(() => host.run('key create', { name: 'ci', user: 'eve' })), '404 account_not_found');
  });

  it('refuses wrong usage', async () => {
    const host = await keysHost();
    const wrong = [
      {},
      { name: 'ci', quota: '12', unlimited: true },
      { name: 'ci', quota: '-1' },
      { name: 'ci', quota: '1.5' },
      { name: 'ci', quota: '1e3' },
      { name: 'ci', expires: 'soon' },
      { name: 'ci', expires: '30' },
      // What `/api` refuses: an expiry that is not in the future, or after the year 9999; more than a balance can be.
      { name: 'ci', expires: '0d' },
      { name: 'ci', expires: '99999999d' },
      { name: 'ci', quota: '4000000000001' },
    ];
    for (const values of wrong)
      await assert.rejects(host.run('key create', values), UsageError, JSON.stringify(values));
    for (const positionals of [[], ['first'], ['0'], ['1.5']]) {
      await assert.rejects(host.run('key revoke', {}, { positionals }), UsageError);
    }
    assert.deepEqual(await host.use(Keys).list(), []);
  });

  it('lists keys without anything that would open a door, and revokes them', async () => {
    const host = await keysHost();
    const secret = await host.run('key create', { name: 'ci', expires: '1d' });
    host.clock.advance(86_400_000);
    for (const output of [await host.run('key list'), await host.run('key list', { json: true })]) {
      assert.ok(output.includes(secret.slice(0, 7)) && output.includes(secret.slice(-4)));
      assert.ok(!output.includes(secret.slice(0, 12)) && !output.includes(hashOf(secret).slice(0, 12)));
    }
    assert.match(await host.run('key list'), /^1 +ci +root +sk-\S+ +expired +2026-01-02T/m);
    await host.run('key revoke', {}, { positionals: ['1'] });
    assert.equal(await host.use(Keys).find(secret), undefined);
    assert.equal(await verdict(() => host.run('key revoke', {}, { positionals: ['1'] })), '404 key_not_found');
    assert.equal(await host.run('key list', { json: true }), '[]');
  });

  it('accepts the latest expiry that /api accepts, and lists a key that an earlier version gave a later one', async () => {
    const host = await keysHost();
    const days = Math.floor((LATEST_MS - host.clock.now()) / 86_400_000);
    await host.run('key create', { name: 'long', expires: `${days}d`, quota: '4000000000000' });
    await assert.rejects(host.run('key create', { name: 'x', expires: `${days + 1}d` }), UsageError);
    await assert.rejects(
      host.run('key edit', { expires: `${days + 1}d` }, { positionals: ['1'] }),
      new UsageError(`--expires must be at most ${days}d, not "${days + 1}d"`),
    );
    host.store.db.prepare('UPDATE api_key SET expires_ms = 8640001767225600000').run();
    assert.match(await host.run('key list'), / 9999-12-31T23:59:59\.000Z /);
  });

  it('finds no account for a key that names none', async () => {
    const host = await driveWithLedger([accounts, keys]);
    assert.equal((await host.use(Accounts).list()).length, 0);
    assert.equal(await verdict(() => host.run('key create', { name: 'ci' })), '404 account_not_found');
  });
});
