/** The log at `/api`: what people see of their own, and administrators of everybody's. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Departments } from '../../../core/contracts/departments.ts';
import { Records } from '../../../core/contracts/records.ts';
import {
  CONSOLE_PIPELINE,
  member,
  PASSWORD,
  PATIENT,
  ROOT_ENV,
  root,
  type Visitor,
  verify,
  visitor,
} from '../../kit/console/console.ts';
import { isOfThisRun } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { idAt, usageRecord } from '../../kit/gateway/usage-records.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

let vendor: FakeVendor;
let gateway: TestGateway;
let ann: Visitor;
let bob: Visitor;
let adam: Visitor;
let boss: Visitor;
/** Ann's keys, and Bob's. */
let cli: string;
let web: string;
let bobs: string;

before(async () => {
  vendor = await fakeVendor();
  gateway = await startGateway({ vendor, config: { pipeline: CONSOLE_PIPELINE, console: PATIENT }, env: ROOT_ENV });
  [ann, bob, adam, boss] = [
    await member(gateway, 'ann', { units: 10_000_000 }),
    await member(gateway, 'bob', { units: 10_000_000 }),
    await member(gateway, 'adam', { role: 'admin' }),
    await root(gateway),
  ];
  const key = async (who: Visitor, name: string): Promise<string> =>
    (await who.data('POST', '/api/token/', { name, unlimited_quota: true })).key;
  [cli, web, bobs] = [await key(ann, 'cli'), await key(ann, 'web'), await key(bob, 'cli')];
  await call(cli);
  await call(cli, { stream: true });
  await call(web, { model: 'free-model' });
  await call(cli, { model: 'no-such-model' });
  await call(bobs);
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
});

/** Its `x-request-id`. */
async function call(key: string, body: object = {}): Promise<string> {
  const answer = await gateway.chat({ max_tokens: 10, ...body }, { key });
  await answer.text();
  return answer.headers.get('x-request-id') ?? '';
}

interface Item {
  readonly [member: string]: unknown;
  readonly type: number;
  readonly request_id: string;
  readonly model_name: string;
  readonly quota: number;
  readonly other: string;
}
const items = async (who: Visitor, query = '', path = '/api/log/self'): Promise<readonly Item[]> =>
  (await who.data('GET', `${path}?page_size=100${query}`)).items;
const calls = async (who: Visitor, query = '', path?: string): Promise<readonly Item[]> =>
  (await items(who, query, path)).filter(({ type }) => type === 2 || type === 5);

