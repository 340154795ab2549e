/** The plugin `keys`: keys that are changed, exchanged and searched, one or several at once. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Catalog } from '../../../core/contracts/catalog.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import { refuse } from '../../../core/plugin.ts';
import accounts from '../../../plugins/accounts/index.ts';
import keys from '../../../plugins/keys/index.ts';
import { type Driven, exchange, type MemoryStore, verdict } from '../../kit/gateway/drive.ts';
import { driveWithLedger } from '../with-ledger.ts';

const MODELS = ['large', 'small'];
const MINUTE = 60_000;

/** Accounts and keys, with the accounts 1 and 2; what is served can be changed. */
async function keysHost(store?: MemoryStore, models: string[] = [...MODELS]): Promise<Driven> {
  const catalog = {
    require: (name: string) => (models.includes(name) ? { name } : refuse(404, 'model_not_found', name)),
    names: () => models,
    patterns: () => [],
    isOff: () => false,
    serves: (name: string) => models.includes(name),
    channel: () => undefined,
  };
  const host = await driveWithLedger([accounts, keys], {
    ...(store && { store }),
    services: () => [[Catalog, catalog]],
  });
  host.store.db.exec(
    `INSERT OR IGNORE INTO account (id, name, folded, role, enabled, created_ms)
      VALUES (1, 'ann', 'ann', 'member', 1, 0), (2, 'bob', 'bob', 'member', 1, 0)`,
  );
  return host;
}

const asked = { accountId: 1, name: 'k', allowance: undefined };
/** A step that changes no row: the list it is in comes to nothing. */
const impossible = { sql: 'UPDATE account SET id = id WHERE id = 99', must: 'impossible' };

describe('a change', () => {
  it('changes what it names, leaves the rest, and is seen at the very next call', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const { secret, key } = await book.create({
      ...asked,
      models: ['large'],
      addresses: ['10.0.0.0/8'],
      expiresMs: host.clock.now() + 1_000,
    });
    assert.equal((await book.find(secret))?.key.enabled, true);

    const off = await book.change(1, key.id, { enabled: false });
    assert.deepEqual(off, { ...key, enabled: false });
    assert.deepEqual((await book.find(secret))?.key, off);

    const other = await book.change(1, key.id, { name: ' new ', models: null, addresses: null, expiresMs: null });
    assert.deepEqual(other, {
      ...off,
      name: 'new',
      scopeName: 'k',
      models: undefined,
      addresses: undefined,
      expiresMs: undefined,
    });
    assert.deepEqual((await book.find(secret))?.key, other);
    assert.deepEqual(await book.change(1, key.id, {}), other);
  });

  it('is refused as a new key would be, and for a key that is not theirs', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const { key } = await book.create(asked);
    const tries = [
      [{ name: '' }, '400 invalid_name'],
      [{ models: [] }, '400 invalid_models'],
      [{ models: ['none'] }, '400 invalid_models'],
      [{ addresses: [''] }, '400 invalid_addresses'],
    ] as const;
    for (const [changes, wanted] of tries) {
      assert.equal(await verdict(() => book.change(1, key.id, changes)), wanted, JSON.stringify(changes));
    }
    assert.equal(await verdict(() => book.change(2, key.id, { name: 'mine' })), '404 key_not_found');
    assert.equal(await verdict(() => book.change(1, 99, { name: 'mine' })), '404 key_not_found');
    assert.deepEqual(await book.get(1, key.id), key);
    assert.equal(await book.get(2, key.id), undefined);
  });

  it('keeps a model that is not served any more', async () => {
    const models = [...MODELS];
    const host = await keysHost(undefined, models);
    const book = host.use(Keys);
    const { key } = await book.create({ ...asked, models: ['large'] });
    models.splice(models.indexOf('large'), 1);
    assert.deepEqual((await book.change(1, key.id, { models: ['large', 'small'] })).models, ['large', 'small']);
    assert.equal(await verdict(() => book.create({ ...asked, models: ['large'] })), '400 invalid_models');
  });

  it('comes to nothing where what is written along does', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const { secret, key } = await book.create(asked);
    assert.equal(await verdict(() => book.change(1, key.id, { name: 'new' }, [impossible])), '409 conflict');
    assert.equal(await verdict(() => book.rotate(1, key.id, 0, [impossible])), '409 conflict');
    assert.equal(await verdict(() => book.revokeAll(1, [key.id], [impossible])), '409 conflict');
    assert.equal(await verdict(() => book.create(asked, () => [impossible])), '409 conflict');
    assert.deepEqual((await book.find(secret))?.key, key);
    assert.equal((await book.list(1)).length, 1);
  });
});

