/** A store with the ledger in it, and runs of the plugin `quota` over it: what its tests stand on. */

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { LastingStates } from '../../../core/assembly/lasting-state.ts';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Catalog, type Model } from '../../../core/contracts/catalog.ts';
import { type Department, Departments } from '../../../core/contracts/departments.ts';
import type { KeyLimit } from '../../../core/contracts/identity.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import { type Balance, type Layer, Ledger } from '../../../core/contracts/ledger.ts';
import { aloneOf, type Peers } from '../../../core/contracts/peers.ts';
import { Records, type UsageRecord } from '../../../core/contracts/records.ts';
import { type Subscription, Subscriptions } from '../../../core/contracts/subscriptions.ts';
import type {
  Call,
  Channel,
  Config,
  Host,
  JsonObject,
  Known,
  Lasting,
  Log,
  Offer,
  OpenStore,
  Outcome,
  Parts,
  Service,
  Step,
  Usage,
} from '../../../core/plugin.ts';
import { GatewayError, refuse, StoreUnavailable } from '../../../core/plugin.ts';
import { checkValue } from '../../../core/sdk.ts';
import { migrate, openStore, type TableOwner } from '../../../core/store/migrations.ts';
import { USUAL } from '../../../core/translation/quirks/quirks.ts';
import plans from '../../../plugins/plans/index.ts';
import { plansSection } from '../../../plugins/plans/section.ts';
import prices from '../../../plugins/prices/index.ts';
import quota from '../../../plugins/quota/index.ts';
import { quotaSection } from '../../../plugins/quota/section.ts';
import sqlite from '../../../plugins/stores/sqlite/index.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { testDatabase } from '../../kit/stand-ins/postgres.ts';
import { until } from '../../kit/until.ts';

// Prices that make amounts easy to see: a token of `metered` costs one micro-quota, one of `half` half of it, a call of `flat` one
// quota, and so do an image
// of `painter`, a second of `listener` and a thousand characters of `speaker`.
export const PRICES = {
  metered: { input: 0, output: 0.000002 },
  half: { input: 0, output: 0.000001 },
  flat: { perRequest: 0.000002 },
  steep: { output: 10_000 },
  painter: { perImage: { default: 0.000002, hd: 0.000004 } },
  listener: { perSecond: 0.000002 },
  speaker: { characters: 0.002 },
};
/** The section `quota` of a test, and as `plans` the section of that name, or false: without the plugin; what is missing has its default. */
export type Section = JsonObject;
export const CHANNEL: Channel = {
  name: 'somewhere',
  vendor: 'nobody-lists-this',
  url: 'http://127.0.0.1:1/v1',
  key: 'k',
  weight: 1,
  priority: 0,
  timeout: { connectMs: 1, headMs: undefined, idleMs: 1, totalMs: 1 },
  speaks: undefined,
  streamUsage: 'always',
  quirks: {},
  options: {},
};
/** The only channel, for a model that has the same name there. */
export const offerOf = (name: string): Offer => ({
  channel: CHANNEL,
  model: name,
  style: 'chat',
  quirks: USUAL,
  strict: false,
  priced: name,
});
export const ACCOUNT = { kind: 'account', owner: 1 } as const;
export const KEY = { kind: 'key', owner: 11 } as const;

function model(name: string, more: Partial<Model> = {}): Model {
  const from = [{ channel: CHANNEL, model: name }];
  return { name, entry: name, free: false, only: undefined, from, fallback: [], price: undefined, created: 0, ...more };
}
export const MODELS = [
  model('metered'),
  model('half'),
  model('flat'),
  model('steep'),
  model('painter'),
  model('listener'),
  model('speaker'),
  model('free', { free: true }),
  model('unpriced'),
  model('flat-then-metered', { price: PRICES.flat, fallback: ['metered'] }),
  model('flat-then-unpriced', { price: PRICES.flat, fallback: ['unpriced'] }),
  model('flat-then-free', { price: PRICES.flat, fallback: ['free'] }),
];