describe('the own log', () => {
  it('shows a call with everything that tools know', async () => {
    const [newest] = await calls(ann, '&model_name=test-model&token_name=cli');
    const { id, created_at, use_time, request_id, user_id, token_id, other, quota, cost, ...rest } = newest!;
    assert.ok(Number.isSafeInteger(id), `${id}`);
    assert.ok(isOfThisRun(Number(created_at) * 1_000), `${created_at}`);
    assert.ok(Number(use_time) >= 0 && Number(user_id) > 0 && Number(token_id) > 0 && quota > 0, 'numbers');
    assert.equal(Number(cost), quota / 500_000);
    assert.match(request_id, /^[0-9a-v]{26}$/);
    const { prompt_tokens, completion_tokens, ...words } = rest;
    assert.ok(Number(prompt_tokens) > 0 && Number(completion_tokens) > 0, 'tokens');
    assert.deepEqual(words, {
      type: 2,
      times: 1,
      content: '',
      username: 'ann',
      token_name: 'cli',
      model_name: 'test-model',
      is_stream: true,
      channel: 0,
      channel_name: 'main',
      group: 'default',
      ip: '',
    });
    const more = JSON.parse(other);
    // As gateway.yaml said then: 1 and 2 currency units per million tokens.
    assert.deepEqual(
      [more.price, more.model_ratio, more.completion_ratio, more.group_ratio],
      [{ input: '1', output: '2' }, 0.5, 2, 1],
    );
    assert.deepEqual([more.outcome, more.status, more.style], ['served', 200, 'chat']);
    assert.ok(more.frt >= 0, `${more.frt}`);
    assert.deepEqual(
      more.attempts.map(({ ms, ...attempt }: Record<string, unknown>) => [attempt, typeof ms]),
      [[{ channel: 'main', status: 200 }, 'number']],
      'nothing of what the channel is to its vendor',
    );
  });

  it('shows a call that was refused as an error, and a sign-in as what it is', async () => {
    const [error] = await items(ann, '&type=5');
    assert.deepEqual(
      [error?.type, error?.model_name, error?.quota, error?.content],
      [5, 'no-such-model', 0, 'Refused with status 404.'],
    );
    assert.equal(JSON.parse(error?.other ?? '').code, 'model_not_found', 'as the answer had it');
    await visitor(gateway).signIn('ann', PASSWORD);
    const signIns = await items(ann, '&type=7');
    assert.ok(signIns.length >= 1, 'one sign-in at least');
    assert.deepEqual([signIns[0]?.type, signIns[0]?.token_name, signIns[0]?.other], [7, '', '{}']);
    const all = await items(ann);
    assert.deepEqual(
      all.map(({ id }) => id),
      all.map(({ id }) => id).toSorted((a, b) => Number(b) - Number(a)),
      'newest first, all kinds together',
    );
  });

  it('is filtered by kind, key, model, channel, group, time and id', async () => {
    const one = (await calls(ann)).at(-1)!;
    const counts = async (query: string): Promise<number> => (await calls(ann, query)).length;
    assert.deepEqual(
      [
        await counts(''),
        await counts('&type=2'),
        await counts('&token_name=web'),
        await counts('&token_name=nobody'),
        await counts('&model_name=test-model'),
        await counts('&model_name=test-model&token_name=web'),
        await counts('&channel=main'),
        await counts('&channel=0'),
        await counts('&group=default'),
        await counts('&group=vip'),
        await counts(`&request_id=${one.request_id}`),
        await counts('&start_timestamp=1&end_timestamp=0'),
        await counts('&end_timestamp=1000000000'),
        await counts(`&start_timestamp=${one.created_at}&end_timestamp=${Number(one.created_at) + 3_600}`),
      ],
      [4, 3, 1, 0, 2, 0, 3, 4, 4, 0, 1, 4, 0, 4],
    );
  });

  it('has pages, by number and behind a line', async () => {
    const all = await items(ann);
    const first = await ann.data('GET', '/api/log/self?p=1&size=2');
    assert.deepEqual([first.page, first.page_size, first.total], [1, 2, all.length]);
    assert.deepEqual(first.items, all.slice(0, 2));
    const second = await ann.data('GET', '/api/log/self?p=2&ps=2');
    const behind = await ann.data('GET', `/api/log/self?page_size=2&before=${first.next}`);
    assert.deepEqual([second.items, behind.items], [all.slice(2, 4), all.slice(2, 4)]);
    assert.equal(behind.total, all.length - 2);
    const last = await ann.data('GET', '/api/log/self?page_size=100');
    assert.equal(last.next, null);
    assert.deepEqual((await ann.data('GET', '/api/log/self?p=1000000')).items, []);
    for (const [query, name] of [
      ['p=1000000000', 'p'],
      ['p=-1', 'p'],
      ['page_size=500', 'page_size'],
    ] as const) {
      const { status, body } = await ann.get(`/api/log/self?${query}`);
      assert.deepEqual([status, body.param], [400, name], query);
    }
  });

  it('tells addresses only to whoever asks for that in the settings; administrators see them', async () => {
    await ann.data('PUT', '/api/user/setting', { record_ip_log: true });
    assert.equal((await calls(ann))[0]?.ip, '127.0.0.1');
    await ann.data('PUT', '/api/user/setting', { record_ip_log: false });
    assert.equal((await calls(ann))[0]?.ip, '');
    assert.equal((await calls(adam, '&username=ann', '/api/log/'))[0]?.ip, '127.0.0.1');
  });

  it('finds a word that is a model, a key or an id, as older tools ask', async () => {
    const find = (word: string) => calls(ann, `&keyword=${word}`, '/api/log/self/search');
    const [one] = await calls(ann);
    assert.deepEqual(
      [
        (await find('')).length,
        (await find('web')).length,
        (await find('test-model')).length,
        (await find('%25')).length,
      ],
      [4, 1, 2, 0],
    );
    assert.deepEqual(await find(one!.request_id), [one]);
  });

  it('knows the last name of a key that was renamed and deleted: in lines, filters and sums', async () => {
    const made = await ann.data('POST', '/api/token/', { name: 'short-lived', unlimited_quota: true });
    const id = await call(made.key);
    const name = async () => (await items(ann, `&request_id=${id}`))[0]?.token_name;
    await ann.data('PUT', '/api/token/', { id: made.id, name: 'renamed' });
    assert.equal(await name(), 'renamed');
    await ann.data('DELETE', `/api/token/${made.id}`);
    assert.equal(await name(), 'renamed');
    for (const [who, path] of [[ann, '/api/log/self'] as const, [adam, '/api/log/'] as const]) {
      const found = await items(who, '&token_name=renamed', path);
      assert.deepEqual(
        found.map(({ request_id }) => request_id),
        [id],
        path,
      );
      assert.deepEqual(await items(who, '&token_name=short-lived', path), [], path);
    }
    const [sum] = (await ann.data('GET', '/api/log/self/stat?token_name=renamed')).by_key;
    assert.deepEqual([sum.token_id, sum.token_name, sum.requests], [made.id, 'renamed', 1]);
  });

  it('finds no line by a name that too many keys have had', async () => {
    const { id } = await ann.data('GET', '/api/user/self');
    const { store } = gateway.host;
    await store.run(
      `WITH RECURSIVE key(n) AS (SELECT 100001 UNION ALL SELECT n + 1 FROM key WHERE n < 100501)
        INSERT INTO api_key (id, account_id, name, hash, prefix, suffix, enabled, created_ms, revoked_ms)
        SELECT n, ?, 'again and again', utf8_bytes(CAST(n AS TEXT)), '', '', 1, 0, 0 FROM key`,
      id,
    );
    const { status, body } = await ann.get('/api/log/self?token_name=again%20and%20again');
    assert.deepEqual([status, body.code, body.param], [400, 'filter_too_wide', 'token_name']);
    await store.run('DELETE FROM api_key WHERE id > 100000');
  });

  it('refuses what it cannot read, and says which word that was', async () => {
    for (const [query, param] of [
      ['type=9', 'type'],
      ['type=two', 'type'],
      ['start_timestamp=yesterday', 'start_timestamp'],
      ['end_timestamp=-5', 'end_timestamp'],
      ['before=abc', 'before'],
      ['format=xml', 'format'],
      ['p=first', 'p'],
      [`model_name=${'m'.repeat(257)}`, 'model_name'],
    ]) {
      const { status, body } = await ann.get(`/api/log/self?${query}`);
      assert.deepEqual([status, body.success, body.param], [400, false, param], query);
    }
  });
});

