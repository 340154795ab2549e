/** A small company that has used its gateway for a month: what the console's tests look at. Empty, as it is, or with 10,000 of all. */
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Audit } from '../../../core/contracts/audit.ts';
import { Departments } from '../../../core/contracts/departments.ts';
import type { Clock } from '../../../core/plugin.ts';
import { Database } from '../../../plugins/stores/sqlite/binding.ts';
import { chatError } from '../gateway/fixtures.ts';
import { startGateway, type TestGateway } from '../gateway/gateway.ts';
import { fillRecords } from '../gateway/usage-records.ts';
import { fakeEpay, fakeStripe } from '../stand-ins/fake-payments.ts';
import { type Answer, type FakeVendor, fakeVendor } from '../vendors/fake-vendor.ts';
import { jsonAnswer, streamAnswer, wholeAnswer } from '../vendors/script.ts';
import { CONSOLE_PIPELINE, PATIENT, ROOT_ENV, signedIn, type Visitor, verify } from './console.ts';

/** How much there is. */
export const WORLD_SIZES = ['empty', 'normal', 'many'] as const;
export type WorldSize = (typeof WORLD_SIZES)[number];

/** What a page must show as text, wherever it came from. */
const MARKUP = '<img src=x onerror="document.title=\'owned\'"><b>bold</b>';

export interface World {
  readonly gateway: TestGateway;
  /** By name: `root`, an administrator, and `ann`, who is nobody's superior. */
  readonly people: Readonly<Record<'root' | 'ann', Visitor>>;
  /** The id of a call of Ann's that was served; empty where nobody called. */
  readonly aCall: string;
  stop(): Promise<void>;
}

const DAY_MS = 86_400_000;
const MANY = 10_000;
const PEOPLE = ['ann', 'bo', 'chen', 'dora', 'emil', 'fatma', 'goran', 'hanna'] as const;
const MODELS = ['gpt-5', 'claude-sonnet-5', 'gpt-5-mini', 'demo'] as const;

/** Starts it. `port` and `host` as browsers shall see it; `config` over its own sections. */
export async function startWorld(
  size: WorldSize,
  { port = 0, config = {}, env = {}, words = MARKUP }: WorldOptions = {},
): Promise<World> {
  const clock = shiftedClock();
  const [main, spare] = await Promise.all([fakeVendor(answerOf('main', words)), fakeVendor(answerOf('spare', words))]);
  const stripe = await fakeStripe(() => clock.now());
  const epay = fakeEpay();
  const gateway = await startGateway({
    clock,
    env: { ...ROOT_ENV, ...env },
    mustReconcile: size !== 'many',
    config: {
      ...(size === 'empty' ? emptyConfig() : configOf(main, spare)),
      ...(size !== 'empty' && { payments: { stripe: stripe.section, epay: epay.section } }),
      listen: { host: '127.0.0.1', port },
      pipeline: [...CONSOLE_PIPELINE],
      console: { ...PATIENT, url: `http://localhost:${port || 8080}`, name: 'Turnpike', registration: 'open' },
      ...config,
    },
  });
  const root = await signedIn(gateway, 'root');
  const ann = await signedIn(gateway, 'ann', { displayName: 'Ann Ahrens', email: 'ann@example.com' });
  if (size !== 'empty') await live(gateway, clock, root, ann, words);
  if (size === 'many') {
    fill(gateway, clock.now());
    await fillAudit(gateway, MANY, words);
  }
  return {
    gateway,
    people: { root, ann },
    aCall:
      size === 'empty' ? '' : String((await ann.data('GET', '/api/log/self?type=2&page_size=1')).items[0]?.request_id),
    async stop() {
      await gateway.stop();
      await Promise.all([main.close(), spare.close(), stripe.close()]);
    },
  };
}

/** How a world is to be. */
export interface WorldOptions {
  readonly port?: number;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /** What keys are called and vendors say: markup, unless somebody wants a picture that pleases. */
  readonly words?: string;
}

interface ShiftedClock extends Clock {
  /** So many milliseconds before the machine's time. */
  back: number;
}

/** The machine's clock, as it stood some time ago. */
function shiftedClock(): ShiftedClock {
  const clock: ShiftedClock = {
    back: 0,
    now: () => Math.floor(Date.now() - clock.back),
    mono: () => performance.now(),
    every(ms, run) {
      const timer = setInterval(run, ms).unref();
      return () => clearInterval(timer);
    },
    after(ms, run) {
      const timer = setTimeout(run, ms).unref();
      return () => clearTimeout(timer);
    },
  };
  return clock;
}

function emptyConfig() {
  return {
    channels: [{ name: 'demo', vendor: 'demo' }],
    models: { demo: { from: ['demo'], free: true } },
  };
}