const catalog = {
  require(name: string): Model {
    const found = MODELS.find((candidate) => candidate.name === name);
    return found ?? refuse(404, 'model_not_found', `There is no model ${name}.`);
  },
  chain: (name: string) => [
    catalog.require(name),
    ...catalog.require(name).fallback.map((next) => catalog.require(next)),
  ],
  names: () => MODELS.map(({ name }) => name),
  patterns: () => [],
  isOff: () => false,
  serves: (name: string) => MODELS.some((model) => model.name === name),
  channel: () => undefined,
};

/** An exchange by hand: every fact that core would set can be set. */
export type Exchange = { -readonly [K in keyof Known]: Known[K] } & {
  readonly told: Record<string, string>;
  readonly cuts: Error[];
  /** What vendors are told. */
  limit: number | undefined;
  /** Asked before a piece leaves. */
  look: ((textLength: number) => Promise<void> | undefined) | undefined;
};

export const NOTHING: readonly Step[] = [];
let made = 0;

/** Someone calls `model`, allowing so many output tokens. */
export function calling(name: string, outputTokens: number, more: Partial<Exchange> = {}): Exchange {
  const told: Record<string, string> = {};
  const cuts: Error[] = [];
  const x: Exchange = {
    id: `01TEST${String(++made).padStart(20, '0')}`,
    startedMs: Date.UTC(2026, 0, 1),
    method: 'POST',
    path: '/v1/chat/completions',
    query: new URLSearchParams(),
    headers: {},
    ip: '192.0.2.7',
    style: undefined,
    passthrough: undefined,
    share: undefined,
    signal: new AbortController().signal,
    identity: holder(ACCOUNT.owner, KEY.owner),
    call: {
      style: 'chat',
      model: name,
      stream: true,
      asksUsage: true,
      body: {} as Call['body'],
      bounds: { inputBytes: 100, media: 0, outputTokens, choices: 1 },
    },
    get callIfRead() {
      return x.call;
    },
    attempts: [],
    served: undefined,
    usage: undefined,
    delivered: false,
    outcome: undefined,
    status: 0,
    notes: {},
    told,
    answer: () => undefined,
    pending: () => undefined,
    keepAnswer: () => {},
    cuts,
    limit: undefined,
    look: undefined,
    defer() {},
    header(header, value) {
      told[header] = value;
    },
    drop: () => {},
    addUpstreamHeaders: () => {},
    hold: () => {},
    note(facts: JsonObject) {
      x.notes = { ...x.notes, ...facts };
    },
    leaveOut() {},
    limitOutput(tokens) {
      x.limit = tokens;
    },
    watch(look) {
      x.look = look;
    },
    cut(error) {
      cuts.push(error);
    },
    ...more,
  };
  return x;
}

/** `limits`: of the key. */
export function holder(accountId: number, keyId: number, limits?: readonly KeyLimit[]): Known['identity'] {
  return {
    account: { id: accountId, name: `account-${accountId}`, role: 'member', enabled: true, createdMs: 0 },
    key: {
      id: keyId,
      accountId,
      name: `key-${keyId}`,
      prefix: 'sk-test',
      suffix: 'test',
      enabled: true,
      createdMs: 0,
      usedMs: undefined,
      expiresMs: undefined,
      models: undefined,
      addresses: undefined,
      strict: false,
      limits,
    },
  };
}

export function tokens(output: number, more: Partial<Usage> = {}): Usage {
  const none = { cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0, inputAudio: 0, reasoning: 0, outputAudio: 0 };
  return { input: 0, ...none, output, estimated: false, ...more };
}

/** The vendor answered; `used` is undefined where nothing is to be paid. */
export function ended(x: Exchange, outcome: Outcome, used?: Usage | number, delivered = used !== undefined): Exchange {
  x.outcome = outcome;
  x.usage = typeof used === 'number' ? tokens(used) : used;
  x.delivered = delivered;
  x.served = offerOf(x.call.model);
  return x;
}

