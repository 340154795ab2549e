/** The audit log: entries that go with what they tell of, a chain that shows every change, no secrets. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type Actor, Audit } from '../../../core/contracts/audit.ts';
import { aloneOf } from '../../../core/contracts/peers.ts';
import type { Log, OpenStore, Parts } from '../../../core/plugin.ts';
import { migrate, openStore } from '../../../core/store/migrations.ts';
import { createAudit } from '../../../plugins/audit/audit.ts';
import { verifyChain } from '../../../plugins/audit/chain.ts';
import plugin from '../../../plugins/audit/index.ts';
import { Database } from '../../../plugins/stores/sqlite/binding.ts';
import sqlite from '../../../plugins/stores/sqlite/index.ts';
import { type Driven, drive, type MemoryStore, memoryStore, verdict } from '../../kit/gateway/drive.ts';

const ann: Actor = { accountId: 7, name: 'ann', ip: '192.0.2.7' };
const nobody: Actor = { accountId: undefined, name: '', ip: '' };
const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };

async function driven(store: MemoryStore = memoryStore()): Promise<{ audit: Audit; store: MemoryStore; it: Driven }> {
  const it = await drive([plugin], { store });
  await it.start();
  return { audit: it.use(Audit), store, it };
}

/** Some entries, and the triggers gone, as for somebody who has the file. */
async function tampered(entries: number) {
  const { audit, store, it } = await driven();
  for (let i = 1; i <= entries; i++) {
    it.clock.advance(1_000);
    await audit.note({ actor: ann, action: 'key.rotate', object: `key ${i}`, facts: { i } });
  }
  for (const trigger of ['audit_is_not_changed', 'audit_is_not_deleted', 'audit_head_only_grows', 'audit_head_stays']) {
    store.db.exec(`DROP TRIGGER ${trigger}`);
  }
  return { audit, store, it };
}

const brokenAt = async (store: MemoryStore): Promise<number | undefined> => (await verifyChain(store)).broken?.seq;