describe('what the own calls come to', () => {
  it('is the sum of the lines, by day, model and key', async () => {
    const lines = await calls(ann, '&type=2');
    const stat = await ann.data('GET', '/api/log/self/stat');
    const sum = (of: readonly Item[]): number => of.reduce((all, { quota }) => all + quota, 0);
    // Lines are whole units, and so is the sum, each rounded down.
    const near = (a: number, b: number): boolean => a >= b && a <= b + lines.length;
    assert.ok(near(stat.quota, sum(lines)), `${stat.quota} ${sum(lines)}`);
    assert.deepEqual([stat.requests, stat.errors], [lines.length, 1]);
    assert.ok(stat.rpm <= lines.length && stat.tpm >= 0, 'a rate');
    assert.equal(
      stat.by_day.reduce((all: number, day: { requests: number }) => all + day.requests, 0),
      lines.length,
    );
    assert.match(stat.by_day[0].date, /^\d{4}-\d\d-\d\d$/);
    const model = stat.by_model.find((each: { model_name: string }) => each.model_name === 'test-model');
    assert.equal(model.requests, lines.filter(({ model_name }) => model_name === 'test-model').length);
    const key = stat.by_key.find((each: { token_name: string }) => each.token_name === 'web');
    assert.deepEqual([key.requests, key.quota], [1, 0]);
  });

  it('is filtered as the log is', async () => {
    const stat = (query: string) => ann.data('GET', `/api/log/self/stat?${query}`);
    assert.deepEqual([(await stat('token_name=web')).requests, (await stat('model_name=free-model')).requests], [1, 1]);
    assert.deepEqual((await stat('token_name=nobody')).requests, 0);
    assert.deepEqual((await stat('end_timestamp=1000000000')).by_day, []);
    assert.equal((await stat('type=5')).requests, (await stat('')).requests, 'the kind is not looked at');
  });

  it('is told for every hour of a month at the most', async () => {
    const rows = await ann.data('GET', '/api/data/self');
    const free = rows.find((row: { model_name: string }) => row.model_name === 'free-model');
    assert.deepEqual([free.username, free.count, free.quota, free.created_at % 3_600], ['ann', 1, 0, 0]);
    assert.ok(free.token_used > 0, 'tokens');
    const { status, body } = await ann.get('/api/data/self?start_timestamp=1700000000&end_timestamp=1790000000');
    assert.deepEqual([status, body.param], [400, 'start_timestamp']);
    const everybody = await adam.data('GET', '/api/data/');
    const paid = everybody.find((row: { model_name: string }) => row.model_name === 'test-model');
    assert.ok(paid.count >= 3 && paid.user_id === 0, 'of Ann and Bob');
    assert.equal((await adam.data('GET', '/api/data/?username=bob'))[0].count, 1);
    assert.deepEqual(await adam.data('GET', '/api/data/?username=nobody'), []);
    assert.deepEqual(await adam.data('GET', '/api/data/?username=nobody&user_id=1'), []);
  });
});

