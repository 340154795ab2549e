/**
 * Existing tools for gateways of this family, re-enacted request for request: each sends what it sends elsewhere, and reads from the
 * answers what it reads there.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { generate } from 'otplib';
import {
  CONSOLE_PIPELINE,
  member,
  PASSWORD,
  PATIENT,
  ROOT_ENV,
  root,
  type Visitor,
  verify,
} from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../kit/vendors/fake-vendor.ts';

// biome-ignore lint/suspicious/noExplicitAny: tools look into answers of every shape
type Any = any;
type Headers = Readonly<Record<string, string>>;

interface Given {
  readonly status: number;
  readonly json: Any;
  readonly cookies: readonly string[];
}

/** The balance that ann begins with, in quota units. */
const BALANCE = 2_000_000;
/** What these tools divide by: it is written into most of them. */
const PER_UNIT = 500_000;

let vendor: FakeVendor;
let gateway: TestGateway;
let ann: Visitor;
let boss: Visitor;
let annId: number;
/** A key of ann's that has been used. */
let key: string;
let accessToken: string;

before(async () => {
  vendor = await fakeVendor();
  gateway = await startGateway({
    vendor,
    config: { pipeline: CONSOLE_PIPELINE, console: { ...PATIENT, name: 'Acme AI' } },
    env: ROOT_ENV,
  });
  ann = await member(gateway, 'ann', { units: BALANCE });
  annId = (await ann.data('GET', '/api/user/self')).id;
  boss = await verify(await root(gateway));
  key = (await ann.data('POST', '/api/token/', { name: 'cli', remain_quota: PER_UNIT })).key;
  accessToken = await ann.data('GET', '/api/user/token');
  await (await gateway.chat({ max_tokens: 10 }, { key })).text();
  await (await gateway.chat({ max_tokens: 10, stream: true }, { key })).text();
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
});

/** A request exactly as the tool makes it: no header is added. */
async function send(path: string, headers: Headers = {}, method = 'GET', body?: unknown): Promise<Given> {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    json: text === '' ? undefined : JSON.parse(text),
    cookies: response.headers.getSetCookie(),
  };
}

/** What a browser sends back. */
function cookieOf({ cookies }: Given): string {
  return cookies
    .map((line) => line.split(';')[0]!)
    .filter((pair) => !pair.endsWith('='))
    .join('; ');
}

/** Fails unless the members are there and of that kind. */
function has(value: Any, members: Readonly<Record<string, string>>): void {
  for (const [name, type] of Object.entries(members)) {
    const given = value?.[name];
    const found = Array.isArray(given)
      ? 'array'
      : Number.isInteger(given)
        ? 'integer'
        : given === null
          ? 'null'
          : typeof given;
    assert.ok(
      found === type || (type === 'number' && found === 'integer'),
      `${name} is ${found}: ${JSON.stringify(value)}`,
    );
  }
}

describe('the usage script of cc-switch', () => {
  const headers = (token: string): Headers => ({
    'Content-Type': 'application/json',
    Authorization: `Bearer ${token}`,
    'User-Agent': 'cc-switch/1.0',
    'New-Api-User': `${annId}`,
  });
  /** What its extractor makes of an answer. */
  function extract(answer: Any) {
    if (!answer.success || !answer.data) return { isValid: false, invalidMessage: answer.message || 'Query failed' };
    const { group, quota, used_quota } = answer.data;
    return {
      planName: group || 'Default plan',
      remaining: quota / PER_UNIT,
      used: used_quota / PER_UNIT,
      total: (quota + used_quota) / PER_UNIT,
      unit: 'USD',
    };
  }

  it('shows what is left and what was used', async () => {
    const { status, json } = await send('/api/user/self', headers(accessToken));
    assert.equal(status, 200);
    const shown = extract(json) as Any;
    assert.equal(shown.planName, 'default');
    assert.ok(shown.used > 0, 'the calls cost something');
    assert.ok(Math.abs(shown.total - BALANCE / PER_UNIT) <= 2 / PER_UNIT, `${shown.total} in all`);
  });

  it('shows why it could not ask', async () => {
    const { status, json } = await send('/api/user/self', headers(key));
    assert.equal(status, 401);
    assert.deepEqual(extract(json), {
      isValid: false,
      invalidMessage: 'An API key was sent instead of an access token. Send an access token, or sign in.',
    });
  });
});

