/** Administration of accounts, as those feel it who are administered: signing in, being signed out, being let in no more. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ApiAnswer, fieldOf, PASSWORD, said, type Visitor, verify, visitor } from '../../kit/console/console.ts';
import type { TestGateway } from '../../kit/gateway/gateway.ts';
import { tableColumns } from '../../kit/gateway/rows.ts';
import { type Administered, administered } from './administered.ts';

describe('whoever is administered', () => {
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

  it('are made, and can sign in', async () => {
    const shown = await adam.data('POST', '/api/user/', {
      username: 'newcomer',
      password: PASSWORD,
      display_name: 'New Comer',
      group: 'silver',
      remark: 'met at the fair',
      email: 'new@example.com',
    });
    assert.deepEqual(
      [shown.username, shown.display_name, shown.group, shown.remark, shown.email, shown.role, shown.quota],
      ['newcomer', 'New Comer', 'silver', 'met at the fair', 'new@example.com', 1, 0],
    );
    await visitor(gateway).signIn('newcomer', PASSWORD);
    const post = (body: object): Promise<ApiAnswer> => adam.post('/api/user/', body);
    assert.equal(said(await post({ username: 'NewComer', password: PASSWORD })), '409 name_taken');
    assert.equal(
      said(await post({ username: 'other', password: PASSWORD, email: 'NEW@example.com' })),
      '409 email_taken',
    );
    assert.equal(fieldOf(await post({ username: 'a\u0000b', password: PASSWORD })), '400 username');
    assert.equal(fieldOf(await post({ username: 'other', password: 'short' })), '400 password');
    assert.equal(
      fieldOf(await post({ username: 'other', password: PASSWORD, display_name: '\u202e' })),
      '400 display_name',
    );
    assert.equal(fieldOf(await post({ username: 'other', password: PASSWORD, group: 'a b' })), '400 group');
    assert.equal(fieldOf(await post({ username: 'other', password: PASSWORD, role: 5 })), '400 role');
    assert.equal((await post({ password: PASSWORD })).status, 400);
  });

  it('are changed as far as somebody says', async () => {
    const { id, name } = await someone({ remark: 'old' });
    const changed = await adam.data('PUT', '/api/user/', { id, display_name: 'Nice', group: 'gold', password: '' });
    assert.deepEqual(
      [changed.username, changed.display_name, changed.group, changed.remark],
      [name, 'Nice', 'gold', 'old'],
    );
    assert.equal((await adam.data('PUT', '/api/user/', { id, username: `${name}x`, remark: '' })).remark, '');
    await visitor(gateway).signIn(`${name}x`, PASSWORD);
    const put = (body: object): Promise<ApiAnswer> => adam.put('/api/user/', body);
    assert.equal(said(await put({ id, username: 'mia' })), '409 name_taken');
    assert.equal(fieldOf(await put({ id, remark: 'x'.repeat(256) })), '400 remark');
    assert.equal(said(await put({ id: 999_999, remark: '' })), '404 account_not_found');
    assert.equal((await put({ remark: '' })).status, 400);
  });

  it('get a new password or address only by whoever has just shown a second factor; it signs them out', async () => {
    const { id, name } = await someone();
    const theirs = await visitor(gateway).signIn(name, PASSWORD);
    const fresh = await visitor(gateway).signIn('eve', PASSWORD);
    assert.equal(
      said(await fresh.put('/api/user/', { id, password: 'another good one' })),
      '403 verification_required',
    );
    assert.equal(said(await fresh.put('/api/user/', { id, email: 'evil@example.com' })), '403 verification_required');
    assert.equal(said(await fresh.put('/api/user/', { id, email: '' })), '200 ok');
    assert.equal((await theirs.get('/api/user/self')).status, 200);
    assert.equal(fieldOf(await adam.put('/api/user/', { id, password: 'short' })), '400 password');
    await adam.data('PUT', '/api/user/', { id, password: 'another good one', email: 'nice@example.com' });
    assert.equal((await theirs.get('/api/user/self')).status, 401);
    await visitor(gateway).signIn(name, 'another good one');
  });

  it('lose their sessions at once when they are disabled, and their calls are refused', async () => {
    const { id, name } = await someone();
    await boss.data('POST', '/api/user/manage', { id, action: 'add_quota', value: 100_000 });
    const theirs = await visitor(gateway).signIn(name, PASSWORD);
    const { key } = await theirs.data('POST', '/api/token/', { name: 'k', unlimited_quota: true });
    const call = async (): Promise<number> => (await gateway.chat({}, { key })).status;
    assert.equal(await call(), 200);
    const answer = await adam.data('POST', '/api/user/manage', { id, action: 'disable' });
    assert.equal(answer.status, 2);
    assert.equal(await call(), 403);
    assert.equal((await theirs.get('/api/user/self')).status, 401);
    assert.equal((await visitor(gateway).post('/api/user/login', { username: name, password: PASSWORD })).status, 401);
    assert.equal((await adam.data('POST', '/api/user/manage', { id, action: 'enable' })).status, 1);
    assert.equal((await theirs.get('/api/user/self')).status, 401, 'the session has ended for good');
    assert.equal(await call(), 200);
  });

  it('are deleted with their keys and sessions; their name stays taken, their records stay', async () => {
    for (const how of ['delete', 'manage'] as const) {
      const { id, name } = await someone();
      await boss.data('POST', '/api/user/manage', { id, action: 'add_quota', value: 100_000 });
      const theirs = await visitor(gateway).signIn(name, PASSWORD);
      const { key } = await theirs.data('POST', '/api/token/', { name: 'k', unlimited_quota: true });
      assert.equal((await gateway.chat({}, { key })).status, 200);
      if (how === 'delete') await adam.data('DELETE', `/api/user/${id}`);
      else await adam.data('POST', '/api/user/manage', { id, action: 'delete' });
      assert.equal((await gateway.chat({}, { key })).status, 401);
      assert.equal((await theirs.get('/api/user/self')).status, 401);
      assert.equal(said(await adam.post('/api/user/', { username: name, password: PASSWORD })), '409 name_taken');
      const shown = await adam.data('GET', `/api/user/${id}?deleted=also`);
      assert.equal(shown.status, 2);
      assert.match(shown.DeletedAt, /^20/);
      for (const again of [
        await adam.get(`/api/user/${id}`),
        await adam.get(`/api/user/${id}/sessions`),
        await adam.get(`/api/subscription/admin/users/${id}`),
        await adam.get(`/api/token/?user_id=${id}`),
        await adam.delete(`/api/user/${id}`),
        await adam.post('/api/user/manage', { id, action: 'enable' }),
        await adam.put('/api/user/', { id, remark: 'x' }),
      ]) {
        assert.equal(said(again), '404 account_not_found');
      }
    }
  });

  it('are promoted and demoted by root only, which signs them out; nobody makes a second root [T-AUTHZ-08]', async () => {
    const { id, name } = await someone();
    const theirs = await visitor(gateway).signIn(name, PASSWORD);
    const manage = (who: Visitor, action: string): Promise<ApiAnswer> => who.post('/api/user/manage', { id, action });
    assert.equal(said(await manage(adam, 'promote')), '403 role_insufficient');
    assert.equal(said(await manage(boss, 'demote')), '409 role_unchanged');
    assert.equal((await manage(boss, 'promote')).body.data.role, 10);
    assert.equal((await theirs.get('/api/user/self')).status, 401);
    const admin = await visitor(gateway).signIn(name, PASSWORD);
    assert.equal((await admin.get('/api/user/')).status, 200);
    assert.equal(said(await manage(boss, 'promote')), '409 role_unchanged');
    assert.equal(said(await manage(adam, 'demote')), '403 role_insufficient');
    assert.equal((await manage(boss, 'demote')).body.data.role, 1);
    assert.equal((await admin.get('/api/user/')).status, 401);
    for (const role of [10, 100]) {
      const answer = await adam.post('/api/user/', { username: 'climber', password: PASSWORD, role });
      assert.equal(answer.status, role === 100 ? 400 : 403, answer.text);
    }
    assert.equal((await boss.post('/api/user/', { username: 'climber', password: PASSWORD, role: 100 })).status, 400);
    const made = await boss.data('POST', '/api/user/', { username: 'deputy', password: PASSWORD, role: 10 });
    assert.equal(made.role, 10);
  });

  it('get quota and roles only by whoever has just shown a second factor', async () => {
    const fresh = await visitor(gateway).signIn('deputy', PASSWORD);
    const { id } = await someone();
    assert.equal(
      said(await fresh.post('/api/user/manage', { id, action: 'add_quota', value: 5 })),
      '403 verification_required',
    );
    assert.equal(said(await fresh.delete(`/api/user/${id}/2fa`)), '403 verification_required');
    assert.equal(said(await fresh.delete(`/api/user/${id}/reset_passkey`)), '403 verification_required');
    assert.equal(said(await fresh.post('/api/user/manage', { id, action: 'disable' })), '200 ok');
    assert.equal((await boss.data('GET', `/api/user/${id}`)).quota, 0);
  });

  it('lose a second factor that they lost, and can sign in with a password again', async () => {
    const { id, name } = await someone();
    const theirs = await verify(await visitor(gateway).signIn(name, PASSWORD));
    assert.equal((await adam.data('GET', `/api/user/${id}`)).two_factor, true);
    const login = { username: name, password: PASSWORD };
    assert.equal((await visitor(gateway).post('/api/user/login', login)).body.data.require_2fa, true);
    await adam.data('DELETE', `/api/user/${id}/2fa`);
    assert.equal((await adam.data('GET', `/api/user/${id}`)).two_factor, false);
    assert.equal((await theirs.get('/api/user/self')).status, 401);
    await visitor(gateway).signIn(name, PASSWORD);
    assert.equal((await adam.delete(`/api/user/${id}/2fa`)).status, 409);
    assert.equal((await adam.delete(`/api/user/${id}/reset_passkey`)).status, 409);
  });

  it('are signed out, in one place or everywhere', async () => {
    const { id, name } = await someone();
    const places = [];
    for (let i = 0; i < 3; i++)
      places.push(await visitor(gateway, { 'user-agent': `browser ${i}` }).signIn(name, PASSWORD));
    const list = await adam.data('GET', `/api/user/${id}/sessions`);
    assert.equal(list.length, 3);
    const { id: session, login_method: method } = list.find(
      (one: { user_agent: string }) => one.user_agent === 'browser 1',
    );
    assert.equal(method, 'password');
    await adam.data('DELETE', `/api/user/${id}/sessions/${session}`);
    assert.deepEqual(
      await Promise.all(places.map(async (one) => (await one.get('/api/user/self')).status)),
      [200, 401, 200],
    );
    assert.equal(said(await adam.delete(`/api/user/${id}/sessions/${session}`)), '404 session_not_found');
    const mias = (await adam.data('GET', `/api/user/${ids.mia}/sessions`))[0].id;
    assert.equal(said(await adam.delete(`/api/user/${id}/sessions/${mias}`)), '404 session_not_found');
    assert.equal((await mia.get('/api/user/self')).status, 200);
    assert.equal(await adam.data('DELETE', `/api/user/${id}/sessions`), 2);
    assert.deepEqual(
      await Promise.all(places.map(async (one) => (await one.get('/api/user/self')).status)),
      [401, 401, 401],
    );
  });

  it('take no column that nobody may set, not one [T-AUTHZ-01]', async () => {
    const columns = new Set([...tableColumns(gateway.storeFile).values()].flat());
    for (const more of [
      'is_admin',
      'prices',
      'quota',
      'used_quota',
      'remain_quota',
      'department_id',
      'status',
      'role',
      '2fa',
      'access_token',
      '__proto__',
      'constructor',
      'DeletedAt',
      'admin_permissions',
    ]) {
      columns.add(more);
    }
    assert.ok(columns.size > 60, `${columns.size} columns`);
    const { id } = await someone();
    const was = stored(id);
    const rows = [
      ['put', '/api/user/', `"id":${id}`, 'id username display_name password email group remark'],
      [
        'post',
        '/api/user/',
        `"username":"never","password":"${PASSWORD}"`,
        'username display_name password email group remark role',
      ],
      ['post', '/api/user/manage', `"id":${id},"action":"enable"`, 'id action value mode reason'],
    ] as const;
    for (const [method, path, needed, allowed] of rows) {
      let tried = 0;
      for (const column of columns) {
        if (allowed.split(' ').includes(column)) continue;
        tried++;
        // Not what any of them holds: a row may be sent back as it was read.
        for (const value of ['7', '{"role":"root"}']) {
          // As text: an object would not carry a member called __proto__.
          const answer = await boss[method](path, `{${needed},"${column}":${value}}`);
          // What calls count may be older in a row than it is now: it may come back, and changes nothing (below).
          const status = method === 'put' && ['used_quota', 'debt'].includes(column) ? 200 : 400;
          assert.equal(answer.status, status, `${path} ${column}: ${answer.text}`);
        }
      }
      assert.ok(tried > 50, `${tried} columns tried`);
    }
    assert.deepEqual(stored(id), was);
    assert.equal((await boss.data('GET', '/api/user/search?keyword=never')).total, 0);
  });
});