describe('the log of a key', () => {
  it('shows the key its own lines and no other, as a plain list', async () => {
    const { status, body } = await visitor(gateway, { authorization: `Bearer ${web}` }).get('/api/log/token');
    assert.equal(status, 200);
    assert.deepEqual(
      body.data.map(({ model_name, ip, token_name }: Item) => [model_name, ip, token_name]),
      [['free-model', '', 'web']],
    );
  });

  it('is shown to nobody without a key', async () => {
    for (const headers of [{}, { authorization: 'Bearer sk-nonsense' }]) {
      const { status, body } = await visitor(gateway, headers).get('/api/log/token');
      assert.deepEqual([status, body.success], [401, false]);
    }
    assert.equal((await ann.get('/api/log/token')).status, 401, 'signed in is not enough');
  });
});

describe("everybody's log", () => {
  it('is for administrators', async () => {
    const rows = ['/api/log/', '/api/log', '/api/log/stat', '/api/log/export', '/api/data/', '/api/data'];
    for (const path of rows) {
      assert.equal((await visitor(gateway).get(path)).status, 401, path);
      const { status, body } = await ann.get(path);
      assert.deepEqual([status, body.code], [403, 'role_insufficient'], path);
    }
    for (const path of [
      '/api/log/self',
      '/api/log/self/stat',
      '/api/log/self/search',
      '/api/log/self/export',
      '/api/data/self',
    ]) {
      assert.equal((await visitor(gateway).get(path)).status, 401, path);
    }
  });

  it('tells who, why a channel failed, and is filtered by person and group', async () => {
    const lines = await calls(adam, '', '/api/log/');
    assert.deepEqual(new Set(lines.map(({ username }) => username)), new Set(['ann', 'bob']));
    assert.deepEqual(Object.keys(JSON.parse(lines[0]!.other).attempts[0]), ['channel', 'model', 'status', 'ms']);
    const counts = async (query: string): Promise<number> => (await calls(adam, query, '/api/log/')).length;
    assert.deepEqual(
      [
        await counts('&username=bob'),
        await counts('&username=nobody'),
        await counts('&username=%25'),
        await counts('&group=default'),
        await counts('&group=vip'),
        await counts('&username=bob&group=vip'),
        await counts(`&request_id=${lines[0]!.request_id}`),
        await counts('&token_name=web'),
        await counts('&channel=main&username=bob'),
      ],
      [1, 0, 0, lines.length, 0, 0, 1, 1, 1],
    );
  });

  it('is filtered by the numbers of people, departments and keys', async () => {
    const [line] = await calls(adam, '&username=bob', '/api/log/');
    const counts = async (query: string): Promise<number> => (await calls(adam, query, '/api/log/')).length;
    const departments = gateway.host.use(Departments);
    const above = await departments.create({ name: 'above' });
    const below = await departments.create({ name: 'below', parentId: above.id });
    await departments.place(Number(line!.user_id), below.id);
    assert.deepEqual(
      [
        await counts(`&user_id=${line!.user_id}`),
        await counts(`&user_id=${line!.user_id}&username=ann`),
        await counts(`&token_id=${line!.token_id}`),
        await counts(`&token_id=${line!.token_id}&token_name=web`),
        await counts(`&department_id=${above.id}`),
        (await calls(ann, `&token_id=${line!.token_id}`)).length,
        (await adam.data('GET', `/api/log/latency?department_id=${above.id}`)).calls,
      ],
      [1, 0, 1, 0, 1, 0, 1],
    );
  });

  it('comes to what all calls come to', async () => {
    const [all, anns, bobs] = await Promise.all(
      ['', '?username=ann', '?username=bob'].map((query) => adam.data('GET', `/api/log/stat${query}`)),
    );
    assert.equal(all.requests, anns.requests + bobs.requests);
    assert.equal(bobs.requests, 1);
  });

  it('is a file only for whoever was checked by a second factor', async () => {
    for (const path of ['/api/log/export', '/api/log/?format=csv']) {
      const { status, body } = await boss.get(path);
      assert.deepEqual([status, body.code], [403, 'verification_required'], path);
    }
    const checked = await verify(await root(gateway));
    for (const path of ['/api/log/export?username=bob&type=2', '/api/log/?format=csv&username=bob&type=2']) {
      const { status, headers, text } = await checked.get(path);
      assert.deepEqual([status, headers.get('content-type')], [200, 'text/csv; charset=utf-8'], path);
      assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="log.csv"$/);
      const [head, ...lines] = text.trimEnd().split('\r\n');
      assert.match(head ?? '', /^created_at,type,username,/);
      assert.match(lines[0]!, /^\d{4}-[^,]+Z,2,bob,cli,test-model,[\d.]+,0\.[\d]+,/);
      assert.match(lines[1]!, /^total,,,,,[\d.]+,0\.[\d]+,/);
      const about = lines.slice(2).map((line) => line.replace(/,+$/, ''));
      assert.deepEqual(about, [
        'period (UTC),from the first line,to the last line',
        'filter type,2',
        'filter username,bob',
        'unit,quota: 500000 are one currency unit; cost: currency units',
      ]);
    }
  });
});