describe('the browser extension all-api-hub', () => {
  /** It names the account in the header of every gateway it knows. */
  const userHeaders = (id: number): Headers =>
    Object.fromEntries(
      ['New-API-User', 'Veloera-User', 'voapi-user', 'User-id', 'X-Api-User', 'Rix-Api-User', 'neo-api-user'].map(
        (name) => [name, `${id}`],
      ),
    );
  const base: Headers = { 'Content-Type': 'application/json', Pragma: 'no-cache' };
  const byToken = (): Headers => ({
    ...base,
    ...userHeaders(annId),
    Cookie: '',
    Authorization: `Bearer ${accessToken}`,
  });
  /** From its own pages; browsers say of those that nobody's site began it. */
  const byCookie = (cookie: string, id?: number): Headers => ({
    ...base,
    ...(id !== undefined && userHeaders(id)),
    Cookie: cookie,
    'Sec-Fetch-Site': 'none',
    Origin: 'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
  });

  /** Of ann, as her browser has it. */
  let cookie = '';

  /** What is in an answer; it takes nothing but success, with data. */
  async function data(path: string, headers: Headers, method = 'GET', body?: unknown): Promise<Any> {
    const { status, json } = await send(path, headers, method, body);
    assert.equal(status, 200, `${method} ${path}: ${JSON.stringify(json)}`);
    assert.equal(json.success, true);
    assert.notEqual(json.data, undefined);
    return json.data;
  }

  /** Every page of a list of lines. */
  async function lines(type: number): Promise<readonly Any[]> {
    const all: Any[] = [];
    for (let page = 1; ; page++) {
      const query = new URLSearchParams({
        p: `${page}`,
        page_size: '100',
        type: `${type}`,
        token_name: '',
        model_name: '',
        start_timestamp: `${Math.floor(Date.now() / 86_400_000) * 86_400 - 86_400}`,
        end_timestamp: `${Math.floor(Date.now() / 86_400_000) * 86_400 + 86_399}`,
        group: '',
      });
      const found = await data(`/api/log/self?${query}`, byToken());
      has(found, { items: 'array', total: 'integer' });
      all.push(...found.items);
      if (page >= Math.ceil(found.total / 100)) return all;
    }
  }

  it('finds the account that is signed in, and an access token for it', async () => {
    const status = await data('/api/status', {});
    has(status, { price: 'number', stripe_unit_price: 'number', system_name: 'string', checkin_enabled: 'boolean' });
    assert.ok(status.price > 0, 'it is the rate of exchange');

    const visit = { ...base, 'Sec-Fetch-Site': 'same-origin' };
    cookie = cookieOf(await send('/api/user/login', visit, 'POST', { username: 'ann', password: PASSWORD }));
    const self = await data('/api/user/self', byCookie(cookie));
    has(self, {
      id: 'integer',
      username: 'string',
      quota: 'integer',
      used_quota: 'integer',
      group: 'string',
      github_id: 'string',
      linux_do_id: 'string',
    });
    assert.ok(!self.access_token, 'it would be used for ever');

    // The newest generation has another way to sign in and another kind of token; where there is none, this one is as before.
    assert.equal((await send('/api/user/auth/refresh', byCookie(cookie, self.id), 'POST')).status, 404);
    assert.notEqual((await send('/api/user/access_tokens', byCookie(cookie, self.id))).status, 200);

    accessToken = await data('/api/user/token', byCookie(cookie, self.id));
    assert.match(accessToken, /^\S{20,}$/);
    assert.equal((await data('/api/user/self', byToken())).id, self.id);
  });

  it('lists, makes, changes and ends keys', async () => {
    const form = {
      name: 'from the extension',
      remain_quota: 250_000,
      expired_time: -1,
      unlimited_quota: false,
      model_limits_enabled: true,
      model_limits: 'test-model,free-model',
      allow_ips: '',
      group: '',
    };
    assert.equal((await send('/api/token/', byToken(), 'POST', form)).json.success, true);
    const list = async () => data('/api/token/?p=0&size=100', byToken());
    const page = await list();
    has(page, { page: 'integer', page_size: 'integer', total: 'integer', items: 'array' });
    const [made] = page.items;
    has(made, {
      id: 'integer',
      user_id: 'integer',
      key: 'string',
      status: 'integer',
      name: 'string',
      created_time: 'integer',
      accessed_time: 'integer',
      expired_time: 'integer',
      remain_quota: 'integer',
      unlimited_quota: 'boolean',
      model_limits_enabled: 'boolean',
      model_limits: 'string',
      allow_ips: 'string',
      used_quota: 'integer',
      group: 'string',
    });
    assert.deepEqual(Object.fromEntries(Object.keys(form).map((name) => [name, made[name]])), form);
    assert.match(made.key, /\*/, 'it is told from a whole one by its asterisks');
    assert.equal((await data(`/api/token/${made.id}`, byToken())).name, form.name);
    assert.equal(
      (await data(`/api/token/search?keyword=${encodeURIComponent('extension')}&token=`, byToken())).total,
      1,
    );

    const change = {
      ...form,
      id: made.id,
      name: 'another name',
      unlimited_quota: true,
      model_limits_enabled: false,
      model_limits: '',
    };
    assert.equal((await send('/api/token/', byToken(), 'PUT', change)).json.success, true);
    const changed = (await list()).items.find(({ id }: Any) => id === made.id);
    assert.deepEqual([changed.name, changed.unlimited_quota, changed.model_limits], ['another name', true, '']);

    const off = await send('/api/token/?status_only=true', byToken(), 'PUT', { id: made.id, status: 2 });
    assert.deepEqual([off.json.success, off.json.data.status, off.json.data.name], [true, 2, 'another name']);
    assert.equal((await send(`/api/token/${made.id}`, byToken(), 'DELETE')).json.success, true);
    assert.ok(!(await list()).items.some(({ id }: Any) => id === made.id), 'it is gone');
  });

  it('sums up the day', async () => {
    const used = await lines(2);
    assert.equal(used.length, 2);
    for (const line of used) {
      has(line, {
        id: 'integer',
        user_id: 'integer',
        created_at: 'integer',
        type: 'integer',
        content: 'string',
        username: 'string',
        token_name: 'string',
        model_name: 'string',
        quota: 'number',
        prompt_tokens: 'integer',
        completion_tokens: 'integer',
        use_time: 'integer',
        is_stream: 'boolean',
        channel_name: 'string',
        token_id: 'integer',
        group: 'string',
        ip: 'string',
        request_id: 'string',
        other: 'string',
      });
      assert.equal(typeof JSON.parse(line.other), 'object');
    }
    const spent = used.reduce((sum, { quota }) => sum + quota, 0);
    const now = Math.floor(Date.now() / 1_000);
    const query = `type=2&token_name=&model_name=&start_timestamp=${now - 86_400}&end_timestamp=${now}&group=&p=1&page_size=100`;
    const stat = await data(`/api/log/self/stat?${query}`, byToken());
    has(stat, { quota: 'number', rpm: 'integer', tpm: 'integer' });
    // Each line is rounded down, their sum once.
    assert.ok(stat.quota >= spent && stat.quota <= spent + used.length, `${stat.quota} for ${spent}`);
  });

  it('redeems a code, and sees it in the income of the day', async () => {
    const [code] = await boss.data('POST', '/api/redemption/', { name: 'gift', quota: PER_UNIT });
    const before = (await data('/api/user/self', byToken())).quota;
    const income = async () => [...(await lines(1)), ...(await lines(4))].reduce((sum, { quota }) => sum + quota, 0);
    const incomeBefore = await income();
    assert.equal(await data('/api/user/topup', byToken(), 'POST', { key: code }), PER_UNIT);
    assert.equal((await data('/api/user/self', byToken())).quota, before + PER_UNIT);
    assert.equal((await income()) - incomeBefore, PER_UNIT);
    const again = await send('/api/user/topup', byToken(), 'POST', { key: code });
    assert.equal(again.json.success, false);
    assert.equal(typeof again.json.message, 'string');
  });

  it('reads models, groups and prices', async () => {
    const models = await data('/api/user/models', byToken());
    assert.ok(models.includes('test-model'), models.join());
    for (const [name, group] of Object.entries<Any>(await data('/api/user/self/groups', byToken()))) {
      assert.equal(name, 'default');
      has(group, { ratio: 'number', desc: 'string' });
    }
    assert.deepEqual(
      await data('/api/group', { ...base, Cookie: [...boss.cookies].map((pair) => pair.join('=')).join('; ') }),
      ['default'],
    );
    const { json: pricing } = await send('/api/pricing', byToken());
    has(pricing, { data: 'array', group_ratio: 'object', success: 'boolean', usable_group: 'object' });
    for (const model of pricing.data) {
      has(model, {
        model_name: 'string',
        quota_type: 'integer',
        model_ratio: 'number',
        model_price: 'number',
        owner_by: 'string',
        completion_ratio: 'number',
        enable_groups: 'array',
        supported_endpoint_types: 'array',
      });
      assert.ok(
        model.enable_groups.every((name: string) => name in pricing.group_ratio),
        'every group has a ratio',
      );
    }
    assert.equal(await data('/api/notice', {}), '');
  });

  it('asks for a whole key, and gets a new one once the person has been checked', async () => {
    const { id } = await data('/api/token/', byCookie(cookie), 'POST', { name: 'hidden' });
    // What it finds out before it asks for a code.
    assert.equal((await data('/api/user/2fa/status', byCookie(cookie))).enabled, false);
    assert.equal((await data('/api/user/passkey', byCookie(cookie))).enabled, false);
    const refused = await send(`/api/token/${id}/key`, byCookie(cookie), 'POST');
    assert.equal(refused.status, 403);
    assert.match(refused.json.message, /verify/, 'it is told from other refusals by its words');

    const { secret, backup_codes: codes } = await data('/api/user/2fa/setup', byCookie(cookie), 'POST');
    await data('/api/user/2fa/enable', byCookie(cookie), 'POST', { code: await generate({ secret }) });
    const first = await send('/api/user/login', byCookie(''), 'POST', { username: 'ann', password: PASSWORD });
    assert.equal(first.json.data.require_2fa, true);
    const second = await send('/api/user/login/2fa', byCookie(cookieOf(first)), 'POST', { code: codes[0] });
    cookie = cookieOf(second);
    assert.equal((await data('/api/user/2fa/status', byCookie(cookie))).enabled, true);
    const check = await send('/api/verify', byCookie(cookie), 'POST', { method: '2fa', code: codes[1] });
    has(check.json.data, { verified: 'boolean', expires_at: 'integer' });
    // A browser keeps the cookie that comes with it.
    cookie = cookieOf(check) || cookie;
    const revealed = await data(`/api/token/${id}/key`, byCookie(cookie), 'POST');
    assert.match(revealed.key, /^sk-[A-Za-z0-9]+$/);
    assert.equal((await gateway.chat({ model: 'free-model' }, { key: revealed.key })).status, 200);
  });
});

