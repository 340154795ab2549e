/** What plugins keep in memory, in several processes on one store: a change in one of them is known to the others at once. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Accounts, type Person } from '../../core/contracts/accounts.ts';
import { Catalog } from '../../core/contracts/catalog.ts';
import { Departments } from '../../core/contracts/departments.ts';
import type { Holder } from '../../core/contracts/identity.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { type Balance, Ledger, MICRO } from '../../core/contracts/ledger.ts';
import { type Letter, Mail } from '../../core/contracts/mail.ts';
import { Records } from '../../core/contracts/records.ts';
import type { Known, Plugin, Sections, Service } from '../../core/plugin.ts';
import accounts from '../../plugins/accounts/index.ts';
import audit from '../../plugins/audit/index.ts';
import departments from '../../plugins/departments/index.ts';
import keys from '../../plugins/keys/index.ts';
import log from '../../plugins/log/index.ts';
import notices from '../../plugins/notices/index.ts';
import { fakeClock } from '../kit/gateway/clock.ts';
import { type Driven, drive, exchange, memoryStore } from '../kit/gateway/drive.ts';
import { createPeers } from '../kit/gateway/peers.ts';
import { idAt } from '../kit/gateway/usage-records.ts';
import { driveWithLedger } from './with-ledger.ts';

/** What was told has been heard, and what followed from it has been done. */
async function heard(): Promise<void> {
  for (let i = 0; i < 10; i++) await setImmediate();
}

/** Some plugins in an owner and its workers, on one store. */
async function processes(
  plugins: readonly Plugin<Sections>[],
  options: {
    readonly count?: number;
    readonly sections?: Readonly<Record<string, unknown>>;
    /** Stand-ins of the process with that number. */
    readonly services?: (i: number) => readonly (readonly [Service<unknown>, unknown])[];
    readonly with?: typeof drive | typeof driveWithLedger;
  } = {},
) {
  const { count = 2, services = () => [], sections = {} } = options;
  const clock = fakeClock();
  const kit = createPeers(count, { clock, isOwned: true });
  const store = memoryStore();
  const all: Driven[] = [];
  for (const [i, peers] of kit.peers.entries()) {
    const make = options.with ?? drive;
    const host = await make(plugins as never, { store, clock, peers, sections, services: () => services(i) });
    await host.start();
    all.push(host);
  }
  const [owner, worker] = all as [Driven, Driven];
  return { clock, kit, store, all, owner, worker };
}

const MODELS = ['a', 'b'];
const catalog = {
  require: (name: string) => ({ name }),
  names: () => MODELS,
  patterns: () => [],
  isOff: () => false,
  serves: (name: string) => MODELS.includes(name),
  channel: () => undefined,
};

/** An owner and two workers that all know the key of an account. */
async function withKey() {
  const made = await processes([accounts, keys, departments], {
    count: 3,
    services: () => [[Catalog, catalog]],
    with: driveWithLedger,
  });
  const person = await made.owner.use(Accounts).create({ name: 'ann', role: 'member', password: undefined } as never);
  const { secret, key } = await made.owner.use(Keys).create({ accountId: person.id, name: 'k', allowance: undefined });
  const find = (host: Driven) => host.use(Keys).find(secret);
  for (const host of made.all) assert.equal((await find(host))?.key.id, key.id);
  for (const host of made.all) assert.ok(!(find(host) instanceof Promise), 'it is remembered');
  return { ...made, person, secret, key, find };
}

describe('keys in several processes', () => {
  it('are refused by all at once when one process has revoked them', async () => {
    const { owner, all, key, find } = await withKey();
    await owner.use(Keys).revoke(key.id);
    await heard();
    for (const host of all) assert.equal(await find(host), undefined);
  });

  it('are refused by all when they were revoked together, or with their account', async () => {
    const { owner, all, key, person, find } = await withKey();
    await owner.use(Keys).revokeAll(person.id, [key.id]);
    await heard();
    for (const host of all) assert.equal(await find(host), undefined);
    const second = await withKey();
    const book = second.owner.use(Keys);
    await second.store.atomic(book.revokeSteps(second.person.id));
    book.forget(second.person.id);
    await heard();
    for (const host of second.all) assert.equal(await second.find(host), undefined);
  });

  it('have their new scope, and their new secret, in all', async () => {
    const { owner, all, key, person, find } = await withKey();
    await owner.use(Keys).change(person.id, key.id, { models: ['b'] });
    await heard();
    for (const host of all) assert.deepEqual((await find(host))?.key.models, ['b']);
    await owner.use(Keys).rotate(person.id, key.id, 0);
    await heard();
    for (const host of all) assert.equal(await find(host), undefined);
  });

  it('are known to be of a disabled account in all', async () => {
    const { owner, all, person, find } = await withKey();
    await owner.use(Accounts).change(person.id, { enabled: false });
    await heard();
    for (const host of all) assert.equal((await find(host))?.account.enabled, false);
  });

  it('are seen to be used at once in the owner, and told of once a minute', async () => {
    const { owner, worker, key, person, clock, kit } = await withKey();
    let told = 0;
    const identity = { key, account: person } as Holder;
    const call = () => worker.parts[1]!.admit!(exchange({ identity, call: { model: 'a' } as Known['call'] }));
    const { owner: line } = kit.peers[1]!;
    const tell = line!.tell;
    Object.assign(line!, {
      tell(...args: Parameters<typeof tell>) {
        told++;
        tell(...args);
      },
    });
    const minuteMs = clock.now() - (clock.now() % 60_000);
    for (let i = 0; i < 100; i++) call();
    await heard();
    assert.equal((await owner.use(Keys).get(person.id, key.id))?.usedMs, minuteMs);
    assert.equal(told, 1);
    clock.advance(60_000);
    await heard();
    const sql = 'SELECT used_ms AS "usedMs" FROM api_key WHERE id = ?';
    assert.deepEqual(await owner.store.one(sql, key.id), { usedMs: minuteMs }, 'the owner has written it');
    call();
    await heard();
    assert.equal((await owner.use(Keys).get(person.id, key.id))?.usedMs, minuteMs + 60_000);
    assert.equal(told, 2);
  });
});