describe('the audit log', () => {
  it('tells what happened, newest first, by who, by what and by when', async () => {
    const { audit, it } = await driven();
    const start = it.clock.now();
    await audit.note({ actor: ann, action: 'user.role', object: 'user 8', facts: { from: 'member', to: 'admin' } });
    it.clock.advance(1_000);
    await audit.note({ actor: nobody, action: 'sign-in.failed', object: '' });
    it.clock.advance(1_000);
    await audit.note({ actor: { ...ann, name: 'bob' }, action: 'user', object: 'user 9' });
    const all = await audit.page({ limit: 10 });
    assert.deepEqual(
      all.map(({ seq, atMs, action }) => [seq, atMs - start, action]),
      [
        [3, 2_000, 'user'],
        [2, 1_000, 'sign-in.failed'],
        [1, 0, 'user.role'],
      ],
    );
    assert.deepEqual(
      { ...all[2], hash: '' },
      {
        seq: 1,
        atMs: start,
        actor: ann,
        action: 'user.role',
        object: 'user 8',
        facts: { from: 'member', to: 'admin' },
        hash: '',
      },
    );
    assert.match(all[2]!.hash, /^[0-9a-f]{64}$/);
    assert.equal(all[1]!.actor.accountId, undefined);
    const seqs = async (of: Omit<Parameters<Audit['page']>[0], 'limit'>): Promise<number[]> =>
      (await audit.page({ limit: 10, ...of })).map(({ seq }) => seq);
    assert.deepEqual(await seqs({ before: 3 }), [2, 1]);
    assert.deepEqual(await seqs({ actor: 'ann' }), [1]);
    assert.deepEqual(await seqs({ action: 'user' }), [3, 1]);
    assert.deepEqual(await seqs({ action: 'user.role' }), [1]);
    assert.deepEqual(await seqs({ action: 'sign' }), []);
    assert.deepEqual(await seqs({ fromMs: start + 1_000, untilMs: start + 2_000 }), [2]);
    assert.deepEqual((await audit.page({ limit: 1 })).length, 1);
    assert.equal(await audit.count(), 3);
  });

  it('writes an entry with what it tells of, or neither', async () => {
    const { audit, store } = await driven();
    store.db.exec('CREATE TABLE purse (id INTEGER PRIMARY KEY)');
    const steps = audit.steps({ actor: ann, action: 'purse.create', object: 'purse 1' });
    const create = { sql: 'INSERT INTO purse (id) VALUES (1) ON CONFLICT DO NOTHING', must: 'there' };
    assert.equal(await store.atomic([...steps, create]), undefined);
    assert.equal(await store.atomic([...steps, create]), 'there');
    assert.equal(await audit.count(), 1);
    assert.equal((await verifyChain(store)).broken, undefined);
  });

  it('cannot be changed or shortened by a statement', async () => {
    const { audit, store } = await driven();
    await audit.note({ actor: ann, action: 'a.b', object: '' });
    for (const sql of [
      `UPDATE audit SET actor = 'bob'`,
      'DELETE FROM audit',
      'DELETE FROM audit_head',
      `UPDATE audit_head SET hash = ''`,
      'UPDATE audit_head SET seq = 0',
    ]) {
      await assert.rejects(store.run(sql), /append-only/, sql);
    }
    assert.equal((await verifyChain(store)).broken, undefined);
  });

  it('shows a change of any column of any entry', async () => {
    const { store } = await tampered(3);
    const columns = store.db.prepare('SELECT name FROM pragma_table_info(?)').pluck().all('audit') as string[];
    assert.ok(columns.length >= 9, `${columns}`);
    for (const column of columns) {
      for (const seq of [1, 2, 3]) {
        const was = store.db.prepare(`SELECT ${column} AS v FROM audit WHERE seq = ?`).get(seq) as { v: unknown };
        const next = column === 'seq' ? 17 : typeof was.v === 'number' ? was.v + 1 : `${was.v}0`;
        store.db.prepare(`UPDATE audit SET ${column} = ? WHERE seq = ?`).run(next, seq);
        assert.equal(await brokenAt(store), seq, `${column} of ${seq}`);
        const now = column === 'seq' ? 17 : seq;
        store.db.prepare(`UPDATE audit SET ${column} = ? WHERE seq = ?`).run(was.v, now);
        assert.equal(await brokenAt(store), undefined);
      }
    }
  });

  it('shows an entry that was moved from one text to its neighbour', async () => {
    const { audit, store } = await tampered(0);
    await audit.note({ actor: { ...ann, name: 'ann', ip: 'x' }, action: 'ab', object: 'c' });
    store.db.exec(`UPDATE audit SET action = 'a', object = 'bc'`);
    assert.equal(await brokenAt(store), 1);
  });

  it('shows entries that were removed, at the beginning, in the middle, at the end, all of them', async () => {
    for (const [gone, seq] of [
      ['seq = 1', 1],
      ['seq = 3', 3],
      ['seq IN (2, 3)', 2],
      ['seq = 5', 5],
      ['seq > 0', 1],
    ] as const) {
      const { store } = await tampered(5);
      store.db.exec(`DELETE FROM audit WHERE ${gone}`);
      assert.equal(await brokenAt(store), seq, gone);
    }
  });

  it('shows entries that were exchanged, closed up or put in', async () => {
    const exchange = [
      'UPDATE audit SET seq = 99 WHERE seq = 2',
      'UPDATE audit SET seq = 2 WHERE seq = 3',
      'UPDATE audit SET seq = 3 WHERE seq = 99',
    ];
    const closeUp = ['DELETE FROM audit WHERE seq = 2', 'UPDATE audit SET seq = seq - 1 WHERE seq > 2'];
    const insert = (seq: number): string =>
      `INSERT INTO audit SELECT ${seq}, at_ms, actor_id, actor, ip, action, object, facts, hash FROM audit WHERE seq = 1`;
    for (const [statements, seq] of [
      [exchange, 2],
      [closeUp, 2],
      [[insert(6)], 6],
      [[insert(0)], 0],
      [[insert(6), 'UPDATE audit_head SET seq = 6, hash = (SELECT hash FROM audit WHERE seq = 6)'], 6],
      [[`UPDATE audit_head SET hash = '${'f'.repeat(64)}'`], 5],
      [['UPDATE audit_head SET seq = 4', 'DELETE FROM audit WHERE seq = 5'], 4],
    ] as const) {
      const { store } = await tampered(5);
      for (const sql of statements) store.db.exec(sql);
      assert.equal(await brokenAt(store), seq, statements.join('; '));
    }
  });

  it('shows a chain that was made anew, to whoever kept a head of it', async () => {
    const { it } = await tampered(3);
    const said = await it.run('audit verify');
    const [, head = ''] = /head (3:[0-9a-f]{64})/.exec(said) ?? [];
    assert.match(said, /^3 entries/);
    const anew = await driven();
    for (let i = 1; i <= 4; i++) await anew.audit.note({ actor: nobody, action: 'nothing.happened', object: '' });
    assert.match(await anew.it.run('audit verify'), /^4 entries/);
    assert.equal(await verdict(() => anew.it.run('audit verify', { head })), '409 audit_broken');
    assert.match(await it.run('audit verify', { head }), /^3 entries/);
    const later = head.replace(/^3/, '9');
    assert.equal(await verdict(() => it.run('audit verify', { head: later })), '409 audit_broken');
    await assert.rejects(it.run('audit verify', { head: '3' }), /SEQ:HASH/);
  });

  it('names the first broken entry, in the command and in the books', async () => {
    const { store, it } = await tampered(3);
    store.db.exec(`UPDATE audit SET actor = 'bob' WHERE seq = 2`);
    await assert.rejects(it.run('audit verify'), /broken at entry 2: it or an earlier entry was changed/);
    const [invariant] = it.parts[0]?.invariants ?? [];
    assert.equal(invariant?.name, 'audit-chain-is-whole');
    assert.deepEqual(await invariant?.check(store), ['entry 2: it or an earlier entry was changed']);
  });

  it('fails what has to be audited where the log is lost, and lets the gateway start all the same', async () => {
    const { audit, store, it } = await tampered(1);
    store.db.exec('DELETE FROM audit_head');
    await assert.rejects(audit.note({ actor: ann, action: 'a.b', object: '' }), /could not be written/);
    await assert.rejects(it.run('audit verify'), /head of the audit log is missing/);
    const again = await drive([plugin], { store });
    await again.start();
    await again.stop();
  });

  it('keeps whatever somebody types, exactly as it hashes', async () => {
    const { audit, store } = await driven();
    for (const text of ['', 'ä漢🙂', 'half \ud83d', 'a\u0000b', '","', '\\', 'x'.repeat(5_000), '🙂'.repeat(150)]) {
      await audit.note({ actor: { ...ann, name: text }, action: `a.${text}`, object: text, facts: { [text]: text } });
      assert.equal((await verifyChain(store)).broken, undefined, JSON.stringify(text).slice(0, 30));
    }
    const [entry] = await audit.page({ limit: 1 });
    assert.ok(entry!.object.length <= 200, `${entry!.object.length}`);
  });

  it('holds no secret that somebody hands in by mistake', async () => {
    const { audit, store } = await driven();
    const canary = 'canary-7f3a';
    const key = `sk-${'Ab3'.repeat(16)}`;
    const sealed = `v1.0123456789abcdef.${'Zz9'.repeat(20)}`;
    await audit.note({
      actor: { ...ann, name: `my key is ${key}` },
      action: 'key.create',
      object: `${'x'.repeat(190)} ${key}`,
      facts: {
        password: canary,
        newPassword: canary,
        original_password: canary,
        clientSecret: canary,
        key: canary,
        code: canary,
        token: canary,
        nested: { list: [{ cookie: canary, authorization: `Bearer ${canary}`, backup_codes: canary }] },
        text: `it was ${key}`,
        sealed,
      },
    });
    const rows = JSON.stringify(store.db.prepare('SELECT * FROM audit').all());
    for (const secret of [canary, key, key.slice(0, 12), sealed]) {
      assert.ok(!rows.includes(secret), `${secret} is in ${rows}`);
    }
    assert.match(rows, /\[secret\]/);
  });

  it('cuts facts that are endless', async () => {
    const { audit } = await driven();
    const list = Array.from({ length: 100_000 }, (_, i) => i);
    const deep = JSON.parse(`${'[1,'.repeat(500)}2${']'.repeat(500)}`);
    await audit.note({ actor: ann, action: 'a.b', object: '', facts: { list, deep } });
    const [entry] = await audit.page({ limit: 1 });
    assert.ok(JSON.stringify(entry!.facts).length < 5_000, 'they are short');
  });
});