describe('neko-api-key-tool', () => {
  const bearer = (): Headers => ({ Authorization: `Bearer ${key}` });

  it('shows what a key was given and has used', async () => {
    const subscription = (await send('/v1/dashboard/billing/subscription', bearer())).json;
    const usage = (await send('/v1/dashboard/billing/usage?start_date=2026-8-12&end_date=2026-11-20', bearer())).json;
    has(subscription, { hard_limit_usd: 'number', access_until: 'integer' });
    assert.equal(subscription.hard_limit_usd.toFixed(3), '1.000');
    assert.equal(subscription.access_until, 0);
    const used = usage.total_usage / 100;
    assert.ok(used > 0 && used < 1, `${used} of 1`);
  });

  it('lists the calls of a key, each with what it cost', async () => {
    // It has the key in the address; what is beside it does here.
    const { json } = await send(`/api/log/token?key=${key}`, bearer());
    assert.equal(json.success, true);
    const rows = json.data.reverse();
    assert.equal(rows.length, 2);
    for (const row of rows) {
      has(row, {
        created_at: 'integer',
        token_name: 'string',
        model_name: 'string',
        use_time: 'integer',
        is_stream: 'boolean',
      });
      has(row, {
        prompt_tokens: 'integer',
        completion_tokens: 'integer',
        quota: 'number',
        content: 'string',
        other: 'string',
      });
      assert.equal(row.type, 2);
      assert.equal(typeof JSON.parse(row.other), 'object');
    }
    const total = (await send('/api/usage/token/', bearer())).json;
    assert.equal(total.code, true);
    const sum = rows.reduce((all: number, { quota }: Any) => all + quota, 0);
    assert.ok(Math.abs(total.data.total_used - sum) <= rows.length, `${sum} of ${total.data.total_used}`);
  });
});

