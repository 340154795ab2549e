/** Departments at the console: the tree, its people, its budgets, and calls that feel them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Ledger } from '../../../core/contracts/ledger.ts';
import { unitsOf } from '../../../plugins/console/format/units.ts';
import {
  type ApiAnswer,
  CONSOLE_PIPELINE,
  checked,
  fieldOf,
  member,
  PASSWORD,
  PATIENT,
  ROOT_ENV,
  root,
  said,
  signedIn,
  type Visitor,
  verify,
  visitor,
} from '../../kit/console/console.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { tableColumns } from '../../kit/gateway/rows.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

describe('departments at the console', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  let boss: Visitor;
  let adam: Visitor;
  let mia: Visitor;
  /** Of a customer with a million quota units. */
  let key: string;
  let customer: number;
  let ids: Record<string, number>;
  before(async () => {
    vendor = await fakeVendor();
    gateway = await startGateway({ vendor, config: { pipeline: CONSOLE_PIPELINE, console: PATIENT }, env: ROOT_ENV });
    boss = await verify(await root(gateway));
    adam = await checked(gateway, await member(gateway, 'adam', { role: 'admin' }));
    mia = await member(gateway, 'mia');
    key = await gateway.customer(1_000_000);
    ids = {};
    for (const { id, username } of (await boss.data('GET', '/api/user/?page_size=100')).items) ids[username] = id;
    customer = ids['customer-1']!;
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  let made = 0;
  const fresh = (more: object = {}) => boss.data('POST', '/api/department/', { name: `d${++made}`, ...more });
  const call = async (): Promise<string> => {
    const response = await gateway.chat({ max_tokens: 10 }, { key });
    const body = (await response.json()) as { error?: { code: string } };
    return `${response.status} ${body.error?.code ?? 'ok'}`;
  };

  it('are a tree that is shown in every way that tools ask for', async () => {
    const firm = await fresh({ name: 'Firm', quota: 10_000, monthly_quota: 500, ratio: 0.9 });
    assert.deepEqual(
      { ...firm, created_at: 0, updated_at: 0 },
      {
        id: firm.id,
        name: 'Firm',
        parent_id: null,
        quota: 10_000,
        used_quota: 0,
        monthly_quota: 500,
        ratio: 0.9,
        status: 1,
        created_at: 0,
        updated_at: 0,
      },
    );
    const lab = await fresh({ name: 'Lab', parent_id: firm.id });
    assert.deepEqual([lab.quota, lab.monthly_quota, lab.ratio, lab.parent_id], [null, null, 1, firm.id]);
    const attic = await fresh({ name: 'Attic', parent_id: lab.id, status: 0 });
    const { body } = await adam.get('/api/department/?page_size=2');
    assert.deepEqual(Object.keys(body).sort(), ['data', 'message', 'success', 'total']);
    assert.deepEqual([body.success, body.data.length, body.total], [true, 2, 3]);
    const names = async (query: string): Promise<string[]> =>
      (await adam.get(`/api/department/?${query}`)).body.data.map(({ name }: { name: string }) => name);
    assert.deepEqual(await names('p=2&page_size=2'), ['Attic']);
    assert.deepEqual(await names('keyword=LA'), ['Lab']);
    assert.deepEqual(await names('parent_id=0'), ['Firm']);
    assert.deepEqual(await names(`parent_id=${lab.id}`), ['Attic']);
    assert.deepEqual(await adam.data('GET', '/api/department/names'), [
      { id: firm.id, name: 'Firm', parent_id: null },
      { id: lab.id, name: 'Lab', parent_id: firm.id },
      { id: attic.id, name: 'Attic', parent_id: lab.id },
    ]);
    const [top] = await adam.data('GET', '/api/department/tree');
    assert.deepEqual(
      [top.name, top.children[0].name, top.children[0].children[0]],
      ['Firm', 'Lab', { ...attic, monthly_used_quota: 0, member_count: 0, children: [] }],
    );
    assert.deepEqual(await adam.data('GET', `/api/department/${attic.id}`), attic);
    for (const { id } of [attic, lab, firm]) await adam.data('DELETE', `/api/department/${id}`);
    assert.deepEqual(await adam.data('GET', '/api/department/tree'), []);
  });

  it('change as far as somebody says, and refuse what makes no sense', async () => {
    const { id } = await fresh({ quota: 5 });
    const changed = await adam.data('PUT', `/api/department/${id}`, { name: 'Named anew', status: 0 });
    assert.deepEqual([changed.name, changed.status, changed.quota], ['Named anew', 0, 5]);
    const other = await fresh({ parent_id: id });
    const put = (body: unknown): Promise<ApiAnswer> => boss.put(`/api/department/${id}`, body);
    assert.equal(said(await put({ parent_id: other.id })), '400 department_circle');
    assert.equal(said(await put({ parent_id: 999_999 })), '404 department_not_found');
    assert.equal(said(await boss.delete(`/api/department/${id}`)), '409 department_not_empty');
    assert.equal(said(await boss.post('/api/department/', { name: 'named ANEW' })), '409 name_taken');
    for (const [body, param] of [
      [{ name: '' }, 'name'],
      [{ name: 'a\u0000' }, 'name'],
      [{ quota: -1 }, 'quota'],
      [{ quota: 0.5 }, 'quota'],
      [{ quota: 4_000_000_000_001 }, 'quota'],
      [{ monthly_quota: '5' }, 'monthly_quota'],
      [{ ratio: -0.1 }, 'ratio'],
      [{ ratio: 0.1234567 }, 'ratio'],
      [{ ratio: 1_001 }, 'ratio'],
      [{ ratio: '1' }, 'ratio'],
      [{ status: 2 }, 'status'],
      [{ parent_id: -1 }, 'parent_id'],
    ] as const) {
      assert.equal(fieldOf(await put(body)), `400 ${param}`, JSON.stringify(body));
    }
    for (const ratio of [0, 0.000001, 0.1, 0.3, 1.1, 999.999999, 1_000]) {
      assert.equal((await boss.data('PUT', `/api/department/${id}`, { ratio })).ratio, ratio);
    }
    assert.equal((await boss.data('PUT', `/api/department/${other.id}`, { parent_id: 0 })).parent_id, null);
    for (const wrong of ['999999', '0', 'x', '-1']) {
      for (const attempt of [
        boss.get(`/api/department/${wrong}`),
        boss.get(`/api/department/${wrong}/members`),
        boss.get(`/api/department/${wrong}/usage`),
        boss.put(`/api/department/${wrong}`, {}),
        boss.delete(`/api/department/${wrong}`),
        boss.post(`/api/department/${wrong}/members`, { user_ids: [customer] }),
        boss.delete(`/api/department/${wrong}/members/${customer}`),
        boss.post(`/api/department/${wrong}/recharge`, { amount: 1 }),
      ]) {
        assert.equal(said(await attempt), '404 department_not_found', wrong);
      }
    }
  });

  it('have budgets and ratios that only somebody sets who has just made a check', async () => {
    const unchecked = await signedIn(gateway, 'adam');
    for (const body of [{ quota: 5 }, { quota: null }, { monthly_quota: 5 }, { ratio: 0 }]) {
      assert.equal(said(await unchecked.post('/api/department/', { name: 'x', ...body })), '403 verification_required');
    }
    const { id } = await adam.data('POST', '/api/department/', { name: 'unverified' });
    assert.equal(said(await unchecked.put(`/api/department/${id}`, { ratio: 0.5 })), '403 verification_required');
    assert.equal(
      said(await unchecked.post(`/api/department/${id}/recharge`, { amount: 5 })),
      '403 verification_required',
    );
    assert.equal((await unchecked.data('PUT', `/api/department/${id}`, { name: 'still unverified' })).ratio, 1);
  });

  it('have people, who are in one of them at a time', async () => {
    const top = await fresh();
    const low = await fresh({ parent_id: top.id });
    assert.equal(
      await boss.data('POST', `/api/department/${low.id}/members`, { user_ids: [customer, ids.mia, ids.mia] }),
      2,
    );
    const members = async (id: number): Promise<string[]> =>
      (await adam.get(`/api/department/${id}/members`)).body.data.map(({ username }: { username: string }) => username);
    assert.deepEqual(await members(top.id), ['mia', 'customer-1']);
    const { body } = await adam.get(`/api/department/${top.id}/members?p=2&page_size=1`);
    assert.deepEqual([body.total, body.data[0].username, body.data[0].department_id], [2, 'customer-1', low.id]);
    assert.equal((await boss.data('GET', `/api/user/${ids.mia}`)).department_name, low.name);
    assert.equal(said(await boss.delete(`/api/department/${low.id}`)), '409 department_not_empty');
    assert.equal(await boss.data('POST', `/api/department/${top.id}/members`, { user_ids: [ids.mia] }), 1);
    assert.deepEqual(await members(low.id), ['customer-1']);
    assert.equal(said(await boss.delete(`/api/department/${low.id}/members/${ids.mia}`)), '404 member_not_found');
    await adam.data('DELETE', `/api/department/${top.id}/members/${ids.mia}`);
    assert.equal((await boss.data('GET', `/api/user/${ids.mia}`)).department_id, null);
    // All of them or none.
    assert.equal(
      said(await boss.post(`/api/department/${top.id}/members`, { user_ids: [ids.mia, 999_999] })),
      '404 account_not_found',
    );
    assert.deepEqual(await members(top.id), ['customer-1']);
    for (const userIds of [[], ['1'], [0], 'x', Array.from({ length: 101 }, (_, i) => i + 1)]) {
      assert.match(
        fieldOf(await boss.post(`/api/department/${top.id}/members`, { user_ids: userIds })),
        /^400 user_ids/,
      );
    }
    await boss.data('DELETE', `/api/department/${low.id}/members/${customer}`);
  });

  it('take nobody whose role is not below that of whoever moves them: a cheap department is a favour [T-AUTHZ-08]', async () => {
    const { id } = await fresh({ ratio: 0 });
    for (const name of ['adam', 'root']) {
      const answer = await adam.post(`/api/department/${id}/members`, { user_ids: [ids.mia, ids[name]] });
      assert.equal(said(answer), '403 role_insufficient', name);
    }
    assert.equal((await adam.get(`/api/department/${id}/members`)).body.total, 0);
    assert.equal(await boss.data('POST', `/api/department/${id}/members`, { user_ids: [ids.root] }), 1);
    assert.equal(said(await adam.delete(`/api/department/${id}/members/${ids.root}`)), '403 role_insufficient');
    await boss.data('DELETE', `/api/department/${id}/members/${ids.root}`);
  });

  it('stop calls when a budget is used up, and let them go on when it is raised: the next call knows [T-LED-10]', async () => {
    const top = await fresh({ quota: 0 });
    const low = await fresh({ parent_id: top.id, monthly_quota: 1_000 });
    assert.equal(await call(), '200 ok');
    await boss.data('POST', `/api/department/${low.id}/members`, { user_ids: [customer] });
    assert.equal(await call(), '403 QUOTA_DEPARTMENT_EXCEEDED');
    assert.equal((await boss.data('POST', `/api/department/${top.id}/recharge`, { amount: 1_000 })).quota, 1_000);
    assert.equal(await call(), '200 ok');
    const use = await adam.data('GET', `/api/department/${top.id}/usage`);
    assert.deepEqual([use.tree_quota, use.descendant_count, use.monthly, use.department.id], [1_000, 1, null, top.id]);
    assert.ok(use.tree_used_quota > 0 && use.remaining_quota < 1_000, JSON.stringify(use));
    const { monthly } = await adam.data('GET', `/api/department/${low.id}/usage`);
    assert.equal(monthly.limit, 1_000);
    assert.equal(monthly.used, use.tree_used_quota);
    const node = (await adam.data('GET', '/api/department/tree'))
      .find(({ id }: { id: number }) => id === top.id)
      .children.find(({ id }: { id: number }) => id === low.id);
    assert.deepEqual([node.monthly_used_quota, node.member_count], [monthly.used, 1]);
    const now = new Date();
    assert.equal(monthly.resets_at, Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) / 1_000);
    await boss.data('PUT', `/api/department/${low.id}`, { monthly_quota: 0 });
    assert.equal(await call(), '403 QUOTA_DEPARTMENT_EXCEEDED');
    await boss.data('PUT', `/api/department/${low.id}`, { monthly_quota: null, status: 0 });
    assert.equal(await call(), '403 department_disabled');
    await boss.data('PUT', `/api/department/${low.id}`, { status: 1, ratio: 0 });
    const before = (await boss.data('GET', `/api/user/${customer}`)).quota;
    assert.equal(await call(), '200 ok');
    assert.equal((await boss.data('GET', `/api/user/${customer}`)).quota, before, 'at no price');
    await boss.data('DELETE', `/api/department/${low.id}/members/${customer}`);
    assert.equal(await call(), '200 ok');
    assert.ok((await boss.data('GET', `/api/user/${customer}`)).quota < before, 'at its price');
  });

  it('show what was used with and without a budget, which knows of it when it is set later', async () => {
    const top = await fresh();
    const low = await fresh({ parent_id: top.id });
    await boss.data('POST', `/api/department/${low.id}/members`, { user_ids: [customer] });
    const used = async (id: number): Promise<readonly number[]> => {
      const use = await adam.data('GET', `/api/department/${id}/usage`);
      const all: { id: number; monthly_used_quota: number; children: (typeof all)[number][] }[] = await adam.data(
        'GET',
        '/api/department/tree',
      );
      const node = all.flatMap((each) => [each, ...each.children]).find((each) => each.id === id)!;
      assert.equal(use.department.used_quota, use.tree_used_quota);
      return [use.tree_used_quota, node.monthly_used_quota];
    };
    assert.equal(await call(), '200 ok');
    const cost = (await gateway.host.use(Ledger).balance({ kind: 'department', owner: low.id }))!.used;
    assert.ok(cost > 0n);
    const calls = (count: number): number => unitsOf(BigInt(count) * cost);
    for (const { id } of [top, low]) assert.deepEqual(await used(id), [calls(1), calls(1)]);
    for (const [i, quota] of [1_000_000, null, 1_000_000].entries()) {
      await boss.data('PUT', `/api/department/${low.id}`, { quota, monthly_quota: quota });
      assert.equal(await call(), '200 ok');
      for (const { id } of [top, low]) assert.deepEqual(await used(id), [calls(i + 2), calls(i + 2)]);
    }
    // What was used before counts.
    await boss.data('PUT', `/api/department/${low.id}`, { quota: null, monthly_quota: calls(4) });
    assert.equal(await call(), '403 QUOTA_DEPARTMENT_EXCEEDED');
    await boss.data('DELETE', `/api/department/${low.id}/members/${customer}`);
  });

  it('tell their people the budgets that bound their calls, and strangers nothing', async () => {
    const { clock } = gateway.host;
    const own = (person: Visitor) => person.data('GET', '/api/user/department');
    assert.deepEqual(await own(mia), [], 'who is in none');
    const top = await fresh({ name: 'Whole firm', quota: 5_000 });
    const middle = await fresh({ parent_id: top.id });
    const low = await fresh({ name: 'Mia and others', parent_id: middle.id, monthly_quota: 1_000, ratio: 0.5 });
    await boss.data('POST', `/api/department/${low.id}/members`, { user_ids: [customer, ids.mia] });
    assert.equal(await call(), '200 ok');
    const [first, second, third, ...others] = await own(mia);
    const { used, remaining } = first.budgets[0];
    assert.ok(used > 0, 'what others used counts, too');
    assert.ok(remaining === 1_000 - used || remaining === 999 - used, 'both are rounded down');
    const now = new Date(clock.now());
    const monthEnd = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) / 1_000;
    assert.deepEqual(first, {
      name: 'Mia and others',
      status: 1,
      ratio: 0.5,
      budgets: [{ window: 'month', limit: 1_000, used, remaining, resets_at: monthEnd }],
    });
    assert.deepEqual([second.name, second.budgets, others], [middle.name, [], []]);
    const total = { window: 'total', limit: 5_000, used, remaining: remaining + 4_000, resets_at: null };
    assert.deepEqual([third.name, third.budgets], ['Whole firm', [total]]);
    assert.equal(said(await visitor(gateway).get('/api/user/department')), '401 not_signed_in');
    await boss.data('DELETE', `/api/department/${low.id}/members/${customer}`);
    await boss.data('DELETE', `/api/department/${low.id}/members/${ids.mia}`);
  });

  it('get exactly what is added at the same moment, and nothing where there is no limit', async () => {
    const { id } = await fresh({ quota: 1 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => boss.post(`/api/department/${id}/recharge`, { amount: 5 })),
    );
    assert.deepEqual([...new Set(answers.map(said))], ['200 ok']);
    assert.equal((await adam.data('GET', `/api/department/${id}`)).quota, 101);
    for (const amount of [0, -1, 0.5, '5', null, 4_000_000_000_001]) {
      assert.equal(fieldOf(await boss.post(`/api/department/${id}/recharge`, { amount })), '400 amount');
    }
    assert.equal(
      fieldOf(await boss.post(`/api/department/${id}/recharge`, { amount: 4_000_000_000_000 })),
      '400 amount',
    );
    await boss.data('PUT', `/api/department/${id}`, { quota: null });
    assert.equal(said(await boss.post(`/api/department/${id}/recharge`, { amount: 5 })), '409 no_budget');
  });

  it('take no column that nobody may set, not one [T-AUTHZ-01]', async () => {
    const { id } = await fresh();
    const stored = (): unknown => gateway.rows('SELECT * FROM department ORDER BY id');
    const tables = tableColumns(gateway.storeFile);
    const columns = ['department', 'membership', 'department_tree', 'account', 'bucket'].flatMap(
      (table) => tables.get(table) ?? [],
    );
    assert.ok(columns.includes('factor_ppm') && columns.includes('role'), `${columns}`);
    const was = stored();
    for (const column of [...columns, 'used_quota', 'oversell_limit', 'children', '__proto__', 'constructor']) {
      if (['name', 'parent_id'].includes(column)) continue;
      for (const value of ['1', '{"id":1}']) {
        for (const answer of [
          await boss.put(`/api/department/${id}`, `{"${column}":${value}}`),
          await boss.post('/api/department/', `{"name":"never","${column}":${value}}`),
          await boss.post(`/api/department/${id}/members`, `{"user_ids":[${ids.mia}],"${column}":${value}}`),
        ]) {
          assert.equal(answer.status, 400, `${column}: ${answer.text}`);
        }
      }
    }
    assert.deepEqual(stored(), was);
  });

  it('are no business of strangers and members [T-AUTHZ-03]', async () => {
    const { id } = await fresh();
    for (const [who, wanted] of [
      [visitor(gateway), '401 not_signed_in'],
      [mia, '403 role_insufficient'],
    ] as const) {
      for (const attempt of [
        who.get('/api/department/'),
        who.get('/api/department/names'),
        who.get('/api/department/tree'),
        who.get(`/api/department/${id}`),
        who.get(`/api/department/${id}/members`),
        who.get(`/api/department/${id}/usage`),
        who.post('/api/department/', { name: 'x' }),
        who.put(`/api/department/${id}`, { name: 'x' }),
        who.delete(`/api/department/${id}`),
        who.post(`/api/department/${id}/members`, { user_ids: [ids.mia] }),
        who.delete(`/api/department/${id}/members/${ids.mia}`),
        who.post(`/api/department/${id}/recharge`, { amount: 5 }),
      ]) {
        assert.equal(said(await attempt), wanted);
      }
    }
  });

  it('are in the audit log with what they were and what they are', async () => {
    const { id } = await fresh({ quota: 5 });
    await boss.data('PUT', `/api/department/${id}`, { quota: 7, name: 'Audited' });
    const { items } = await adam.data('GET', '/api/audit?action=department&page_size=2');
    assert.deepEqual(
      items.map(({ action, object, actor }: Record<string, string>) => [action, object, actor]),
      [
        ['department.change', `department ${id}`, 'root'],
        ['department.create', `department ${id}`, 'root'],
      ],
    );
    assert.deepEqual(items[0].facts, { quota: { from: 5, to: 7 }, name: { from: `d${made}`, to: 'Audited' } });
    const admin = await gateway.command('audit verify');
    assert.match(admin, /^\d+ entries/);
  });

  it('lose whoever is deleted', async () => {
    const { id } = await fresh();
    const gone = await boss.data('POST', '/api/user/', { username: 'gone', password: PASSWORD });
    await boss.data('POST', `/api/department/${id}/members`, { user_ids: [gone.id] });
    assert.equal((await adam.get(`/api/department/${id}/members`)).body.total, 1);
    await boss.data('DELETE', `/api/user/${gone.id}`);
    for (let i = 0; i < 20 && (await adam.get(`/api/department/${id}/members`)).body.total > 0; i++);
    await adam.data('DELETE', `/api/department/${id}`);
  });
});
