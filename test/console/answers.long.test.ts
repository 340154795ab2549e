/**
 * The description of the interface tells the truth: every row of `/api` is asked, every answer is as its schema says, no answer has a
 * member that is not described, and no member is described that never comes.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { waitForUpdate } from '@pydantic/genai-prices';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { Records } from '../../core/contracts/records.ts';
import { NO_TOKENS } from '../../core/translation/index.ts';
import {
  type ApiAnswer,
  advanced,
  CONSOLE_PIPELINE,
  describedInterface,
  member,
  PASSWORD,
  ROOT_ENV,
  signedIn,
  type Visitor,
  visitor,
} from '../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../kit/gateway/clock.ts';
import { type TestGateway, VENDOR_KEY } from '../kit/gateway/gateway.ts';
import { idAt, usageRecord } from '../kit/gateway/usage-records.ts';
import { authenticator } from '../kit/stand-ins/authenticator.ts';
import { codeOf, nextCodeOf } from '../kit/stand-ins/factors.ts';
import { fakeAlipay, fakeCreem, fakeEpay, fakeStripe } from '../kit/stand-ins/fake-payments.ts';
import { mailbox } from '../kit/stand-ins/mailbox.ts';
import { isOnPostgres } from '../kit/stand-ins/postgres.ts';
import { type FakeVendor, fakeVendor } from '../kit/vendors/fake-vendor.ts';
import { hold, jsonAnswer, wholeAnswer } from '../kit/vendors/script.ts';
import { changeSqlite, makeSqlite, NEW_API_VERSIONS } from '../plugins/import/databases.ts';
import { github, ORIGIN, pathOf, start, thereAndBack } from './sign-in/oauth-flows.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Any = any;

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: boolean | Shape;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
}

/** A row that answers JSON, and what became of it. */
interface Row {
  readonly name: string;
  readonly matches: RegExp;
  readonly schema: Shape;
  readonly fits: ValidateFunction;
  readonly seen: Set<string>;
  readonly misfits: Set<string>;
  readonly undescribed: Set<string>;
  asked: number;
}

/** A price with every amount there may be. */
const EVERY_PRICE = {
  input: 9,
  output: 20,
  cacheRead: 1,
  cacheWrite: 10,
  cacheWriteLong: 12,
  inputAudio: 30,
  inputImage: 9,
  reasoning: 21,
  outputAudio: 50,
  outputImage: 40,
  perImage: 0.04,
  characters: 15,
  perSecond: 0.0001,
  perRequest: 0.01,
  from: '2020-01-01',
};

const CODE = /code is (\d+)/;
const INVITATION = /register\?invite=([\w-]+)/;

const ajv = new Ajv2020({ strict: false, allErrors: true });
const branches = new Map<Shape, ValidateFunction>();

/** Whether a value is of one of the shapes that there may be. */
function fits(shape: Shape, value: unknown): boolean {
  const known = branches.get(shape) ?? ajv.compile(shape);
  branches.set(shape, known);
  return known(value) === true;
}

/** Every place that a shape describes: `/data/items/[]/id`. */
function placesOf(shape: Shape, at = ''): readonly string[] {
  return [
    ...Object.entries(shape.properties ?? {}).flatMap(([name, each]) => [
      `${at}/${name}`,
      ...placesOf(each, `${at}/${name}`),
    ]),
    ...(typeof shape.additionalProperties === 'object' ? placesOf(shape.additionalProperties, `${at}/*`) : []),
    ...(shape.items === undefined ? [] : placesOf(shape.items, `${at}/[]`)),
    ...(shape.anyOf ?? []).flatMap((each) => placesOf(each, at)),
  ];
}