function configOf(main: FakeVendor, spare: FakeVendor) {
  const channel = (name: string, vendor: FakeVendor, priority: number) => ({
    name,
    vendor: 'compatible',
    url: vendor.url,
    key: 'vendor-key-of-a-test',
    priority,
  });
  return {
    alerts: {
      // Nothing listens there: the target fails.
      to: [{ name: 'operations', webhook: 'http://127.0.0.1:12/' }],
      budget: { gateway: 1 },
      quiet: '03:00-03:01',
    },
    channels: [
      channel('openai-eu', main, 0),
      channel('openai-us', spare, 1),
      channel('claude-direct', main, 0),
      { name: 'nobody', vendor: 'compatible', url: 'http://127.0.0.1:9', key: '' },
      { name: 'demo', vendor: 'demo' },
    ],
    models: {
      'gpt-5': {
        from: ['openai-eu', 'openai-us'],
        fallback: ['claude-sonnet-5'],
        price: { input: 1.25, cacheRead: 0.125, output: 10 },
      },
      'gpt-5-mini': { from: ['openai-us', 'openai-eu'], price: { input: 0.25, cacheRead: 0.025, output: 2 } },
      'claude-sonnet-5': { from: ['claude-direct'], price: { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15 } },
      fast: { alias: 'gpt-5-mini' },
      'not-priced': { from: ['openai-eu'] },
      demo: { from: ['demo'], free: true },
    },
    plans: {
      monthly: { title: 'Monthly', days: 30, daily: 5, weekly: 20, monthly: 50, price: 20, balance: 50 },
      trial: { days: 7, daily: 1, afterExpiry: 'balance' },
    },
  };
}

/** Vendors that say how much they used, are unwell at times, and answer with markup. */
function answerOf(vendor: string, words: string): Answer {
  let asked = 0;
  return (request) => {
    asked++;
    if (vendor === 'main' && asked % 9 === 0) return jsonAnswer(503, chatError(`Overloaded. ${words}`, 'overloaded'));
    if (asked % 37 === 0) return jsonAnswer(400, chatError(`This is not possible: ${words}`, 'invalid_value'));
    const answer = {
      deltas: ['The bridge ', 'opens at six. ', words],
      usage: {
        prompt: 900 + ((asked * 7_919) % 14_000),
        completion: 120 + ((asked * 104_729) % 2_600),
        cached: asked % 3 === 0 ? 512 : 0,
        reasoning: asked % 4 === 0 ? 64 : 0,
      },
    };
    return request.json.stream === true ? streamAnswer(answer) : wholeAnswer(answer);
  };
}

/** A month of it. */
async function live(
  gateway: TestGateway,
  clock: ShiftedClock,
  root: Visitor,
  ann: Visitor,
  words: string,
): Promise<void> {
  clock.back = 30 * DAY_MS;
  const { host } = gateway;
  const ids: Record<string, number> = {};
  for (const name of PEOPLE) {
    const { id } =
      (await host.use(Accounts).findByName(name)) ?? (await host.use(Accounts).create({ name, role: 'member' }));
    ids[name] = id;
    await gateway.command(`user credit ${name} ${name === 'emil' ? 50 : 12_000_000}`);
  }
  const departments = host.use(Departments);
  const engineering = await departments.create({ name: 'Engineering', monthlyBudget: 60_000_000_000_000n });
  const platform = await departments.create({
    name: 'Platform',
    parentId: engineering.id,
    monthlyBudget: 9_000_000_000_000n,
  });
  const research = await departments.create({ name: 'Research', budget: 40_000_000_000_000n });
  await departments.create({ name: 'Sales', factorPpm: 1_200_000 });
  const put = (department: number, ...names: readonly string[]) =>
    departments.placeAll(
      names.map((name) => ids[name]!),
      department,
    );
  await put(engineering.id, 'bo');
  await put(platform.id, 'ann', 'chen');
  await put(research.id, 'dora', 'fatma');
  const keys = new Map<string, string>();
  for (const name of PEOPLE) {
    keys.set(name, await gateway.command(`key create --name laptop --user ${name} --unlimited`));
  }
  const second = await ann.data('POST', '/api/token/', {
    name: words,
    remain_quota: 900_000,
    expired_time: Math.floor(Date.now() / 1_000) + 5 * 86_400,
    model_limits: 'gpt-5,gpt-5-mini',
    allow_ips: '127.0.0.1\n::1',
  });
  await ann.data('POST', '/api/token/', {
    name: 'old script',
    expired_time: Math.floor(clock.now() / 1_000) + 3_600,
  });
  let call = 0;
  // The first of them lie within the last thirty UTC days, whatever time of the day it is.
  for (let day = 28; day >= 0; day--) {
    const busy = 3 + ((day * 7) % 9);
    for (let i = 0; i < busy; i++) {
      call++;
      clock.back = Math.max(0, day * DAY_MS + ((busy - i) * DAY_MS) / (busy + 1) - DAY_MS / 3);
      const name = PEOPLE[call % 5 === 0 ? (call / 5) % PEOPLE.length : 0] ?? 'ann';
      const key = call % 7 === 0 ? String(second.key) : (keys.get(name) ?? '');
      await ask(gateway, key, call);
    }
  }
  clock.back = 0;
  await gateway.command('user credit ann 250000');
  await verify(root);
  await root.data('POST', '/api/subscription/admin/bind', { user_id: ids.ann, plan: 'monthly' });
  const codes = await root.data('POST', '/api/redemption/', { name: `<b>A fair</b>`, quota: 250_000, count: 3 });
  await ann.data('POST', '/api/user/topup', { key: codes[0] });
  for (const amount of [10, 25]) await ann.post('/api/user/stripe/pay', { amount, payment_method: 'stripe' });
  await fillAudit(gateway, 12, words);
}