/** One run of the gateway over a store: the plugin, created and started. */
export interface Run {
  readonly parts: Parts;
  /** Those of the plugins `prices` and `plans`. */
  readonly priced: Parts;
  readonly planned: Parts;
  readonly ledger: Ledger;
  readonly subscriptions: Subscriptions;
  /** What is wrong with its section. */
  readonly problems: string[];
  /** Warnings about its configuration. */
  readonly remarks: string[];
  readonly warnings: string[];
  admit(x: Exchange): Promise<void>;
  /** As core does: the steps of `settle`, written. The `must` that failed. */
  settle(x: Exchange): Promise<string | undefined>;
}

/** A store with the ledger's tables, one account and one key, and the runs over it. */
export interface World {
  /** The file of its store, or the address of its database: see `damageRows`. */
  readonly file: string;
  readonly store: OpenStore;
  readonly clock: FakeClock;
  readonly records: UsageRecord[];
  /** The path up from an account's department. */
  readonly departments: Map<number, readonly Department[]>;
  /** Creates the plugin without starting it; it is alone where it has no peers. `own`: its opening of the store. */
  create(boot: string, section?: Section, peers?: Peers, own?: OpenStore): Promise<Run>;
  run(boot?: string, section?: Section, peers?: Peers, own?: OpenStore): Promise<Run>;
  /** Another opening of the store, as another gateway has one; the same where only one process can open it. */
  openAgain(): Promise<OpenStore>;
  /** As the run that was created last sees it. */
  balance(layer: Layer): Promise<Balance>;
  /** What the invariants find, by name. */
  faults(run: Run): Promise<Readonly<Record<string, readonly string[]>>>;
  close(): Promise<void>;
}

/** What ran before is durable, and readers see it. */
export async function settled(store: OpenStore): Promise<void> {
  await store.run('UPDATE bucket SET held = held WHERE kind IS NULL');
}