/** Notes which of them an answer has, and what it has beside them. */
function look(row: Row, shape: Shape, value: Any, at = ''): void {
  if (shape.anyOf !== undefined) {
    const one = shape.anyOf.find((each) => fits(each, value));
    if (one !== undefined) look(row, one, value, at);
  }
  if (Array.isArray(value)) {
    for (const each of value) if (shape.items !== undefined) look(row, shape.items, each, `${at}/[]`);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const { properties, additionalProperties } = shape;
  for (const [name, each] of Object.entries(value)) {
    const known = properties?.[name];
    if (known !== undefined) {
      row.seen.add(`${at}/${name}`);
      look(row, known, each, `${at}/${name}`);
    } else if (typeof additionalProperties === 'object') {
      look(row, additionalProperties, each, `${at}/*`);
    } else if (properties !== undefined && additionalProperties !== true) {
      row.undescribed.add(`${at}/${name}`);
    }
  }
}

function rowsOf(document: Any): readonly Row[] {
  return Object.entries<Any>(document.paths).flatMap(([path, operations]) =>
    Object.entries<Any>(operations).flatMap(([method, operation]) => {
      const schema = operation.responses['200']?.content?.['application/json']?.schema;
      if (schema === undefined || !/^\/api\/|\/dashboard\//.test(path)) return [];
      const matches = new RegExp(`^${method} ${path.replace(/\{\w+\}/g, '[^/]+')}$`, 'i');
      return [
        {
          name: `${method.toUpperCase()} ${path}`,
          matches,
          schema,
          fits: ajv.compile(schema),
          seen: new Set<string>(),
          misfits: new Set<string>(),
          undescribed: new Set<string>(),
          asked: 0,
        },
      ];
    }),
  );
}

describe('the answers of /api', () => {
  let gateway: TestGateway;
  let vendor: FakeVendor;
  let clock: FakeClock;
  const box = mailbox();
  let rows: readonly Row[];
  let closing: readonly { close(): Promise<void> }[] = [];
  /** Publishes a price list. */
  let list: Server;

  before(async () => {
    vendor = await fakeVendor();
    clock = fakeClock(Date.now());
    const [stripe, creem, alipay] = await Promise.all([fakeStripe(() => clock.now()), fakeCreem(), fakeAlipay()]);
    closing = [stripe, alipay, creem];
    const published = structuredClone((await waitForUpdate())!);
    const dearer = published.find(({ id }) => id === 'openai')!.models.find(({ id }) => id === 'gpt-4.1')!;
    Object.assign(dearer.prices, { input_mtok: 3 });
    list = createServer((_, answer) => void answer.end(JSON.stringify(published))).listen(0, '127.0.0.1');
    await once(list, 'listening');
    const channel = { vendor: 'compatible', url: vendor.url, key: VENDOR_KEY };
    gateway = await start(
      {},
      {
        clock,
        vendor,
        plugins: [box.plugin],
        config: {
          pipeline: CONSOLE_PIPELINE.flatMap((name) =>
            name === 'mail' ? [] : name === 'limits' ? ['limits', 'prompts'] : [name],
          ).concat('groups', 'import'),
          prompts: { keep: '1d', own: true },
          groups: { default: {}, cheap: { factor: 0.5, for: ['default'] } },
          channels: [
            { ...channel, name: 'main', speaks: ['chat', 'images'] },
            { ...channel, name: 'gone', url: 'http://127.0.0.1:9/v1' },
            { name: 'listed', vendor: 'openai', key: VENDOR_KEY },
          ],
          models: {
            'test-model': {
              from: ['main'],
              fallback: ['broken'],
              price: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.25 },
            },
            painter: { from: ['main'], only: ['images'], price: { perImage: 0.04 } },
            broken: { from: ['gone'], free: true },
            'gpt-4o': { from: ['listed'], price: [EVERY_PRICE, { ...EVERY_PRICE, from: '2999-01-01' }] },
            omni: { alias: 'gpt-4o' },
          },
          // The whole day is quiet: nothing is sent but the test.
          alerts: {
            to: [{ webhook: 'http://127.0.0.1:12/' }],
            budget: { gateway: 0.000001 },
            quiet: '00:00-00:00',
          },
          plans: { pro: { title: 'Pro', daily: 5, weekly: 20, monthly: 50, price: 19.99, balance: 2 } },
          prices: { updates: { from: `http://127.0.0.1:${(list.address() as AddressInfo).port}/` } },
          ...(!isOnPostgres() && { backup: { to: './backups' } }),
          payments: { stripe: stripe.section, creem: creem.section, alipay: alipay.section, epay: fakeEpay().section },
        },
      },
    );
    rows = rowsOf(await describedInterface(gateway));
  });
  after(async () => {
    await gateway?.stop();
    list?.close();
    await Promise.all([vendor, ...closing].map((each) => each.close()));
  });

  /** Holds an answer against what is written of it; what is in it. */
  function told(method: Method, path: string, { status, body, text }: ApiAnswer): Any {
    const asked = `${method} ${path.replace(/\?.*/, '')}`;
    assert.equal(status, 200, `${asked}: ${text}`);
    // A word of a path is that word before it is any.
    const row =
      rows.find(({ name }) => name === asked) ??
      rows.find(({ matches }) => matches.test(asked)) ??
      assert.fail(`${asked} is not described`);
    row.asked++;
    if (!row.fits(body))
      for (const { instancePath, message } of row.fits.errors ?? []) row.misfits.add(`${instancePath} ${message}`);
    look(row, row.schema, body);
    return 'data' in body ? body.data : body;
  }

  async function ask(who: Visitor, method: Method, path: string, body?: unknown): Promise<Any> {
    switch (method) {
      case 'GET':
        return told(method, path, await who.get(path));
      case 'DELETE':
        return told(method, path, await who.delete(path));
      case 'POST':
        return told(method, path, await who.post(path, body ?? {}));
      case 'PUT':
        return told(method, path, await who.put(path, body ?? {}));
    }
  }
  const get = (who: Visitor, path: string): Promise<Any> => ask(who, 'GET', path);
  const post = (who: Visitor, path: string, body?: unknown): Promise<Any> => ask(who, 'POST', path, body);
  const put = (who: Visitor, path: string, body?: unknown): Promise<Any> => ask(who, 'PUT', path, body);
  const remove = (who: Visitor, path: string): Promise<Any> => ask(who, 'DELETE', path);

  /** What a letter says there; those that do not are not waited for. */
  async function written(there: RegExp): Promise<string> {
    for (;;) {
      const found = there.exec((await box.letter()).text)?.[1];
      if (found !== undefined) return found;
    }
  }

  const people = {} as { boss: Visitor; ann: Visitor; annId: number; secret: string; key: string; keyId: number };

  /** Root is checked: five minutes of what is sensitive. */
  const check = (): Promise<Any> =>
    post(people.boss, '/api/verify', { method: '2fa', code: nextCodeOf(people.secret, clock) });

  it('of signing in', async () => {
    const anybody = visitor(gateway);
    for (const path of ['status', 'setup', 'notice', 'about', 'home_page_content', 'openapi.json']) {
      await get(anybody, `/api/${path}`);
    }
    await post(anybody, '/api/user/register', { username: 'rita', password: PASSWORD });
    const boss = visitor(gateway);
    await post(boss, '/api/user/login', { username: 'root', password: ROOT_ENV.TURNPIKE_ROOT_PASSWORD });
    await get(boss, '/api/user/2fa/status');
    const { secret } = await post(boss, '/api/user/2fa/setup');
    await post(boss, '/api/user/2fa/enable', { code: codeOf(secret, clock) });
    await get(boss, '/api/user/2fa/status');
    await get(boss, '/api/verify/status');
    await post(boss, '/api/verify', { method: '2fa', code: nextCodeOf(secret, clock) });
    await get(boss, '/api/verify/status');
    await post(boss, '/api/user/2fa/backup_codes', { code: nextCodeOf(secret, clock) });

    const again = visitor(gateway);
    await post(again, '/api/user/login', { username: 'root', password: ROOT_ENV.TURNPIKE_ROOT_PASSWORD });
    await post(again, '/api/user/login/2fa', { code: nextCodeOf(secret, clock) });
    await get(again, '/api/user/sessions');
    await get(again, '/api/user/logout');
    await post(again, '/api/user/auth/logout');
    await post(again, '/api/user/logout');

    const ann = await member(gateway, 'ann', { units: 50_000_000 });
    const { id: annId } = await get(ann, '/api/user/self');
    const limits = [{ requests_per_minute: 1_000, monthly_budget: 1_000_000 }];
    const { key, id: keyId } = await post(ann, '/api/token/', { name: 'cli', remain_quota: 500_000, limits });
    for (const call of [{}, { stream: true }, { model: 'broken' }, { model: 'painter' }]) {
      await (await gateway.chat({ max_tokens: 10, ...call }, { key })).text();
    }
    Object.assign(people, { boss, ann, annId, secret, key, keyId });
  });

  it('of an account', async () => {
    const { boss, ann, annId } = people;
    await put(ann, '/api/user/self', { display_name: 'Ann' });
    await put(ann, '/api/user/setting', { notify_type: 'email', quota_warning_threshold: 1_000, record_ip_log: true });
    await get(ann, '/api/verification?email=ann@example.com');
    await get(ann, `/api/oauth/email/bind?email=ann@example.com&code=${await written(CODE)}`);
    await get(ann, '/api/verification?email=ann@example.org');
    await post(ann, '/api/oauth/email/bind', { email: 'ann@example.org', code: await written(CODE) });
    await get(visitor(gateway), '/api/reset_password?email=ann@example.org');
    const token = await written(/code=(\w+)/);
    await post(visitor(gateway), '/api/user/reset', { email: 'ann@example.org', token, password: PASSWORD });
    await ann.signIn('ann', PASSWORD);
    await get(ann, '/api/user/token');
    await get(ann, '/api/user/token/status');
    await remove(ann, '/api/user/token');
    await post(ann, '/api/user/sessions/revoke-others');

    await get(visitor(gateway), '/api/oauth/state?provider=github');
    await post(ann, '/api/oauth/state', { provider: 'github', intent: 'bind' });
    const connect = async (query: string, who: Visitor, somebody = { subject: '4711', name: 'ann' }) => {
      const back = await thereAndBack(who, 'github', somebody, query);
      await get(who, pathOf(back));
    };
    await connect('?intent=bind', ann);
    await connect('', visitor(gateway));
    await check();
    const boundToBoss = { subject: '1', name: 'root' };
    await connect('?intent=bind', boss, boundToBoss);
    await connect('', visitor(gateway), boundToBoss);
    await get(ann, '/api/user/self');
    await get(boss, `/api/user/${annId}`);
    await get(ann, '/api/user/unbind/github');
    await connect('?intent=bind', ann);
    await remove(ann, '/api/user/unbind/github');
    await connect('?intent=bind', ann);
    assert.ok(github.asked.length > 0, 'it was asked');

    const device = authenticator(ORIGIN);
    await get(ann, '/api/user/passkey');
    const adding = await post(ann, '/api/user/passkey/register/begin');
    await post(ann, '/api/user/passkey/register/finish', { credential: device.create(adding.options) });
    const later = visitor(gateway);
    const begun = await post(later, '/api/user/passkey/login/begin');
    await post(later, '/api/user/passkey/login/finish', { credential: device.get(begun.options) });
    await get(later, '/api/user/passkey');
    const asked = await post(later, '/api/verify', { method: 'passkey' });
    await post(later, '/api/user/passkey/verify/finish', { credential: device.get(asked.options) });
    await post(later, '/api/verify', { method: 'passkey' });
    await post(later, '/api/user/passkey/verify/begin');
    const sessions = await get(later, '/api/user/sessions');
    await remove(later, `/api/user/sessions/${sessions.find(({ current }: Any) => !current).sid}`);
    await remove(later, '/api/user/passkey');
    await ann.signIn('ann', PASSWORD);
  });

  it('of keys and of what they used', async () => {
    const { ann, boss, key, keyId } = people;
    await get(ann, '/api/token/');
    await get(ann, '/api/token/search?keyword=cli');
    const byDefault = await get(ann, '/api/token/default');
    await put(ann, '/api/token/', { id: byDefault.id, limits: [{ concurrent: 3 }] });
    await get(ann, '/api/token/default');
    await get(ann, `/api/token/${keyId}/limits`);
    await get(ann, `/api/token/${keyId}`);
    await put(ann, '/api/token/', { id: keyId, name: 'console' });
    const [one, two] = [await post(ann, '/api/token/', { name: 'a' }), await post(ann, '/api/token/', { name: 'b' })];
    await remove(ann, `/api/token/${one.id}`);
    await post(ann, '/api/token/batch', { ids: [two.id] });
    const { id } = await post(boss, '/api/token/', { name: 'to be exchanged', limits: [{ concurrent: 3 }] });
    await check();
    await post(boss, `/api/token/${id}/key`, { grace_seconds: 60 });

    const byKey = visitor(gateway, { authorization: `Bearer ${key}` });
    await put(ann, '/api/token/', { id: keyId, model_limits: 'test-model,broken' });
    await get(ann, '/api/models/catalog');
    const supposed = { style: 'chat', body: { model: 'broken', messages: [{ role: 'user', content: 'Hello' }] } };
    await post(ann, '/api/playground/estimate', { token_id: keyId, ...supposed });
    await post(ann, '/api/playground/estimate', { token_id: keyId, style: 'chat', body: {} });
    await get(byKey, '/api/usage/token/');
    await get(byKey, '/api/log/token');
    await get(byKey, '/v1/dashboard/billing/subscription');
    await get(byKey, '/v1/dashboard/billing/usage');
    await get(visitor(gateway, { authorization: `Bearer ${key}` }), '/api/pricing');
    await get(ann, '/api/pricing');
    for (const path of ['models', 'self/groups', 'groups']) await get(ann, `/api/user/${path}`);
    for (const path of ['self', 'self/search?keyword=test-model', 'self/stat']) await get(ann, `/api/log/${path}`);
    await get(ann, '/api/log/self?page_size=1');
    await get(ann, '/api/data/self');

    const drawn = usageRecord({
      id: idAt(clock.now()),
      atMs: clock.now(),
      accountId: people.annId,
      keyId,
      usage: { ...NO_TOKENS, images: { count: 2, size: '1024x1024', quality: 'hd' } },
    });
    await gateway.host.store.atomic(gateway.host.use(Records).steps(drawn));
    for (const type of [2, 5]) {
      for (const { request_id } of (await get(ann, `/api/log/self?type=${type}`)).items) {
        await get(ann, `/api/log/self/detail/${request_id}`);
        await get(boss, `/api/log/detail/${request_id}`);
      }
    }
    const stored = await gateway.chat(
      {
        messages: [{ role: 'user', name: 'ann', content: 'What is stored?' }],
        tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
        max_tokens: 10,
      },
      { key },
    );
    await stored.text();
    const call = stored.headers.get('x-request-id');
    await get(ann, `/api/log/self/content/${call}`);
    await check();
    await get(boss, `/api/log/content/${call}`);
    await get(ann, '/api/log/self/latency');
    await get(boss, '/api/log/latency');
    for (const path of ['trend', 'sums', 'trend?group_by=none', 'sums?group_by=key'])
      await get(ann, `/api/usage/self/${path}`);
    await get(ann, '/api/token/usage?days=2');
    await get(ann, '/api/user/statement?days=2');
  });

  it('of money', async () => {
    const { ann, boss, annId } = people;
    await get(ann, '/api/user/topup/info');
    for (const place of ['', '/stripe', '/alipay']) await post(ann, `/api/user${place}/amount`, { amount: 10 });
    await post(ann, '/api/user/pay', { amount: 10, payment_method: 'wxpay' });
    await post(ann, '/api/user/stripe/pay', { amount: 10 });
    const { order_id } = await post(ann, '/api/user/alipay/pay', { amount: 10 });
    await post(ann, '/api/user/alipay/pay', { amount: 10, payment_method: 'alipay_qr' });
    await post(ann, '/api/user/creem/pay', { product_id: 'prod_small' });
    for (const name of ['stripe', 'alipay', 'epay']) await post(ann, `/api/subscription/${name}/pay`, { plan: 'pro' });
    await post(ann, '/api/subscription/alipay/pay', { plan: 'pro', payment_method: 'alipay_qr' });
    await get(ann, '/api/user/topup/self');
    await get(ann, `/api/user/topup/status?trade_no=${order_id}`);
    await get(boss, '/api/user/topup');
    await check();
    await post(boss, '/api/user/topup/complete', { trade_no: order_id });
    await put(ann, '/api/user/billing', { name: 'Ann', address: 'London', tax_id: 'GB1' });
    await get(ann, '/api/user/billing');

    const [code] = await post(boss, '/api/redemption/', { name: 'gift', quota: 500_000, count: 2 });
    await post(ann, '/api/user/topup', { key: code });
    const { items } = await get(boss, '/api/redemption/');
    await get(boss, '/api/redemption/search?keyword=gift');
    const [unused] = items.filter(({ status }: Any) => status === 1);
    await get(boss, `/api/redemption/${unused.id}`);
    await put(boss, '/api/redemption/', { id: unused.id, name: 'present' });
    await remove(boss, '/api/redemption/invalid');
    await remove(boss, `/api/redemption/${unused.id}`);

    await post(ann, '/api/subscription/balance/pay', { plan: 'pro' });
    await get(ann, '/api/subscription/plans');
    await get(ann, '/api/user/subscription/stats');
    await post(boss, '/api/subscription/admin/bind', { user_id: annId, plan: 'pro' });
    await get(ann, '/api/user/subscription/stats');
    await get(ann, '/api/subscription/self');
    await get(boss, `/api/subscription/admin/users/${annId}`);
    await post(boss, '/api/subscription/admin/cancel', { user_id: annId });
  });

  it('of administration', async () => {
    const { boss, annId, key } = people;
    await check();
    const invitation = await post(boss, '/api/user/invitation');
    await get(boss, '/api/user/invitations');
    await remove(boss, `/api/user/invitations/${invitation.id}`);
    const [invited] = await post(boss, '/api/user/invitations', { emails: ['ina@example.com'], quota: 5 });
    await post(boss, `/api/user/invitations/${invited.id}/resend`);
    await written(INVITATION);
    await get(visitor(gateway), `/api/invitation?code=${await written(INVITATION)}`);
    const { id } = await post(boss, '/api/user/', { username: 'bert', password: PASSWORD, remark: 'new' });
    await put(boss, '/api/user/', { id, display_name: 'Bert' });
    await get(boss, '/api/user/');
    await get(boss, '/api/user/search?keyword=bert');
    await check();
    const token = await post(boss, '/api/service-token/', {
      name: 'ci',
      scopes: ['users:read'],
      addresses: ['127.0.0.1', '::1'],
    });
    await get(boss, '/api/service-token/');
    await remove(boss, `/api/service-token/${token.id}`);
    await get(boss, '/api/token/users');
    await get(boss, `/api/token/${people.keyId}/limits`);
    const { id: batched } = await boss.data('POST', '/api/user/', { username: 'batched', password: PASSWORD });
    await post(boss, '/api/user/batch', { ids: [batched], action: 'disable' });
    const { id: passing } = await boss.data('POST', '/api/department/', { name: 'Passing' });
    await post(boss, '/api/department/batch', { ids: [passing], action: 'delete' });
    await post(boss, '/api/user/manage', { id, action: 'disable' });

    const top = await post(boss, '/api/department/', { name: 'Research', quota: 1_000_000, monthly_quota: 500_000 });
    const below = await post(boss, '/api/department/', { name: 'Lab', parent_id: top.id });
    await put(boss, `/api/department/${below.id}`, { name: 'Laboratory' });
    await post(boss, `/api/department/${top.id}/recharge`, { amount: 1_000 });
    await post(boss, `/api/department/${top.id}/members`, { user_ids: [annId] });
    await get(await signedIn(gateway, 'ann'), '/api/user/department');
    await (await gateway.chat({ max_tokens: 10 }, { key })).text();
    for (const path of [
      '',
      'names',
      'tree',
      `${top.id}`,
      `${top.id}/usage`,
      `${below.id}/usage`,
      `${top.id}/members`,
    ]) {
      await get(boss, `/api/department/${path}`);
    }
    for (const path of [
      'overview',
      'cost-trend',
      'cost-trend?granularity=hour&group_by=key',
      'budgets',
      'members',
      'models',
    ]) {
      await get(boss, `/api/team/${path}`);
    }
    for (const path of ['trend?granularity=hour&top=1', 'sums?group_by=channel', 'sums?group_by=account']) {
      await get(boss, `/api/usage/${path}`);
    }
    await get(boss, '/api/team/forecast');
    await remove(boss, `/api/department/${top.id}/members/${annId}`);
    await remove(boss, `/api/department/${below.id}`);

    await get(boss, '/api/group/');
    await get(boss, '/api/vendor/');
    await get(boss, '/api/vendor/routes');
    await get(boss, '/api/models/catalog');
    await get(boss, '/api/price/');
    const { id: bossKey } = await boss.data('POST', '/api/token/', { name: 'to try with', unlimited_quota: true });
    const body = { model: 'test-model', messages: [{ role: 'user', content: 'Hello' }] };
    await post(boss, '/api/playground/estimate', { token_id: bossKey, style: 'chat', body });
    await post(boss, '/api/vendor/main/test', { model: 'test-model' });
    await post(boss, '/api/vendor/gone/test');
    await get(boss, '/api/audit?page_size=1');
    await get(boss, '/api/audit');
    await get(boss, '/api/audit/chain');
    // An entry that was there once is missing.
    await get(boss, '/api/audit/chain?after=1000000');
    await get(boss, '/api/log/');
    await get(boss, '/api/log/stat');
    await get(boss, '/api/data/?username=ann');

    const rita = await visitor(gateway).signIn('rita', PASSWORD);
    const { id: ritaId } = await get(rita, '/api/user/self');
    const { secret: hers } = await rita.data('POST', '/api/user/2fa/setup');
    await rita.data('POST', '/api/user/2fa/enable', { code: codeOf(hers, clock) });
    await post(rita, '/api/user/2fa/disable', { code: nextCodeOf(hers, clock) });
    await rita
      .data('POST', '/api/user/2fa/setup')
      .then(({ secret: other }) => rita.data('POST', '/api/user/2fa/enable', { code: codeOf(other, clock) }));
    const device = authenticator(ORIGIN);
    const sessions = await get(boss, `/api/user/${ritaId}/sessions`);
    await remove(boss, `/api/user/${ritaId}/sessions/${sessions[0].id}`);
    await remove(boss, `/api/user/${ritaId}/2fa`);
    await rita.signIn('rita', PASSWORD);
    const { options } = await rita.data('POST', '/api/user/passkey/register/begin');
    await rita.data('POST', '/api/user/passkey/register/finish', { credential: device.create(options) });
    await remove(boss, `/api/user/${ritaId}/reset_passkey`);
    await remove(boss, `/api/user/${ritaId}/sessions`);
    await remove(boss, `/api/user/${annId}/bindings/github`);
    await rita.signIn('rita', PASSWORD);
    await remove(rita, '/api/user/self');
    await remove(boss, `/api/user/${id}`);
    await get(boss, '/api/user/search?status=-1');
  });

  it('of the machine', async () => {
    const { ann, boss, key } = people;
    vendor.next([hold('live'), ...wholeAnswer()]);
    const calling = gateway.chat({ max_tokens: 10 }, { key });
    await vendor.waitFor(() => vendor.inFlight === 1);
    for (const [who, path] of [
      [ann, '/api/log/self/live'],
      [boss, '/api/log/live'],
    ] as const) {
      assert.equal((await get(who, path)).total, 1);
    }
    vendor.release('live');
    await (await calling).text();

    if (!isOnPostgres()) {
      await gateway.command('backup now');
      const folder = join(gateway.dir, 'backups');
      rmSync(folder, { recursive: true });
      writeFileSync(folder, '');
      await assert.rejects(gateway.command('backup now'), /EEXIST/);
      await check();
      await post(boss, '/api/system/backup');
    }
    for (let turn = 0; turn < 20 && (await get(boss, '/api/alerts')).open.length === 0; turn++) {
      await advanced(gateway, clock, 5_000);
    }
    await post(boss, '/api/alerts/test');
    await get(boss, '/api/system/doctor');
    await get(boss, '/api/system');
    await get(boss, '/api/system/history');
    await get(boss, '/api/config/schema');
    const { running } = await get(boss, '/api/config');
    const wrong = running.text.replace(/^channels:/m, 'chanels:');
    await post(boss, '/api/config/check', { text: running.text });
    await post(boss, '/api/config/check', { text: wrong });
    const whole = readFileSync(gateway.configFile, 'utf8');
    writeFileSync(gateway.configFile, wrong);
    await get(boss, '/api/config');
    writeFileSync(gateway.configFile, whole);
    await check();
    const { digest } = await get(boss, '/api/price/update');
    await post(boss, '/api/price/update', { digest });
    await get(boss, '/api/price/update/history');
    await post(boss, '/api/config/reload');
  });

  it('of an import', async () => {
    const { boss } = people;
    await check();
    const file = join(gateway.dir, 'other.db');
    makeSqlite(file, NEW_API_VERSIONS[2]!, {
      users: [{ id: 2, username: 'moved', password: 'x', role: 1, status: 1, quota: 5, email: 'moved@example.com' }],
      tokens: [
        { id: 1, user_id: 2, key: 'm'.repeat(48), name: 'k', status: 1, expired_time: -1, unlimited_quota: 1 },
        // Its list is empty: it is disabled, which somebody has to know.
        { id: 2, user_id: 2, key: 'n'.repeat(48), name: 'no models', status: 1, model_limits_enabled: 1 },
      ],
      channels: [
        { id: 1, type: 1, key: 'sk-v', status: 1, name: 'there', base_url: '', models: 'gpt-4o', group: 'default' },
        { id: 2, type: 18, key: 'x', status: 1, name: 'odd', models: 'spark', group: 'default' },
      ],
      options: [
        { key: 'ModelRatio', value: '{"gpt-4o":5}' },
        { key: 'Notice', value: 'Welcome' },
      ],
    });
    changeSqlite(
      file,
      `CREATE TABLE logs (id integer PRIMARY KEY, user_id integer, created_at bigint, type integer, content text, username text,
        token_name text, model_name text, quota integer, prompt_tokens integer, completion_tokens integer, channel_id integer,
        "group" text, other text);
      INSERT INTO logs (user_id, created_at, type, model_name, quota, prompt_tokens, completion_tokens, "group", other)
        VALUES (2, 1790000000, 2, 'gpt-4o', 7, 1000, 500, 'default', '{"model_ratio":0.001,"group_ratio":1}')`,
    );
    const { id } = await post(boss, '/api/import/upload', { data: readFileSync(file).toString('base64') });
    for (const isDry of [true, false]) {
      await post(boss, '/api/import', { program: 'new-api', upload: id, dry_run: isDry });
      let run = await get(boss, '/api/import');
      while (run.state === 'running') run = await get(boss, '/api/import');
      assert.equal(run.state, 'done', run.reason);
    }
  });

  it('of the configuration', async () => {
    const { boss } = people;
    await check();
    const now = await get(boss, '/api/config');
    const end = parse(now.text).channels.length as number;
    await put(boss, '/api/config/secrets/ADDRESS', { value: vendor.url });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of gateway.yaml
    const channel = { name: 'added', vendor: 'compatible', url: '${secret:ADDRESS}', key: 'a1b2c3d4e5f6a1b2c3d4e5f6' };
    const edit = (value: object) =>
      post(boss, '/api/config/edit', { text: now.text, edits: [{ path: ['channels', end], value }] });
    await edit({ ...channel, vendor: 'nobody' });
    const { text } = await edit(channel);
    const saved = await put(boss, '/api/config', { text, revision: now.revision, note: 'one more' });
    const { items } = await get(boss, '/api/config/versions');
    await get(boss, `/api/config/versions/${items.at(-1).id}`);
    await post(boss, `/api/config/versions/${saved.version}/restore`, { revision: saved.revision });
    assert.equal((await put(boss, '/api/config/secrets/ADDRESS', { value: 'no address' })).problems.length, 1);
    await put(boss, '/api/config/secrets/ADDRESS', { value: vendor.url });
    vendor.next(jsonAnswer(200, { data: [{ id: 'm' }] }), jsonAnswer(200, { data: [] }));
    const shown = await get(boss, '/api/config');
    await post(boss, '/api/config/models', { text: shown.text, channel: 'added' });
    await post(boss, '/api/config/try', { text: shown.text, channel: 'added' });
    await put(boss, '/api/config/secrets/SPARE', { value: 'x' });
    await remove(boss, '/api/config/secrets/SPARE');
    const off = `${shown.text}\nconfiguration: { editor: false }\n`;
    await put(boss, '/api/config', { text: off, revision: shown.revision });
    await get(boss, '/api/config');
  });

  it('were asked for, each of them', () => {
    assert.ok(rows.length > 120, `only ${rows.length} rows`);
    assert.deepEqual(
      rows.filter(({ asked }) => asked === 0).map(({ name }) => name),
      // A server has backups of its own.
      isOnPostgres() ? ['POST /api/system/backup'] : [],
    );
  });

  it('are as they are described', () => {
    assert.deepEqual(
      rows.flatMap(({ name, misfits }) => [...misfits].map((fault) => `${name}: ${fault}`)),
      [],
    );
  });

  it('have no member that is not described', () => {
    assert.deepEqual(
      rows.flatMap(({ name, undescribed }) => [...undescribed].map((place) => `${name}: ${place}`)),
      [],
    );
  });

  it('have every member that is described', () => {
    const never = [
      // A subscription that was just cancelled has no windows any more.
      /^POST \/api\/subscription\/admin\/cancel: \/data\/(windows|daily|weekly|monthly)\//,
      // A server has backups of its own, which the gateway does not know; dumps have a test of their own.
      ...(isOnPostgres() ? [/^GET \/api\/system: \/data\/backups?\//, /^POST \/api\/system\/backup: /] : []),
    ];
    assert.deepEqual(
      rows
        .flatMap(({ name, schema, seen }) =>
          [...new Set(placesOf(schema))].filter((place) => !seen.has(place)).map((place) => `${name}: ${place}`),
        )
        .filter((place) => !never.some((pattern) => pattern.test(place))),
      [],
    );
  });
});