describe('the logs of others', () => {
  it('are seen by nobody else, whatever the filter [T-AUTHZ-03]', async () => {
    const [hers] = await calls(ann);
    const mine = (await calls(bob)).map(({ request_id }) => request_id);
    const refused = async (path: string): Promise<void> => {
      const { status, body } = await bob.get(path);
      assert.deepEqual([status, body.code], [400, 'unknown_parameter'], path);
    };
    for (const query of ['username=ann', 'user_id=2', 'account_id=2', 'accounts=2']) {
      for (const path of ['', '/search', '/export', '/stat']) await refused(`/api/log/self${path}?${query}`);
      await refused(`/api/data/self?${query}`);
    }
    for (const query of [
      '',
      '&token_name=web',
      '&token_name=%25',
      '&model_name=free-model',
      '&model_name=%25',
      '&group=%25',
      `&request_id=${hers!.request_id}`,
      `&before=${hers!.request_id}`,
      `&token_id=${hers!.token_id}`,
      "&model_name=' OR 1=1 --",
    ]) {
      for (const path of ['/api/log/self', '/api/log/self/search']) {
        for (const line of await items(bob, query, path)) {
          assert.equal(line.username, 'bob', `${path} ${query}`);
          assert.ok(line.type > 2 || mine.includes(line.request_id), `${path} ${query}`);
        }
      }
      const { text } = await bob.get(`/api/log/self/export?${query.slice(1)}`);
      assert.doesNotMatch(text, /,ann,/, query);
      // Sums know only some of the filters, and refuse the others.
      const stat = `/api/log/self/stat?${query.slice(1)}`;
      if (/^&(before|request_id)=/.test(query)) await refused(stat);
      else assert.ok((await bob.data('GET', stat)).requests <= 1, query);
      if (query !== '') await refused(`/api/data/self?${query.slice(1)}`);
    }
    for (const row of await bob.data('GET', '/api/data/self')) {
      assert.equal(row.username, 'bob');
    }
    const found = await bob.data('GET', `/api/log/self?request_id=${hers!.request_id}`);
    assert.deepEqual([found.total, found.items], [0, []]);
  });

  it('are not those of a person whose name is a wildcard [T-AUTHZ-03]', async () => {
    const percent = await (await member(gateway, '%')).signIn('%', PASSWORD);
    assert.deepEqual(await calls(percent), []);
    assert.equal((await percent.data('GET', '/api/log/self/stat')).requests, 0);
    assert.deepEqual(await percent.data('GET', '/api/data/self'), []);
    assert.deepEqual(
      (await items(adam, '&username=%25', '/api/log/')).map(({ username }) => username),
      ['%'],
      'its own sign-in',
    );
  });

  it('take no longer to be not found by a pattern than by a word [T-DOS-06]', async () => {
    for (const pattern of ['%'.repeat(256), '%_'.repeat(128), `${'%a'.repeat(127)}%`]) {
      const query = encodeURIComponent(pattern);
      for (const name of ['model_name', 'token_name', 'channel', 'group']) {
        assert.deepEqual(await calls(ann, `&${name}=${query}`), [], name);
      }
      assert.deepEqual(await calls(adam, `&username=${query}`, '/api/log/'), []);
    }
  });
});