describe('the provider "newapi" of LobeChat', () => {
  it('reads models and prices with the key that it calls with', async () => {
    const headers = { Authorization: `Bearer ${key}`, 'X-Client': 'LobeHub' };
    const { json: models } = await send('/v1/models', headers);
    const { status, json: pricing } = await send('/api/pricing', headers);
    assert.equal(status, 200);
    assert.equal(pricing.success, true);
    const prices = new Map<string, Any>(pricing.data.map((each: Any) => [each.model_name, each]));
    for (const model of models.data) {
      has(model, { id: 'string', object: 'string', created: 'integer', owned_by: 'string' });
      assert.ok(prices.has(model.id), `${model.id} has a price`);
    }
    const { quota_type, model_ratio, model_price, completion_ratio } = prices.get('test-model');
    assert.deepEqual([quota_type, model_price], [0, 0]);
    // Currency units per million tokens, as it works them out.
    assert.deepEqual([model_ratio * 2, model_ratio * 2 * completion_ratio], [1, 2]);
  });

  it('is answered where nobody knows the key', async () => {
    const { status, json } = await send('/api/pricing', { Authorization: 'Bearer sk-of-somewhere-else' });
    assert.deepEqual([status, json.success, json.data], [200, true, []]);
  });
});

describe('a gateway that has this one as its vendor', () => {
  it('signs in, reads what is left and what groups cost, and is told that a key has no other group', async () => {
    await gateway.command('user create --name relay --role admin --password-stdin', PASSWORD);
    const json = { 'Content-Type': 'application/json', Accept: 'application/json' };
    const login = await send('/api/user/login', json, 'POST', { username: 'relay', password: PASSWORD });
    has(login.json.data, {
      id: 'integer',
      username: 'string',
      display_name: 'string',
      role: 'integer',
      status: 'integer',
      group: 'string',
    });
    const headers = { ...json, Cookie: cookieOf(login), 'New-Api-User': `${login.json.data.id}` };
    const read = async (path: string) => (await send(path, headers)).json.data;

    has(await read('/api/user/self'), { id: 'integer', quota: 'integer', used_quota: 'integer' });
    assert.equal((await read('/api/status')).quota_per_unit, PER_UNIT);
    assert.deepEqual(await read('/api/group/'), ['default']);
    assert.equal(typeof (await read('/api/user/self/groups')).default.ratio, 'number');
    has(await read('/api/log/self/stat?type=0&token_name=&model_name=&start_timestamp=0&end_timestamp=0&group='), {
      quota: 'integer',
      rpm: 'integer',
      tpm: 'integer',
    });

    await send('/api/token/', headers, 'POST', { name: 'for the relay', unlimited_quota: true, expired_time: -1 });
    const [shown] = (await read('/api/token/?p=1&page_size=10')).items;
    const changed = await send('/api/token/', headers, 'PUT', { ...shown, group: 'vip', DeletedAt: null });
    assert.deepEqual([changed.status, changed.json.success, changed.json.param], [400, false, 'group']);
    assert.deepEqual((await read('/api/token/?p=1&page_size=10')).items, [shown], 'and the key stays as it is');
    const back = await send('/api/token/', headers, 'PUT', { ...shown, name: 'of the relay', DeletedAt: null });
    assert.deepEqual([back.json.success, back.json.data.name], [true, 'of the relay']);
  });
});

