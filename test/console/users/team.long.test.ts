/** Team analytics: what departments, people, models and keys used, and how budgets stand. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  CONSOLE_PIPELINE,
  member,
  PATIENT,
  ROOT_ENV,
  root,
  type Visitor,
  verify,
  visitor,
} from '../../kit/console/console.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

const PAGES = ['overview', 'cost-trend', 'budgets', 'members', 'models'] as const;

let vendor: FakeVendor;
let gateway: TestGateway;
let ann: Visitor;
let adam: Visitor;
let checked: Visitor;
/** Ids. Research is below Works; Ann is in Works, Bob in Research, Carl in neither. */
let ids: Readonly<Record<'works' | 'research' | 'ann' | 'bob' | 'carl', number>>;
let keys: Readonly<Record<'ann' | 'bob' | 'carl', string>>;

before(async () => {
  vendor = await fakeVendor();
  gateway = await startGateway({ vendor, config: { pipeline: CONSOLE_PIPELINE, console: PATIENT }, env: ROOT_ENV });
  ann = await member(gateway, 'ann', { units: 100_000_000 });
  const bob = await member(gateway, 'bob', { units: 100_000_000 });
  const carl = await member(gateway, 'carl', { units: 100_000_000 });
  adam = await member(gateway, 'adam', { role: 'admin' });
  checked = await verify(await root(gateway));
  const department = async (body: object): Promise<number> => (await checked.data('POST', '/api/department/', body)).id;
  const works = await department({ name: 'Works', quota: 50_000_000, monthly_quota: 20_000_000 });
  const research = await department({ name: '=Research', parent_id: works });
  const idOf = async (who: Visitor): Promise<number> => (await who.data('GET', '/api/user/self')).id;
  ids = { works, research, ann: await idOf(ann), bob: await idOf(bob), carl: await idOf(carl) };
  const place = (to: number, id: number) => checked.data('POST', `/api/department/${to}/members`, { user_ids: [id] });
  await place(works, ids.ann);
  await place(research, ids.bob);
  const key = async (who: Visitor, name: string): Promise<string> =>
    (await who.data('POST', '/api/token/', { name, unlimited_quota: true })).key;
  keys = { ann: await key(ann, 'cli'), bob: await key(bob, 'web'), carl: await key(carl, 'cli') };
  await call(keys.ann);
  await call(keys.ann, 'free-model');
  await call(keys.bob);
  await call(keys.bob);
  await call(keys.carl);
  await call(keys.carl, 'no-such-model');
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
});

async function call(key: string, model = 'test-model'): Promise<void> {
  await (await gateway.chat({ model, max_tokens: 10 }, { key })).text();
}

interface Item {
  readonly [member: string]: unknown;
  readonly name: string;
  readonly requests: number;
  readonly quota: number;
}
const ask = (page: (typeof PAGES)[number], query = '') => adam.data('GET', `/api/team/${page}?${query}`);
const items = async (page: (typeof PAGES)[number], query = ''): Promise<readonly Item[]> =>
  (await ask(page, query)).items;