describe('what strangers write into the log', () => {
  const HOSTILE =
    '=HYPERLINK("http://evil.example","x")\r\n{"level":"fatal","msg":"forged"}\u001b[31m\u2028<img src=x onerror=alert(1)>';

  it('stays one line of the log file, without control characters [T-LOG-01]', async () => {
    const began = gateway.log.length;
    const long = HOSTILE.padEnd(256, 'x');
    for (const [model, status] of [
      [`${HOSTILE}${'x'.repeat(1_000_000)}`, 400],
      [HOSTILE, 404],
      [long, 404],
    ] as const) {
      const answer = await gateway.chat({ model }, { key: cli });
      assert.equal(answer.status, status);
      await answer.text();
    }
    const forged = 'a"}\u009b31m{"level":"fatal"}';
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'user-agent': forged, 'x-request-id': forged, authorization: `Bearer sk-${forged}` },
      body: '{}',
    });
    assert.equal(answer.status, 401);
    await answer.text();
    assert.ok(gateway.log.length > began, 'it was logged');
    for (const line of gateway.log.slice(began)) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not be there
      assert.doesNotMatch(line, /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
      assert.notEqual(JSON.parse(line).level, 'fatal');
    }
    const lines = await items(ann, '&type=5');
    assert.deepEqual(
      lines.slice(0, 3).map(({ model_name }) => model_name),
      [long, HOSTILE, ''],
      'word for word, what can be a name',
    );
  });

  it('is no formula in a file, and no second line [ASVS 1.2.10]', async () => {
    const formula = "=cmd|'/C calc'!A0";
    const { key } = await ann.data('POST', '/api/token/', { name: formula, unlimited_quota: true });
    for (const model of [HOSTILE, '+1', '-1', '@SUM(1)', '\t=1', ' =1', '\uff1d1', 'a,"b"']) {
      await (await gateway.chat({ model }, { key })).text();
    }
    const { text } = await ann.get(`/api/log/self?format=csv&token_name=${encodeURIComponent(formula)}`);
    const rows = readCsv(text);
    // Behind the lines: their sum, the period, the filter and the units.
    assert.equal(rows.length, 9 + 4);
    for (const row of rows) {
      assert.equal(row.length, rows[0]!.length);
      for (const cell of row) assert.doesNotMatch(cell, /^[\s\0]*[=+\-@\uff1d]/);
    }
    assert.deepEqual(
      rows.slice(1, 9).map((row) => row[rows[0]!.indexOf('model_name')]),
      ['a,"b"', "'\uff1d1", "' =1", "'\t=1", "'@SUM(1)", "'-1", "'+1", `'${HOSTILE}`],
    );
    assert.equal(rows[1]![rows[0]!.indexOf('token_name')], `'${formula}`);
  });
});