/** The tables of subscriptions as a migration of `quota` made them before plans were a plugin. */
export const SUBSCRIPTIONS_OF_QUOTA: readonly string[] = [
  `CREATE TABLE subscription (
    id INTEGER NOT NULL PRIMARY KEY,
    account_id INTEGER NOT NULL,
    plan TEXT NOT NULL,
    starts_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL CHECK (expires_ms > starts_ms),
    cancelled_ms INTEGER,
    changed_ms INTEGER NOT NULL
  ) STRICT`,
  'CREATE INDEX subscription_by_account ON subscription (account_id, id)',
  'CREATE INDEX subscription_by_change ON subscription (changed_ms)',
  `CREATE TABLE subscription_grant (
    ref TEXT NOT NULL PRIMARY KEY CHECK (ref <> ''),
    account_id INTEGER NOT NULL,
    subscription_id INTEGER,
    plan TEXT NOT NULL,
    length_ms INTEGER NOT NULL CHECK (length_ms > 0),
    at_ms INTEGER NOT NULL,
    actor TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
];

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };
const worlds: World[] = [];
let directory = '';
let files = 0;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'turnpike-quota-'));
});
after(async () => {
  // A failed test leaves its store open, whose threads would keep this process alive.
  for (const world of worlds) await world.close();
  await rm(directory, { recursive: true });
});

/** A store in a file of its own, without tables. */
export async function emptyStore(): Promise<{ readonly file: string; readonly store: OpenStore }> {
  const file = join(directory, `${++files}.db`);
  return { file, store: await sqlite.open({ file, log: silent }) };
}

/** The same, or one on PostgreSQL where `TURNPIKE_TEST_STORE` says so: what opens it, once or several times. */
async function emptyStores(): Promise<{ readonly file: string; open(): Promise<OpenStore> }> {
  const folder = join(directory, `${++files}`);
  await mkdir(folder);
  const file = join(folder, 'ledger.db');
  const url = await testDatabase(folder);
  if (url === undefined) {
    const store = await openStore({ driver: sqlite, file, log: silent });
    return { file, open: async () => store };
  }
  const { default: postgres } = await import('../../../plugins/stores/postgres/index.ts');
  const settings = { driver: 'postgres', url };
  assert.deepEqual(checkValue(postgres.section!, settings), []);
  return { file: url, open: () => openStore({ driver: postgres, file, settings, log: silent }) };
}

/** The same, opened, with the tables of some owners. */
export async function openStoreWith(
  owners: readonly TableOwner[],
): Promise<{ readonly file: string; readonly store: OpenStore }> {
  const { file, open } = await emptyStores();
  const store = await open();
  await migrate(store, owners);
  return { file, store };
}

export async function openWorld(account: bigint | 'unlimited', key: bigint | 'unlimited'): Promise<World> {
  const { file, open } = await emptyStores();
  const store = await open();
  for (const { migrations = [] } of [quota, plans])
    for (const migration of migrations) for (const sql of migration.sql) await store.run(sql);
  const world = worldOver(store, file, open);
  const { ledger } = await world.run();
  for (const [layer, granted] of [
    [ACCOUNT, account],
    [KEY, key],
  ] as const) {
    await store.atomic(ledger.open(layer, granted === 'unlimited' ? 0n : granted, granted === 'unlimited'));
  }
  return world;
}

/** The world over a store that has the ledger's tables, whatever is in them. */
export function worldOver(store: OpenStore, file: string, open = async () => store): World {
  const clock = fakeClock();
  const records: UsageRecord[] = [];
  const departments = new Map<number, readonly Department[]>();
  const lasting = new LastingStates();
  const openings = new Set([store]);
  let latest: Ledger | undefined;
  const world: World = {
    file,
    store,
    clock,
    records,
    departments,
    async create(boot, section = {}, peers = aloneOf(boot), own = store) {
      // What an earlier run wrote is durable by now, or it is lost with it.
      await settled(store);
      const keep = (record: UsageRecord) => {
        records.push(record);
        return NOTHING;
      };
      const provided = new Map<string, unknown>([
        [Catalog.id, catalog],
        [Records.id, { steps: keep } as unknown as Records],
        [Departments.id, { pathOf: (id) => departments.get(id) ?? [] } as Departments],
        [
          Keys.id,
          { limitsFor: ({ limits = [] }, model) => limits.filter((each) => each.model === model) } as Partial<Keys>,
        ],
        [Accounts.id, { findByName: async (name) => (name === 'ann' ? holder(1, 11).account : undefined) } as Accounts],
      ]);
      const warnings: string[] = [];
      const problems: string[] = [];
      const remarks: string[] = [];
      const { plans: planned = {}, ...checked } = structuredClone(section) as unknown as Config<
        NonNullable<typeof quota.sections>
      >['quota'] & { readonly plans?: Config<NonNullable<typeof plans.sections>>['plans'] | false };
      assert.deepEqual(checkValue(quotaSection, checked), []);
      if (planned !== false) assert.deepEqual(checkValue(plansSection, planned), []);
      const host = {
        store: own,
        clock,
        boot,
        peers,
        env: {},
        log: { ...silent, warn: (message: string) => warnings.push(message) },
        use: <T>(service: Service<T>) => provided.get(service.id) as T,
        find: <T>(service: Service<T>) => provided.get(service.id) as T | undefined,
        provide: <T>(service: Service<T>, it: T) => void provided.set(service.id, it),
        vendors: () => new Map(),
        styles: () => new Map(),
        // One process has one boot, however often its configuration is read.
        lasting: <T>(state: Lasting<T>) => lasting.get({ ...state, name: `${boot} ${state.name}` }),
        problem: (path: readonly unknown[], message: string) => void problems.push(`${path.join('.')}: ${message}`),
        warn: (path: readonly unknown[], message: string) => void remarks.push(`${path.join('.')}: ${message}`),
      } as unknown as Host;
      const priced = await prices.create(host, { prices: PRICES });
      const parts = await quota.create(host, { quota: checked });
      const subscribed = planned === false ? {} : await plans.create(host, { plans: planned });
      latest = host.use(Ledger);
      return {
        parts,
        priced,
        planned: subscribed,
        ledger: latest,
        subscriptions: host.use(Subscriptions),
        problems,
        remarks,
        warnings,
        admit: async (x) => parts.admit?.(x),
        settle: async (x) => own.atomic((await parts.settle?.(x)) ?? NOTHING),
      };
    },
    async run(boot = 'boot-1', section, peers, own) {
      const run = await world.create(boot, section, peers, own);
      await run.priced.link?.();
      await run.parts.link?.();
      assert.deepEqual(run.problems, []);
      await run.parts.start?.();
      await run.planned.start?.();
      return run;
    },
    async balance(layer) {
      await settled(store);
      const balance = await latest?.balance(layer);
      assert.ok(balance, `there is no bucket of ${layer.kind} ${layer.owner} from ${layer.windowStart ?? 0}`);
      return balance;
    },
    async faults(run) {
      const found: Record<string, readonly string[]> = {};
      await settled(store);
      for (const { name, check } of [...(run.parts.invariants ?? []), ...(run.planned.invariants ?? [])]) {
        const lines = await check(store);
        if (lines.length > 0) found[name] = lines;
      }
      return found;
    },
    async openAgain() {
      const opened = await open();
      openings.add(opened);
      return opened;
    },
    async close() {
      for (const each of openings) await each.close();
    },
  };
  worlds.push(world);
  return world;
}

export const refusedWith =
  (code: string, status = 403) =>
  (error: unknown) => {
    assert.ok(error instanceof GatewayError, `${error}`);
    assert.deepEqual([error.status, error.code], [status, code]);
    return true;
  };

/** Admits a call, and returns it; made again while the store is behind: how fast this machine commits is not what is tested. */
export function admitted(run: Run, make: () => Exchange): Promise<Exchange> {
  return until('a store that takes the call', async () => {
    const x = make();
    try {
      await run.admit(x);
      return x;
    } catch (error) {
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    }
  });
}

/** Runs a test in a world of its own, whose ledger must add up afterwards. */
export function inWorld(
  account: bigint | 'unlimited',
  key: bigint | 'unlimited',
  test: (world: World) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const world = await openWorld(account, key);
    try {
      await test(world);
      assert.deepEqual(await world.faults(await world.run('the end')), {});
    } finally {
      await world.close();
    }
  };
}

/** So many quota units as a plan writes them: in currency units. */
export function inCurrency(quota: number): number {
  return Number(`${quota * 2}e-6`);
}

/** Gives an account (that of `calling`) a plan; what the run remembers of it is up to date. */
export async function subscribe(
  world: World,
  run: Run,
  plan: string,
  accountId: number = ACCOUNT.owner,
): Promise<Subscription> {
  const steps = await run.subscriptions.grantSteps(accountId, plan, `test:${++made}`, 'test');
  assert.equal(await world.store.atomic(steps), undefined);
  run.subscriptions.changed(accountId);
  const subscription = await run.subscriptions.of(accountId);
  assert.ok(subscription, 'there is no subscription');
  return subscription;
}

/** A department without limits, at the price. */
export function department(id: number, more: Partial<Department> = {}): Department {
  return {
    id,
    name: `department-${id}`,
    parentId: undefined,
    budget: undefined,
    monthlyBudget: undefined,
    factorPpm: 1_000_000,
    enabled: true,
    createdMs: 0,
    updatedMs: 0,
    ...more,
  };
}

/** Someone calls now, as the world's clock says. */
export function callingNow(world: World, name: string, outputTokens: number, more: Partial<Exchange> = {}): Exchange {
  return calling(name, outputTokens, { startedMs: world.clock.now(), ...more });
}

/** The same where no shorter answer can be asked for: it makes sound. */
export function callingWhole(world: World, name: string, outputTokens: number): Exchange {
  const x = callingNow(world, name, outputTokens);
  x.call = { ...x.call, bounds: { ...x.call.bounds, seconds: 0 } };
  return x;
}
