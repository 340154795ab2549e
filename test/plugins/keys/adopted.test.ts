/** Keys whose secret another gateway created: they call like others, and cost nothing where there are none. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Keys } from '../../../core/contracts/keys.ts';
import type { Peers } from '../../../core/contracts/peers.ts';
import accounts from '../../../plugins/accounts/index.ts';
import keys from '../../../plugins/keys/index.ts';
import { hashOf } from '../../../plugins/keys/secret.ts';
import { type Driven, type MemoryStore, verdict } from '../../kit/gateway/drive.ts';
import { createPeers } from '../../kit/gateway/peers.ts';
import { driveWithLedger } from '../with-ledger.ts';

const FOREIGN = 'sk-1234';
/** As long as a secret of our own, without its check characters. */
const LONG = `sk-${'x'.repeat(49)}`;
const secretOf = (secret: string) => ({ hash: hashOf(secret), prefix: 'sk-', suffix: secret.slice(-4) });
const asked = { accountId: 1, name: 'old', allowance: undefined };

async function started(store?: MemoryStore, peers?: Peers): Promise<Driven> {
  const host = await driveWithLedger([accounts, keys], { ...(store && { store }), ...(peers && { peers }) });
  // An account whose password need not be hashed.
  host.store.db
    .prepare(
      `INSERT OR IGNORE INTO account (id, name, folded, role, enabled, created_ms) VALUES (1, 'root', 'root', 'root', 1, 0)`,
    )
    .run();
  await host.start();
  return host;
}

describe('a key of another gateway', () => {
  it('works at once, also if it was tried before, and after the next start', async () => {
    const host = await started();
    const book = host.use(Keys);
    for (const secret of [FOREIGN, LONG]) {
      assert.equal(await book.find(secret), undefined);
      const key = await book.adopt(asked, secretOf(secret));
      assert.equal((await book.find(secret))?.key.id, key!.id);
      assert.equal(key!.suffix, secret.slice(-4));
    }
    const again = (await started(host.store)).use(Keys);
    for (const secret of [FOREIGN, LONG]) assert.equal((await again.find(secret))?.key.name, 'old');
    assert.equal(await again.find('sk-12345'), undefined);
  });

  it('costs no lookup for malformed keys as long as there is none', async () => {
    const host = await started();
    const before = host.store.reads;
    for (const secret of [FOREIGN, LONG, 'sk-', 'x'.repeat(52)]) assert.equal(host.use(Keys).find(secret), undefined);
    assert.equal(host.store.reads, before);
  });

  it('is created once: not with the secret of another key, or of one that was revoked', async () => {
    const book = (await started()).use(Keys);
    const own = await book.create(asked);
    assert.equal(await book.adopt(asked, secretOf(own.secret)), undefined);
    const key = await book.adopt(asked, secretOf(FOREIGN));
    assert.equal(await book.adopt(asked, secretOf(FOREIGN)), undefined);
    await book.revoke(key!.id);
    assert.equal(await book.find(FOREIGN), undefined);
    assert.equal(await book.adopt(asked, secretOf(FOREIGN)), undefined);
  });

  it('may name models that do not exist yet, but no invalid network', async () => {
    const book = (await started()).use(Keys);
    const key = await book.adopt({ ...asked, models: ['later'] }, secretOf(FOREIGN));
    assert.deepEqual(key!.models, ['later']);
    const wrong = () => book.adopt({ ...asked, addresses: ['example.com'] }, secretOf(LONG));
    assert.equal(await verdict(wrong), '400 invalid_addresses');
  });

  it('works in another process when its message arrives, and after a minute if that is lost', async () => {
    for (const isLost of [false, true]) {
      const net = createPeers(2);
      const here = await started(undefined, net.peers[0]);
      const there = await started(here.store, net.peers[1]);
      assert.equal(await there.use(Keys).find(FOREIGN), undefined);
      if (isLost) net.hold(1);
      await here.use(Keys).adopt(asked, secretOf(FOREIGN));
      if (isLost) {
        assert.equal(await there.use(Keys).find(FOREIGN), undefined);
        there.clock.advance(60_001);
      }
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      assert.equal((await there.use(Keys).find(FOREIGN))?.key.name, 'old');
    }
  });
});