/** One call: a model, whole or streamed, in one of three styles; some are refused. */
async function ask(gateway: TestGateway, key: string, call: number): Promise<void> {
  const model = call % 41 === 0 ? 'gpt-4' : (MODELS[(call * 3) % 4 === 1 ? call % 4 : call % 2] ?? 'gpt-5');
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const messages = [{ role: 'user', content: `Question ${call}: when does the bridge open?` }];
  const asMessages = call % 5 === 2;
  const response = await fetch(`${gateway.url}/v1/${asMessages ? 'messages' : 'chat/completions'}`, {
    method: 'POST',
    headers: { ...headers, ...(asMessages && { 'anthropic-version': '2023-06-01' }) },
    body: JSON.stringify({
      model,
      messages,
      max_tokens: 4_000,
      stream: call % 2 === 0,
      ...(asMessages && { top_k: 5 }),
    }),
  });
  await response.text().catch(() => '');
}

/** Ten thousand of everything that there may be many of, written straight into the tables: nothing of it balances. */
function fill(gateway: TestGateway, nowMs: number): void {
  const db = new Database(gateway.storeFile);
  const rows = `WITH RECURSIVE row(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM row WHERE i < ${MANY})`;
  const owner = `(SELECT id FROM account WHERE name = 'ann')`;
  try {
    db.pragma('busy_timeout = 5000');
    const ann = db.prepare<[], { id: number }>(`SELECT id FROM account WHERE name = 'ann'`).get()!.id;
    fillRecords(db, {
      rows: MANY,
      fromMs: nowMs - 20 * DAY_MS,
      everyMs: 172_000,
      account: String(ann),
      keys: 3,
      models: 40,
    });
    db.exec(`BEGIN;
      ${rows} INSERT INTO account (id, name, folded, role, enabled, created_ms, display_name)
        SELECT 100000 + i, 'person-' || i, 'person-' || i, 'member', i % 50 > 0, ${nowMs} - i * 1000, 'Person ' || i FROM row;
      ${rows} INSERT INTO bucket (kind, owner, granted) SELECT 'account', 100000 + i, i * 100000000000 FROM row;
      ${rows} INSERT INTO api_key (id, account_id, name, hash, prefix, suffix, enabled, created_ms)
        SELECT 100000 + i, ${owner}, 'key ' || i, randomblob(32), 'sk-aaaa', printf('%04d', i % 10000), 1, ${nowMs} - i * 1000 FROM row;
      ${rows} INSERT INTO bucket (kind, owner, granted, unlimited) SELECT 'key', 100000 + i, 0, 1 FROM row;
      ${rows} INSERT INTO account_event (id, account_id, at_ms, kind, amount, text, ip)
        SELECT printf('00000000%018d', i), ${owner}, ${nowMs} - i * 1000, 'login', 0, 'Signed in.', '192.0.2.1' FROM row;
      ${rows} INSERT INTO top_up (id, account_id, provider, method, trade_no, kind, amount, quota, money, currency, state, created_ms, expires_ms)
        SELECT 1000 + i, ${owner}, 'stripe', '', 'trade-' || i, 'quota', 10, 5000000000000, 1000, 'USD',
          CASE i % 3 WHEN 0 THEN 'expired' WHEN 1 THEN 'failed' ELSE 'pending' END, ${nowMs} - i * 60000, ${nowMs} + 3600000 FROM row;
      ${rows} INSERT INTO redemption_code (hash, sealed, name, quota, created_by, created_ms)
        SELECT randomblob(32), '', 'fair ' || i, 500000000000, 1, ${nowMs} FROM row;
      COMMIT`);
  } finally {
    db.close();
  }
}

/** Entries of the audit, as somebody would leave in a year. */
async function fillAudit(gateway: TestGateway, count: number, words: string): Promise<void> {
  const actor = { accountId: 1, name: 'root', ip: '192.0.2.1' };
  const audit = gateway.host.use(Audit);
  for (let done = 0; done < count; done += 250) {
    await gateway.host.store.atomic(
      Array.from({ length: Math.min(250, count - done) }, (_, i) =>
        audit.steps({ actor, action: 'user.change', object: `user ${done + i}`, facts: { remark: words } }),
      ).flat(),
    );
  }
}