/** RFC 4180, read strictly. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    if (end === '' && plain === '' && quoted === undefined) break;
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '\r\n') rows.push([]);
  }
  return rows.filter((row) => row.length > 0);
}

describe('a long log', () => {
  it('is a file of all its lines, however many', async () => {
    const carl = await member(gateway, 'carl');
    const { id: accountId } = await carl.data('GET', '/api/user/self');
    const nowMs = Date.now();
    const records = Array.from({ length: 2_345 }, (_, i) => {
      const atMs = nowMs - 86_400_000 + 1_000 * i;
      return usageRecord({ id: idAt(atMs), atMs, accountId, model: i === 7 ? '=1+1' : 'm' });
    });
    const { steps } = gateway.host.use(Records);
    await gateway.host.store.atomic(records.flatMap(steps));
    const { text } = await carl.get('/api/log/self/export');
    const [head, ...lines] = text.trimEnd().split('\r\n');
    assert.match(head!, /^created_at,type,username,.*,request_id,times$/);
    assert.deepEqual(
      lines.slice(0, records.length).map((line) => line.slice(-28)),
      records.map(({ id }) => `${id},1`).toReversed(),
    );
    assert.match(lines[records.length - 8]!, /,'=1\+1,/);
  });
});

describe('the calls of a deleted user', () => {
  it('are still found by name and by id, in lines and sums', async () => {
    const cora = await member(gateway, 'cora', { units: 10_000_000 });
    const { key } = await cora.data('POST', '/api/token/', { name: 'last', unlimited_quota: true });
    await call(key);
    const { id } = await cora.data('GET', '/api/user/self');
    const figures = async (query: string) => [
      (await adam.data('GET', `/api/log/?type=2&${query}`)).total,
      (await adam.data('GET', `/api/log/stat?${query}`)).quota,
      (await adam.data('GET', `/api/data/?${query}`)).length,
    ];
    const before = await figures('username=cora');
    assert.ok(before[0] === 1 && before[1] > 0 && before[2] === 1, JSON.stringify(before));
    await gateway.host.use(Accounts).remove(id);
    assert.deepEqual(await figures('username=cora'), before);
    assert.deepEqual(await figures(`user_id=${id}`), before);
  });
});