describe('departments in several processes', () => {
  it('have their new budget, and their new people, in all', async () => {
    const { owner, all, person } = await withKey();
    const { id } = await owner.use(Departments).create({ name: 'd' } as never);
    await owner.use(Departments).place(person.id, id);
    await owner.use(Departments).change(id, { budget: 5n, enabled: false });
    await heard();
    for (const host of all) {
      const [own] = host.use(Departments).pathOf(person.id);
      assert.deepEqual([own?.id, own?.budget, own?.enabled], [id, 5n, false]);
    }
  });

  it('lose a deleted account once, in all', async () => {
    const { owner, all, person, store } = await withKey();
    const { id } = await owner.use(Departments).create({ name: 'd' } as never);
    await owner.use(Departments).place(person.id, id);
    await heard();
    const version = async () =>
      (await store.one<{ version: number }>('SELECT version FROM department_tree'))?.version ?? 0;
    const before = await version();
    await owner.use(Accounts).remove(person.id);
    await heard();
    for (const host of all) assert.deepEqual(host.use(Departments).members(id), []);
    assert.equal(await version(), before + 1);
  });

  it('find a change whose message was lost', async () => {
    const { owner, worker, clock, kit } = await withKey();
    kit.hold(1);
    await owner.use(Departments).create({ name: 'd' } as never);
    kit.lose(1);
    kit.release(1);
    await heard();
    assert.deepEqual(worker.use(Departments).all(), []);
    clock.advance(5_000);
    await heard();
    assert.equal(worker.use(Departments).all().length, 1);
  });
});

describe('the log in several processes', () => {
  it('shows the owner every refusal that a worker has counted', async () => {
    const { owner, all } = await processes([log], {
      count: 3,
      sections: { log: { keep: '90d' } },
      services: () => [[Ledger, { charged: () => 0n, isIncluded: () => false }]],
    });
    for (const host of all) {
      for (let i = 0; i < 100; i++) {
        const startedMs = host.clock.now();
        const x = exchange({
          id: idAt(startedMs),
          startedMs,
          identity: { key: { id: 7 }, account: { id: 3 } } as Holder,
          style: { name: 'chat' } as never,
          ...{ outcome: 'refused', status: 429, notes: { code: 'rate_limit_exceeded' } },
        });
        await host.store.atomic((await host.parts[0]!.settle!(x)) ?? []);
      }
    }
    const [sum] = await owner.use(Records).sums({}, []);
    assert.equal(sum?.errors, 300);
    const { items } = await owner.use(Records).page({ accounts: [3] }, { limit: 10 });
    assert.deepEqual(
      items.map(({ call }) => call?.repeats),
      [99, 99, 99],
    );
  });
});

describe('notices in several processes', () => {
  it('are sent once, by the owner, for calls of workers', async () => {
    const letters: [process: number, to: string][] = [];
    const balance: Balance = { granted: 10n * MICRO, used: 9n * MICRO, held: 0n, unlimited: false } as Balance;
    const person = {
      ...{ id: 7, name: 'ann', role: 'member', enabled: true, createdMs: 0, email: 'ann@example.com' },
      settings: { quota_warning_threshold: 5 },
    } as unknown as Person;
    const { clock, all } = await processes([notices], {
      count: 3,
      services: (i) => [
        [Accounts, { person: async () => person, watch() {} }],
        [Ledger, { balance: async () => balance }],
        [Mail, { delivers: true, send: async ({ to }: Letter) => void letters.push([i, to]) }],
      ],
    });
    for (const host of all.slice(1)) {
      await host.parts[0]!.settle!(exchange({ identity: { account: { id: 7 } } as Holder }));
    }
    for (let turn = 0; turn < 4; turn++) {
      clock.advance(3_000);
      await heard();
    }
    assert.deepEqual(letters, [[0, 'ann@example.com']]);
  });
});

describe('the audit log in several processes', () => {
  it('tells its head where the process leads, once', async () => {
    const { store, clock } = await processes([audit], { count: 3 });
    assert.equal(store.reads, 1, 'at the start');
    for (let hour = 0; hour < 24; hour++) {
      clock.advance(3_600_000);
      await heard();
    }
    assert.equal(store.reads, 2, 'and a day later');
  });
});
