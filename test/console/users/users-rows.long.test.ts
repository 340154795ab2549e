/** Administration of accounts: who may do what to whom, and what it does. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type ApiAnswer,
  describedInterface,
  fieldOf,
  PASSWORD,
  said,
  type Visitor,
  visitor,
} from '../../kit/console/console.ts';
import type { TestGateway } from '../../kit/gateway/gateway.ts';
import { type Administered, administered } from './administered.ts';

describe('accounts of others', () => {
  let world: Administered;
  let gateway: TestGateway;
  let boss: Visitor;
  let adam: Visitor;
  let mia: Visitor;
  let ids: Administered['ids'];
  let stored: Administered['stored'];
  let someone: Administered['someone'];
  before(async () => {
    world = await administered();
    ({ gateway, boss, adam, mia, ids, stored, someone } = world);
  });
  after(() => world.stop());

  it('are listed page by page, newest first, with what they have', async () => {
    const page = await adam.data('GET', '/api/user/?p=2&page_size=2');
    assert.deepEqual({ ...page, items: page.items.length }, { page: 2, page_size: 2, total: page.total, items: 2 });
    assert.ok(page.items[0].id > page.items[1].id, 'newest first');
    const { items } = await adam.data('GET', '/api/user/?page_size=100');
    const shown = items.find(({ username }: { username: string }) => username === 'mia');
    assert.deepEqual(
      { ...shown, created_at: 0, last_login_at: 0 },
      {
        id: ids.mia,
        username: 'mia',
        display_name: 'mia',
        role: 1,
        status: 1,
        email: '',
        group: 'default',
        quota: 1_000,
        held_quota: 0,
        debt: 0,
        used_quota: 0,
        unlimited_quota: false,
        remark: '',
        department_id: null,
        department_name: '',
        has_password: true,
        created_at: 0,
        last_login_at: 0,
        DeletedAt: null,
      },
    );
    assert.ok(shown.created_at > 1_700_000_000 && shown.last_login_at >= shown.created_at, 'unix seconds');
    assert.equal((await adam.get('/api/user')).status, 200);
  });

  it('are found by what they are called, and by role, status and group', async () => {
    const { id, name } = await someone({
      display_name: 'Zoë 100%',
      group: 'gold',
      email: 'zoe@example.com',
      remark: 'x',
    });
    const names = async (query: string): Promise<string[]> =>
      (await adam.data('GET', `/api/user/search?${query}`)).items.map(({ username }: { username: string }) => username);
    for (const query of ['keyword=ZO%C3%8B', 'keyword=100%25', 'keyword=zoe@', 'group=gold', `keyword=${id}`]) {
      assert.deepEqual(await names(query), [name], query);
    }
    assert.deepEqual(await names('keyword=%25%25'), []);
    const top = await boss.data('POST', '/api/department/', { name: 'Top' });
    const low = await boss.data('POST', '/api/department/', { name: 'Low', parent_id: top.id });
    assert.deepEqual(await names(`department_id=${top.id}`), []);
    await boss.data('POST', `/api/department/${low.id}/members`, { user_ids: [id] });
    for (const department of [top, low]) assert.deepEqual(await names(`department_id=${department.id}`), [name]);
    assert.deepEqual(await names(`department_id=${low.id}&group=default`), []);
    assert.equal(said(await adam.get('/api/user/?department_id=999999')), '404 department_not_found');
    assert.equal(fieldOf(await adam.get('/api/user/?department_id=0')), '400 department_id');
    assert.deepEqual(await names('role=100'), ['root']);
    assert.deepEqual((await names('role=10')).sort(), ['adam', 'eve']);
    assert.deepEqual(await names('keyword=&role=100'), ['root']);
    await boss.data('POST', '/api/user/manage', { id, action: 'disable' });
    assert.deepEqual(await names('status=2'), [name]);
    assert.ok(!(await names('status=1&page_size=100')).includes(name), 'it is disabled');
    await boss.data('DELETE', `/api/user/${id}`);
    assert.deepEqual(await names('status=-1&group=gold'), [name]);
    assert.deepEqual(await names('group=gold'), []);
    for (const query of ['role=7', 'status=0', 'p=x', 'page_size=1.5', `keyword=${'x'.repeat(201)}`]) {
      assert.equal((await adam.get(`/api/user/search?${query}`)).status, 400, query);
    }
  });

  it('are shown one by one, with how they can sign in, and never a secret [T-AUTHZ-01]', async () => {
    const shown = await boss.data('GET', `/api/user/${ids.adam}`);
    assert.deepEqual(
      [shown.username, shown.two_factor, shown.passkey, shown.bindings, shown.debt],
      ['adam', true, false, [], 0],
    );
    const hashes = gateway.rows('SELECT hash FROM password').map(({ hash }) => String(hash));
    assert.ok(hashes.length > 3, 'there are hashes to be looked for');
    for (const path of ['/api/user/?page_size=100', '/api/user/search?keyword=a', `/api/user/${ids.adam}`]) {
      const { text } = await boss.get(path);
      for (const secret of [...hashes, PASSWORD, 'scrypt', 'hash', 'totp_secret']) {
        assert.ok(!text.includes(secret), `${path} tells ${secret}`);
      }
    }
    for (const id of ['999999', '0', '-1', '1e3', 'x', '%20', '9'.repeat(30)]) {
      assert.equal(said(await boss.get(`/api/user/${id}`)), '404 account_not_found', id);
    }
  });

  it('are taken back as they were read, and nothing is accepted and ignored', async () => {
    const { id } = await boss.data('POST', '/api/user/', { username: 'echo', password: PASSWORD });
    const read = await adam.data('GET', `/api/user/${id}`);
    const back = await adam.data('PUT', '/api/user/', {
      ...read,
      display_name: 'Echo',
      used_quota: 5,
      last_login_at: 7,
    });
    assert.deepEqual([back.display_name, back.used_quota, back.role], ['Echo', 0, 1]);
    for (const [name, value] of Object.entries({
      role: 10,
      status: 2,
      quota: read.quota + 1,
      unlimited_quota: true,
      department_id: 1,
      created_at: 1,
      two_factor: true,
      bindings: ['github'],
    })) {
      const { status, body } = await adam.put('/api/user/', { ...read, [name]: value });
      assert.deepEqual([status, body.code, body.param], [400, 'read_only', name]);
    }
    assert.deepEqual(await adam.data('GET', `/api/user/${id}`), { ...read, display_name: 'Echo' });
  });

  it('get quota, lose it, have it set: and the next call knows [T-LED-10]', async () => {
    const key = await gateway.customer(0);
    const { id } = (await adam.data('GET', '/api/user/search?keyword=customer-1')).items[0];
    const call = async (): Promise<string> => {
      const response = await gateway.chat({ max_tokens: 10 }, { key });
      const body = (await response.json()) as { error?: { code: string } };
      return `${response.status} ${body.error?.code ?? 'ok'}`;
    };
    const quota = async (mode: string | undefined, value: number): Promise<number> =>
      (await adam.data('POST', '/api/user/manage', { id, action: 'add_quota', value, ...(mode && { mode }) })).quota;
    assert.equal(await call(), '403 QUOTA_USER_INSUFFICIENT');
    assert.equal(await quota(undefined, 5_000), 5_000);
    assert.equal(await call(), '200 ok');
    const left = (await adam.data('GET', `/api/user/${id}`)).quota;
    assert.ok(left < 5_000 && left > 0, `${left}`);
    assert.equal(await quota('override', 700), 700);
    assert.equal(await quota('add', 300), 1_000);
    assert.equal(await quota('subtract', 400), 600);
    assert.equal(await quota('subtract', 999_999), 0);
    assert.equal(await call(), '403 QUOTA_USER_INSUFFICIENT');
    assert.equal(await quota('override', 5_000), 5_000);
    assert.equal(await call(), '200 ok');
    assert.equal(await quota('override', 0), 0);
    assert.equal(await call(), '403 QUOTA_USER_INSUFFICIENT');
    const { items } = await adam.data('GET', '/api/audit?action=user.quota&page_size=1');
    assert.deepEqual([items[0].actor, items[0].object, items[0].facts.mode], ['adam', `user ${id}`, 'override']);
    await adam.data('POST', '/api/user/manage', { id, action: 'disable', reason: 'on leave' });
    const [{ facts }] = (await adam.data('GET', '/api/audit?action=user.disable&page_size=1')).items;
    assert.deepEqual(facts, { reason: 'on leave' });
    await adam.data('POST', '/api/user/manage', { id, action: 'enable' });
  });

  it('get exactly what administrators give at the same moment', async () => {
    const { id } = await someone();
    const give = (mode: string, value: number): Promise<ApiAnswer> =>
      adam.post('/api/user/manage', { id, action: 'add_quota', mode, value });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => give(i % 2 ? 'subtract' : 'add', i % 2 ? 3 : 10)),
    );
    assert.deepEqual([...new Set(answers.map(said))], ['200 ok']);
    // However they were ordered: a subtraction takes no more than is there.
    const { quota } = await adam.data('GET', `/api/user/${id}`);
    assert.ok(quota >= 70 && quota <= 100, `${quota}`);
    const overrides = await Promise.all(Array.from({ length: 10 }, (_, i) => give('override', 100 + i)));
    assert.deepEqual([...new Set(overrides.map(said))], ['200 ok']);
    const after = (await adam.data('GET', `/api/user/${id}`)).quota;
    assert.ok(after >= 100 && after <= 109, `${after}`);
  });

  it('take no amount that is none', async () => {
    const { id } = await someone();
    const was = stored(id);
    for (const value of [-1, 0, 0.5, '5', 'NaN', 1e21, 2 ** 53, 4_000_000_000_001, null, [1], true]) {
      const answer = await adam.post('/api/user/manage', { id, action: 'add_quota', value });
      assert.equal(fieldOf(answer), '400 value', `${value}: ${answer.text}`);
    }
    for (const body of [
      { id, action: 'add_quota' },
      { id, action: 'add_quota', value: 1, mode: 'steal' },
      { id, action: 'explode' },
      { id },
      { action: 'enable' },
      { id: `${id}`, action: 'enable' },
    ]) {
      assert.equal((await adam.post('/api/user/manage', body)).status, 400, JSON.stringify(body));
    }
    assert.equal(
      said(await boss.post('/api/user/manage', { id: ids.root, action: 'add_quota', mode: 'override', value: 5 })),
      '409 unlimited',
    );
    assert.deepEqual(stored(id), was);
  });

  it("with a role not below one's own cannot be touched by anybody but root [T-AUTHZ-08]", async () => {
    for (const name of ['eve', 'adam', 'root']) {
      const id = ids[name];
      const was = stored(id!);
      for (const attempt of [
        adam.put('/api/user/', { id, display_name: 'Mine' }),
        adam.put('/api/user/', { id, password: 'another good one' }),
        adam.delete(`/api/user/${id}`),
        adam.delete(`/api/user/${id}/2fa`),
        adam.delete(`/api/user/${id}/reset_passkey`),
        adam.delete(`/api/user/${id}/bindings/email`),
        adam.get(`/api/user/${id}/sessions`),
        adam.delete(`/api/user/${id}/sessions`),
        adam.delete(`/api/user/${id}/sessions/1`),
        ...['enable', 'disable', 'delete', 'promote', 'demote'].map((action) =>
          adam.post('/api/user/manage', { id, action }),
        ),
        adam.post('/api/user/manage', { id, action: 'add_quota', value: 1 }),
      ]) {
        assert.equal(said(await attempt), '403 role_insufficient', name);
      }
      assert.deepEqual(stored(id!), was);
    }
  });

  it('called root can be neither disabled, demoted, promoted nor deleted, by root itself either [T-AUTHZ-08]', async () => {
    const was = stored(ids.root!);
    for (const action of ['disable', 'delete', 'promote', 'demote']) {
      assert.equal(said(await boss.post('/api/user/manage', { id: ids.root, action })), '403 root_protected', action);
    }
    assert.equal(said(await boss.delete(`/api/user/${ids.root}`)), '403 root_protected');
    assert.deepEqual(stored(ids.root!), was);
    assert.equal(
      (await boss.data('PUT', '/api/user/', { id: ids.root, display_name: 'The Boss' })).display_name,
      'The Boss',
    );
  });

  it('lose an address, and no binding that they do not have', async () => {
    const { id } = await someone({ email: 'bound@example.com' });
    await adam.data('DELETE', `/api/user/${id}/bindings/email`);
    assert.equal((await adam.data('GET', `/api/user/${id}`)).email, '');
    for (const type of ['email', 'github', 'x', '__proto__']) {
      assert.equal(said(await adam.delete(`/api/user/${id}/bindings/${type}`)), '404 binding_not_found', type);
    }
  });

  it('are no business of strangers and members, whatever the number [T-AUTHZ-03, T-AUTHZ-04]', async () => {
    const was = stored(ids.mia!);
    for (const [who, wanted] of [
      [visitor(gateway), '401 not_signed_in'],
      [visitor(gateway, { authorization: `Bearer ${gateway.key}` }), '401 access_token_wanted'],
      [mia, '403 role_insufficient'],
    ] as const) {
      for (const id of [ids.mia, ids.root, 999_999]) {
        for (const attempt of [
          who.get('/api/user/'),
          who.get('/api/user/search?keyword=a'),
          who.get(`/api/user/${id}`),
          who.post('/api/user/', { username: 'x', password: PASSWORD }),
          who.put('/api/user/', { id, remark: 'x' }),
          who.delete(`/api/user/${id}`),
          who.post('/api/user/manage', { id, action: 'add_quota', value: 5 }),
          who.post('/api/user/manage', { id, action: 'promote' }),
          who.delete(`/api/user/${id}/2fa`),
          who.delete(`/api/user/${id}/reset_passkey`),
          who.delete(`/api/user/${id}/bindings/email`),
          who.get(`/api/user/${id}/sessions`),
          who.delete(`/api/user/${id}/sessions`),
          who.delete(`/api/user/${id}/sessions/1`),
        ]) {
          assert.equal(said(await attempt), wanted);
        }
      }
    }
    assert.deepEqual(stored(ids.mia!), was);
    for (const password of ['123456', 'root', 'password', '']) {
      const { status } = await visitor(gateway).post('/api/user/login', { username: 'root', password });
      assert.ok(status === 401 || status === 400, `root signs in with "${password}"`);
    }
  });

  it('take no command, module, template, expression or address to fetch from [T-AUTHZ-05]', async () => {
    const body = await describedInterface(gateway);
    const names = new Set<string>();
    for (const [path, methods] of Object.entries(body.paths as Record<string, Record<string, unknown>>)) {
      if (!/^\/api\/(user\/($|\{id\}|manage|search)|department|audit)/.test(path)) continue;
      for (const operation of Object.values(methods)) {
        const text = JSON.stringify(operation);
        for (const [, properties = ''] of text.matchAll(/"requestBody":.*?"properties":(\{.*?\}\}),/g)) {
          for (const [, name = ''] of properties.matchAll(/"(\w+)":\{/g)) names.add(name);
        }
      }
    }
    assert.ok(names.has('username') && names.has('ratio'), `${[...names]}`);
    for (const name of names)
      assert.doesNotMatch(name, /command|script|module|template|regex|pattern_|url|code|eval|path/i);
  });
});