describe('what asks whether it is up', () => {
  for (const method of ['GET', 'HEAD'] as const) {
    it(`is told so by ${method} /api/status`, async () => {
      const { status, json } = await send('/api/status', { 'User-Agent': 'Uptime-Kuma/2.0' }, method);
      assert.equal(status, 200);
      if (method === 'GET') assert.equal(json.success, true);
    });
  }
});

describe('a bot with a cookie that somebody pasted', () => {
  it('reads the account, and is told that there is no check-in', async () => {
    const pasted = [...boss.cookies].map((pair) => pair.join('=')).join('; ');
    const headers: Headers = {
      Accept: 'application/json, text/plain, */*',
      Cookie: `cf_clearance=somebody; ${pasted}; _ga=GA1.1`,
      Origin: gateway.url,
      Referer: `${gateway.url}/console`,
      'Sec-Fetch-Dest': 'empty',
      'Sec-Fetch-Mode': 'cors',
      'Sec-Fetch-Site': 'same-origin',
      'new-api-user': '1',
    };
    const self = await send('/api/user/self', headers);
    assert.equal(self.json.success, true);
    has(self.json.data, { quota: 'integer', used_quota: 'integer', username: 'string' });
    for (const path of ['/api/user/checkin', '/api/user/sign_in', '/api/user/clock_in']) {
      const { status, json } = await send(path, { ...headers, 'Content-Type': 'application/json' }, 'POST', {});
      assert.ok(status >= 404 && status < 500, `${path}: ${status}`);
      assert.ok(json.success !== true, 'nothing was given');
    }
    const stale = await send('/api/user/self', { ...headers, Cookie: 'turnpike_session=of-last-year' });
    assert.deepEqual([stale.status, stale.json.success, typeof stale.json.message], [401, false, 'string']);
  });
});