describe('the audit log in the store that ships', () => {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-audit-'));
  const file = join(dir, 'turnpike.db');
  let store: OpenStore | undefined;
  after(async () => {
    await store?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it('chains entries of a thousand lists at once, those that fail among them', async () => {
    store = await openStore({ driver: sqlite, file, log: silent });
    await migrate(store, [plugin]);
    const clock = { now: () => 1 } as never;
    const audit = createAudit({ store, clock, log: silent } as never);
    const fails = { sql: 'UPDATE audit_head SET seq = seq + 1 WHERE one = 2', must: 'never' };
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, (_, i) => {
        const event = { actor: ann, action: 'a.b', object: `${i}`, facts: { i } };
        return i % 4 === 3
          ? store!.atomic([...audit.steps(event), fails], i % 8 === 3 ? 'ran' : 'durable')
          : audit.note(event);
      }),
    );
    assert.equal(answers.filter((answer) => answer === 'never').length, 250);
    const { seq, broken } = await store.snapshot((reader) => verifyChain(reader));
    assert.deepEqual({ seq, broken }, { seq: 750, broken: undefined });
    const objects = (await audit.page({ limit: 1_000 })).map(({ object }) => object);
    assert.equal(new Set(objects).size, 750);
    await store.close();
    // Somebody else's hand in the file.
    const db = new Database(file);
    db.exec('DROP TRIGGER audit_is_not_changed');
    db.exec(`UPDATE audit SET facts = '{}' WHERE seq = 400`);
    db.close();
    store = await openStore({ driver: sqlite, file, log: silent });
    assert.equal((await verifyChain(store)).broken?.seq, 400);
  });

  it('logs its head once a day, and that is a head to verify with', async () => {
    const lines: { message: string; facts: Readonly<Record<string, unknown>> | undefined }[] = [];
    const memory = await driven();
    await memory.audit.note({ actor: ann, action: 'a.b', object: '' });
    const told = { day: -1 };
    const info = (message: string, facts?: Readonly<Record<string, unknown>>): void =>
      void lines.push({ message, facts });
    const parts: Parts = await plugin.create(
      {
        store: memory.store,
        clock: memory.it.clock,
        log: { ...silent, info },
        peers: aloneOf('test'),
        provide() {},
        lasting: () => told,
      } as never,
      {},
    );
    await parts.start?.();
    assert.equal(lines.length, 1);
    const head = String(lines[0]?.facts?.head);
    assert.match(await memory.it.run('audit verify', { head }), /^1 entries/);
    for (let hour = 0; hour < 48; hour++) {
      memory.it.clock.advance(3_600_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(lines.length, 3);
    await parts.stop?.();
  });
});