describe('a key that was exchanged', () => {
  it('works on for its grace and not a moment longer', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const before = await book.create(asked);
    assert.notEqual(await book.find(before.secret), undefined);
    const after = await book.rotate(1, before.key.id, 7_000);
    assert.notEqual(after.secret, before.secret);
    assert.equal(after.key.id, before.key.id);
    assert.deepEqual([after.key.prefix, after.key.suffix], [after.secret.slice(0, 7), after.secret.slice(-4)]);
    assert.deepEqual((await book.find(before.secret))?.key, after.key);
    assert.deepEqual((await book.find(after.secret))?.key, after.key);
    // Looked up again just before the end: what is remembered must not outlive it.
    host.clock.advance(6_999);
    assert.notEqual(await book.find(before.secret), undefined);
    host.clock.advance(1);
    assert.equal(await book.find(before.secret), undefined);
    assert.notEqual(await book.find(after.secret), undefined);
  });

  it('without a grace is refused at the very next call', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const { secret, key } = await book.create(asked);
    assert.notEqual(await book.find(secret), undefined);
    const next = await book.rotate(1, key.id, 0);
    assert.equal(await book.find(secret), undefined);
    assert.notEqual(await book.find(next.secret), undefined);
  });

  it('again ends those before it no later than itself', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const first = await book.create(asked);
    const second = await book.rotate(1, first.key.id, MINUTE);
    const third = await book.rotate(1, first.key.id, 1_000);
    for (const { secret } of [first, second, third]) assert.notEqual(await book.find(secret), undefined);
    host.clock.advance(1_000);
    for (const { secret } of [first, second]) assert.equal(await book.find(secret), undefined);
    assert.notEqual(await book.find(third.secret), undefined);
  });

  it('is revoked and disabled with the key', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const { secret, key } = await book.create(asked);
    const next = await book.rotate(1, key.id, MINUTE);
    await book.find(secret);
    await book.change(1, key.id, { enabled: false });
    assert.equal((await book.find(secret))?.key.enabled, false);
    assert.equal(await book.revokeAll(1, [key.id]), 1);
    assert.equal(await book.find(secret), undefined);
    assert.equal(await book.find(next.secret), undefined);
  });

  it('is nobody else to exchange', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const { secret, key } = await book.create(asked);
    for (const graceMs of [0, 1_000]) {
      assert.equal(await verdict(() => book.rotate(2, key.id, graceMs)), '404 key_not_found');
    }
    assert.notEqual(await book.find(secret), undefined);
    assert.equal(host.store.db.prepare('SELECT COUNT(*) AS n FROM former_secret').pluck().get(), 0);
  });

  it('is forgotten by the store once its grace is over', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    await host.start();
    const { key } = await book.create(asked);
    await book.rotate(1, key.id, 30_000);
    const left = (): unknown => host.store.db.prepare('SELECT COUNT(*) AS n FROM former_secret').pluck().get();
    assert.equal(left(), 1);
    host.clock.advance(MINUTE);
    await host.stop();
    assert.equal(left(), 0);
  });
});

describe('several keys', () => {
  it('are revoked together or not at all', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const mine = await Promise.all([1, 2].map(() => book.create(asked)));
    const theirs = await book.create({ ...asked, accountId: 2 });
    const ids = mine.map(({ key }) => key.id);
    for (const wrong of [theirs.key.id, 99]) assert.equal(await book.revokeAll(1, [...ids, wrong]), undefined);
    for (const { secret } of [...mine, theirs]) assert.notEqual(await book.find(secret), undefined);
    assert.equal(await book.revokeAll(1, [...ids, ...ids]), 2);
    for (const { secret } of mine) assert.equal(await book.find(secret), undefined);
    assert.notEqual(await book.find(theirs.secret), undefined);
    assert.equal(await book.revokeAll(1, ids), undefined);
  });

  it('of one account are ended by its steps', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const mine = await book.create(asked);
    const theirs = await book.create({ ...asked, accountId: 2 });
    for (const { secret } of [mine, theirs]) await book.find(secret);
    await host.store.atomic(book.revokeSteps(1));
    book.forget(1);
    assert.equal(await book.find(mine.secret), undefined);
    assert.notEqual(await book.find(theirs.secret), undefined);
  });

  it('are a thousand for one account at the most, also where many are made at once', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const insert = host.store.db.prepare(
      `INSERT INTO api_key (id, account_id, name, hash, prefix, suffix, enabled, created_ms) VALUES (?, 1, 'k', ?, '', '', 1, 0)`,
    );
    for (let id = 1; id <= 998; id++) insert.run(id, Buffer.from(`${id}`));
    const made = await Promise.all([1, 2, 3, 4].map(() => verdict(() => book.create(asked))));
    assert.deepEqual(made.sort(), ['409 too_many_keys', '409 too_many_keys', 'ok', 'ok']);
    assert.equal(await verdict(() => book.create({ ...asked, accountId: 2 })), 'ok');
    const buckets = `SELECT COUNT(*) FROM bucket WHERE kind = 'key'`;
    assert.equal(host.store.db.prepare(buckets).pluck().get(), 3);
    await book.revokeAll(1, [1]);
    assert.equal(await verdict(() => book.create(asked)), 'ok');
  });
});