describe('team analytics', () => {
  it('are for administrators', async () => {
    for (const page of PAGES) {
      assert.equal((await visitor(gateway).get(`/api/team/${page}`)).status, 401, page);
      const { status, body } = await ann.get(`/api/team/${page}`);
      assert.deepEqual([status, body.code], [403, 'role_insufficient'], page);
      assert.equal((await adam.get(`/api/team/${page}`)).status, 200, page);
    }
  });

  it('refuse what they cannot read, and departments that there are not', async () => {
    for (const page of PAGES) {
      for (const [query, status, what] of [
        ['start_timestamp=then', 400, 'start_timestamp'],
        ['start_timestamp=1000000000&end_timestamp=1800000000', 400, 'start_timestamp'],
        ['start_timestamp=1800000000&end_timestamp=1700000000', 400, 'start_timestamp'],
        ['department_id=x', 400, 'department_id'],
        ['department_id=0', 400, 'department_id'],
        ['format=pdf', 400, 'format'],
        ['department_id=999999', 404, 'department_not_found'],
      ] as const) {
        const answer = await adam.get(`/api/team/${page}?${query}`);
        const { param, code } = answer.body;
        assert.deepEqual([answer.status, status === 400 ? param : code], [status, what], `${page}?${query}`);
      }
    }
    for (const [query, param] of [
      ['granularity=minute', 'granularity'],
      ['group_by=favourite', 'group_by'],
      ['top=0', 'top'],
      ['granularity=hour&start_timestamp=1700000000&end_timestamp=1703000000', 'start_timestamp'],
    ]) {
      const { status, body } = await adam.get(`/api/team/cost-trend?${query}`);
      assert.deepEqual([status, body.param], [400, param], query);
    }
  });

  it('are files only for whoever was checked by a second factor, without formulas in them', async () => {
    for (const page of PAGES) {
      const { status, body } = await adam.get(`/api/team/${page}?format=csv`);
      assert.deepEqual([status, body.code], [403, 'verification_required'], page);
      const { headers, text } = await checked.get(`/api/team/${page}?format=csv`);
      assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8', page);
      assert.match(headers.get('content-disposition') ?? '', new RegExp(`filename="team-${page}.csv"`));
      const lines = text.trimEnd().split('\r\n');
      assert.ok(lines.length > 2, `${page} has lines`);
      for (const line of lines) assert.doesNotMatch(line, /(?:^|,)[=@+]/, page);
    }
    const { text } = await checked.get('/api/team/budgets?format=csv');
    assert.match(text, /,'=Research,/);
  });
});

describe('the overview', () => {
  it('tells how much, and by how many people, keys and models', async () => {
    const overview = await ask('overview');
    const { requests, errors, active_members, active_keys, active_models, quota, today, month, departments } = overview;
    assert.deepEqual([requests, errors, active_members, active_keys, active_models], [5, 1, 3, 3, 2]);
    assert.ok(quota > 0 && overview.prompt_tokens > 0 && overview.completion_tokens > 0, 'it cost something');
    assert.deepEqual([today.requests, month.requests], [5, 5]);
    assert.deepEqual(
      departments.map(({ department_id, requests: calls }: Item) => [department_id, calls]).toSorted(),
      [
        [0, 1],
        [ids.works, 2],
        [ids.research, 2],
      ].toSorted(),
    );
    assert.equal(overview.end_timestamp - overview.start_timestamp, 30 * 86_400 + 3_600, '30 days, by the hour');
  });

  it('may be of a department and all below it, of a person, of a model', async () => {
    const requests = async (query: string): Promise<number> => (await ask('overview', query)).requests;
    assert.deepEqual(
      [
        await requests(`department_id=${ids.works}`),
        await requests(`department_id=${ids.research}`),
        await requests(`user_id=${ids.carl}`),
        await requests(`user_id=${ids.carl}&department_id=${ids.works}`),
        await requests('model=free-model'),
        await requests('model=%25'),
        await requests('end_timestamp=1000000000'),
      ],
      [4, 2, 1, 0, 1, 0, 0],
    );
  });
});

describe('the cost trend', () => {
  it('is by day or hour, and by department, member, model or key', async () => {
    const groups = async (query: string) => {
      const rows = await items('cost-trend', query);
      return Object.fromEntries(rows.map(({ name, requests }) => [name, requests]));
    };
    assert.deepEqual(await groups(''), { Works: 2, '=Research': 2, '': 1 });
    assert.deepEqual(await groups('group_by=member'), { ann: 2, bob: 2, carl: 1 });
    assert.deepEqual(await groups('group_by=model'), { 'test-model': 4, 'free-model': 1, '': 0 });
    assert.deepEqual(await groups(`group_by=key&department_id=${ids.works}`), { cli: 2, web: 2 });
    const [day] = await items('cost-trend', 'group_by=member');
    const [hour] = await items('cost-trend', 'granularity=hour&group_by=member');
    assert.match(String(day?.date), /^\d{4}-\d\d-\d\d$/);
    assert.match(String(hour?.date), /^\d{4}-\d\d-\d\dT\d\d:00:00Z$/);
    assert.deepEqual([Number(day?.timestamp) % 86_400, Number(hour?.timestamp) % 3_600], [0, 0]);
    assert.equal(Date.parse(String(hour?.date)) / 1_000, hour?.timestamp);
  });

  it('shows those that cost most, and all others as one', async () => {
    for (const by of ['member', 'key', 'department', 'model']) {
      const all = await items('cost-trend', `group_by=${by}`);
      const top = await items('cost-trend', `group_by=${by}&top=1`);
      const dearest = all.toSorted((a, b) => b.quota - a.quota)[0]!;
      assert.deepEqual(
        top.map(({ group }) => group === null),
        [false, true],
        by,
      );
      assert.equal(top[0]?.quota, dearest.quota, by);
      assert.equal(top[1]?.name, 'others', by);
      const calls = (rows: readonly Item[]): number => rows.reduce((sum, { requests }) => sum + requests, 0);
      assert.equal(calls(top), calls(all), by);
    }
  });

  it('says of whom a key is by its id, for names may be the same', async () => {
    const rows = await items('cost-trend', 'group_by=key');
    assert.equal(rows.length, 3);
    assert.equal(new Set(rows.map(({ group }) => group)).size, 3);
  });
});

describe('budgets', () => {
  it('stand as the ledger says, in all and in this month', async () => {
    const rows = await items('budgets');
    const works = rows.filter(({ department_id }) => department_id === ids.works);
    assert.deepEqual(
      works.map(({ period, budget, parent_id }) => [period, budget, parent_id]),
      [
        ['total', 50_000_000, null],
        ['month', 20_000_000, null],
      ],
    );
    const now = new Date();
    const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
    assert.deepEqual(
      [works[1]?.period_start, works[1]?.period_end],
      [Date.UTC(year, month) / 1_000, Date.UTC(year, month + 1) / 1_000],
    );
    for (const row of works) {
      const [budget, used, remaining] = [Number(row.budget), Number(row.used), Number(row.remaining)];
      assert.ok(used > 0, 'it was used by those below, too');
      assert.equal(used + remaining, budget);
      assert.equal(row.percentage, Math.floor((used / budget) * 1_000) / 10);
      assert.equal(row.spent, used, 'all of it within 30 days');
    }
    const research = rows.find(({ department_id }) => department_id === ids.research);
    assert.deepEqual(
      [research?.name, research?.parent_id, research?.budget, research?.remaining, research?.percentage],
      ['=Research', ids.works, null, null, null],
    );
    assert.equal((await items('budgets', `department_id=${ids.research}`)).length, 1);
  });
});

describe('members and models', () => {
  it('are told those that cost most first', async () => {
    const members = await items('members');
    assert.deepEqual(
      members.map(({ username, requests, errors, department }) => [username, requests, errors, department]).toSorted(),
      [
        ['ann', 2, 0, 'Works'],
        ['bob', 2, 0, '=Research'],
        ['carl', 1, 1, ''],
      ],
    );
    assert.equal(members[0]?.username, 'bob');
    assert.deepEqual(
      (await items('members', `department_id=${ids.research}`)).map(({ user_id }) => user_id),
      [ids.bob],
    );
    const models = await items('models');
    assert.deepEqual(
      models.map(({ model, requests, errors }) => [model, requests, errors]),
      [
        ['test-model', 4, 0],
        ['free-model', 1, 0],
        ['', 0, 1],
      ],
    );
  });

  it('stay what they were when somebody moves to another department', async () => {
    const before = await items('cost-trend');
    await checked.data('POST', `/api/department/${ids.works}/members`, { user_ids: [ids.bob] });
    assert.deepEqual(await items('cost-trend'), before);
  });
});