describe('an account', () => {
  it('that is disabled has its keys refused at the very next call', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const { secret } = await book.create(asked);
    assert.equal((await book.find(secret))?.account.enabled, true);
    await host.use(Accounts).change(1, { enabled: false });
    assert.equal((await book.find(secret))?.account.enabled, false);
    await host.use(Accounts).change(1, { enabled: true });
    assert.equal((await book.find(secret))?.account.enabled, true);
  });

  it('has one default key, however many ask for it at once', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const wanted = { ...asked, name: 'default' };
    assert.equal(await book.default(1), undefined);
    const made = await Promise.all([1, 2, 3].map(() => book.createDefault(wanted)));
    const opened = made.filter((each) => each !== undefined);
    assert.equal(opened.length, 1);
    assert.deepEqual(await book.default(1), opened[0]?.key);
    assert.equal(await book.default(2), undefined);
    assert.equal((await book.list(1)).length, 1);
    // Where it was revoked there may be another.
    await book.revoke(opened[0]!.key.id);
    assert.equal(await book.default(1), undefined);
    assert.notEqual(await book.createDefault(wanted), undefined);
  });
});

describe('a search', () => {
  it('finds parts of names, whatever stands in them, and keys by their end; newest first, page by page', async () => {
    const host = await keysHost();
    const book = host.use(Keys);
    const made = [];
    for (const name of ['Plain', 'a%b', 'a_b', 'a\\b', 'axb']) made.push(await book.create({ ...asked, name }));
    await book.create({ ...asked, accountId: 2, name: 'plain too' });
    const names = async (search: object): Promise<readonly string[]> =>
      (await book.search({ accountId: 1, offset: 0, limit: 10, ...search })).items.map(({ name }) => name);

    assert.deepEqual(await names({}), ['axb', 'a\\b', 'a_b', 'a%b', 'Plain']);
    assert.deepEqual(await names({ offset: 1, limit: 2 }), ['a\\b', 'a_b']);
    assert.deepEqual(await names({ text: 'pLAIN' }), ['Plain']);
    assert.deepEqual(await names({ text: '%' }), ['a%b']);
    assert.deepEqual(await names({ text: '_' }), ['a_b']);
    assert.deepEqual(await names({ text: '\\' }), ['a\\b']);
    assert.deepEqual(await names({ text: '%%%%' }), []);
    assert.deepEqual(await names({ secret: made[2]!.secret }), ['a_b']);
    assert.deepEqual(await names({ secret: made[2]!.secret.slice(-4) }), ['a_b']);
    assert.deepEqual(await names({ secret: '%' }), []);
    const { total } = await book.search({ accountId: 1, text: 'b', offset: 0, limit: 1 });
    assert.equal(total, 4);
  });
});

describe('the last use', () => {
  async function used() {
    const host = await keysHost();
    await host.start();
    const book = host.use(Keys);
    const { secret, key } = await book.create(asked);
    const call = async (): Promise<void> => {
      const identity = (await book.find(secret))!;
      await host.parts[1]!.admit!(exchange({ identity, call: { model: 'large' } as never }));
    };
    const written = (): unknown =>
      host.store.db.prepare('SELECT used_ms FROM api_key WHERE id = ?').pluck().get(key.id);
    return { host, call, written, seen: async () => (await book.get(1, key.id))?.usedMs };
  }

  it('is known at once and written once a minute', async () => {
    const { host, call, written, seen } = await used();
    assert.equal(await seen(), undefined);
    const minute = host.clock.now() - (host.clock.now() % MINUTE);
    await call();
    await call();
    assert.equal(await seen(), minute);
    assert.equal(written(), null);
    host.clock.advance(MINUTE);
    await host.stop();
    assert.equal(written(), minute);
    assert.equal(await seen(), minute);
  });

  it('is written when the gateway stops, and never goes back', async () => {
    const { host, call, written } = await used();
    const later = host.clock.now() + 10 * MINUTE;
    host.store.db.prepare('UPDATE api_key SET used_ms = ?').run(later);
    await call();
    await host.stop();
    assert.equal(written(), later);
  });

  it('costs a call no statement', async () => {
    const { host, call } = await used();
    await call();
    const before = host.store.reads;
    const changes = (): unknown => host.store.db.prepare('SELECT total_changes()').pluck().get();
    const written = changes();
    for (let i = 0; i < 100; i++) await call();
    assert.deepEqual([host.store.reads, changes()], [before, written]);
  });
});
