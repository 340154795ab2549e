/** Service tokens: what a machine can do with one, what it cannot, and how they end. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Audit } from '../../../core/contracts/audit.ts';
import { SERVICE_SCOPES } from '../../../core/contracts/service-tokens.ts';
import {
  advanced,
  CONSOLE_PIPELINE,
  describedInterface,
  member,
  PASSWORD,
  PATIENT,
  ROOT_ENV,
  root,
  signedIn,
  type Visitor,
  verdictOf,
  visitor,
} from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { enableTotp, nextCodeOf } from '../../kit/stand-ins/factors.ts';

const DAY_MS = 86_400_000;
const ALL = ['keys:write', 'users:write', 'departments:write'];

let clock: FakeClock;
let gateway: TestGateway;
let adam: Visitor;
let check: () => Promise<unknown>;
before(async () => {
  clock = fakeClock();
  gateway = await startGateway({
    config: { pipeline: CONSOLE_PIPELINE, console: PATIENT },
    env: ROOT_ENV,
    clock,
  });
  adam = await member(gateway, 'adam', { role: 'admin' });
  const { secret } = await enableTotp(adam, clock);
  check = () => adam.data('POST', '/api/verify', { method: '2fa', code: nextCodeOf(secret, clock) });
});
after(() => gateway?.stop());

/** A machine, which has no cookie and sends no other header. */
const machine = (secret: string): Visitor =>
  visitor(gateway, { authorization: `Bearer ${secret}`, 'x-requested-with': '' });

async function make(scopes: readonly string[], more: object = {}) {
  await check();
  const made = await adam.data('POST', '/api/service-token/', { name: 'terraform', scopes, ...more });
  return { ...made, machine: machine(made.secret) };
}
const audited = async (action: string) =>
  (await gateway.host.use(Audit).page({ limit: 100 })).find((entry) => entry.action === action);

describe('a service token', () => {
  it('creates, reads, updates and deletes users, keys and departments without a sign-in', async () => {
    const { machine: terraform } = await make(ALL);
    const user = await terraform.data('POST', '/api/user/', { username: 'mia', password: PASSWORD });
    await terraform.data('PUT', '/api/user/', { id: user.id, display_name: 'Mia', email: 'mia@example.com' });
    assert.equal((await terraform.data('GET', `/api/user/${user.id}`)).email, 'mia@example.com');
    await terraform.data('POST', '/api/user/manage', { id: user.id, action: 'add_quota', value: 500 });
    assert.equal((await terraform.data('GET', `/api/user/${user.id}`)).quota, 500);

    const key = await terraform.data('POST', '/api/token/', { name: 'ci', user_id: user.id, remain_quota: 10 });
    await terraform.data('PUT', '/api/token/', { id: key.id, name: 'build' });
    assert.equal((await terraform.data('GET', `/api/token/${key.id}`)).name, 'build');
    assert.deepEqual(
      (await terraform.data('GET', `/api/token/?user_id=${user.id}`)).items.map((each: { name: string }) => each.name),
      ['build'],
    );

    const department = await terraform.data('POST', '/api/department/', { name: 'Research', quota: 1_000 });
    await terraform.data('PUT', `/api/department/${department.id}`, { name: 'Labs' });
    await terraform.data('POST', `/api/department/${department.id}/members`, { user_ids: [user.id] });
    assert.equal((await terraform.data('GET', `/api/department/${department.id}`)).name, 'Labs');
    assert.equal((await terraform.data('GET', `/api/user/${user.id}`)).department_name, 'Labs');

    await terraform.data('DELETE', `/api/department/${department.id}/members/${user.id}`);
    await terraform.data('DELETE', `/api/department/${department.id}`);
    await terraform.data('DELETE', `/api/token/${key.id}`);
    await terraform.data('DELETE', `/api/user/${user.id}`);
    assert.equal(verdictOf(await terraform.get(`/api/token/${key.id}`)), '404 key_not_found');
    assert.equal((await terraform.get(`/api/department/${department.id}`)).status, 404);
    assert.equal(verdictOf(await terraform.get(`/api/user/${user.id}`)), '404 account_not_found id');
  });

  it('is named in the audit log together with its maker', async () => {
    const { machine: ci } = await make(['departments:write'], { name: 'ci' });
    await ci.data('POST', '/api/department/', { name: 'Audited' });
    const entry = await audited('department.create');
    const { id } = await adam.data('GET', '/api/user/self');
    assert.deepEqual([entry?.actor.name, entry?.actor.accountId], ['adam (service token ci)', id]);
    const made = await audited('service-token.create');
    assert.deepEqual([made?.actor.name, made?.facts.name], ['adam', 'ci']);
  });

  it('does only what its scopes allow: `write` includes `read`, and neither includes another group', async () => {
    const { machine: reader } = await make(['users:read']);
    assert.equal((await reader.get('/api/user/')).status, 200);
    assert.equal(
      verdictOf(await reader.post('/api/user/', { username: 'x', password: PASSWORD })),
      '403 scope_insufficient',
    );
    assert.equal(verdictOf(await reader.get('/api/department/')), '403 scope_insufficient');
    const { machine: writer } = await make(['users:write']);
    assert.equal((await writer.get('/api/user/')).status, 200);
    assert.match((await reader.get('/api/audit')).body.message, /"audit:read"/);
  });

  it('opens every operation of administrators with all scopes, and no operation that is for persons', async () => {
    const { body: status } = await adam.get('/api/user/self');
    assert.equal(status.success, true);
    const scopes = SERVICE_SCOPES.filter((scope) => !scope.startsWith('config:'));
    const { machine: ci } = await make(scopes);
    const document = await describedInterface(gateway);
    let open = 0;
    let closed = 0;
    for (const [path, operations] of Object.entries(document.paths as Record<string, Record<string, never>>)) {
      for (const [method, operation] of Object.entries(operations)) {
        const { security, description = '' } = operation as { security: object[]; description?: string };
        const bySession = security.some((one) => 'session' in one);
        if (!bySession || /^For root/.test(description)) continue;
        const accepted = security.some((one) => 'serviceToken' in one);
        const url = path.replace(/\{\w+\}/g, '999999');
        const { status, body } = await (method === 'get'
          ? ci.get(url)
          : method === 'delete'
            ? ci.delete(url)
            : ci[method as 'post'](url, { nothing: 'like this' }));
        const refusal = `${method} ${path}: ${status} ${body?.code}`;
        if (accepted) {
          open++;
          assert.ok(status !== 401 && !['scope_insufficient', 'person_wanted'].includes(body?.code), refusal);
        } else {
          closed++;
          assert.deepEqual([status, body?.code], [403, 'person_wanted'], refusal);
          const isOfPersons = /^\/api\/(service-token\/|user\/\{id\}\/(2fa|reset_passkey)$)/.test(path);
          assert.ok(!/^For administrators/.test(description) || isOfPersons, refusal);
        }
      }
    }
    assert.ok(open > 60 && closed > 20, `${open} open, ${closed} closed`);
  });

  it('cannot take over an account that is used: neither by its email address nor by its second factors', async () => {
    const { machine: writer } = await make(['users:write']);
    const kim = await signedIn(gateway, 'kim', { email: 'kim@example.com' });
    for (const answer of [
      await writer.put('/api/user/', { id: kim.id, email: 'eve@example.com' }),
      await writer.delete(`/api/user/${kim.id}/2fa`),
      await writer.delete(`/api/user/${kim.id}/reset_passkey`),
    ])
      assert.equal(verdictOf(answer), '403 person_wanted');
  });

  it('cannot make tokens, set passwords, or change administrators, whichever administrator made it', async () => {
    const secret = await gateway.command(`token create --name boss --scopes ${SERVICE_SCOPES.join(',')}`);
    const boss = machine(secret.trim());
    const eve = await signedIn(gateway, 'eve', { role: 'admin' });
    const pat = await signedIn(gateway, 'pat');
    assert.equal(
      verdictOf(await boss.post('/api/service-token/', { name: 'x', scopes: ['keys:read'] })),
      '403 person_wanted',
    );
    assert.equal(verdictOf(await boss.put('/api/user/', { id: pat.id, password: PASSWORD })), '403 person_wanted');
    assert.equal(verdictOf(await boss.post('/api/user/2fa/setup')), '403 person_wanted');
    assert.equal(verdictOf(await boss.delete(`/api/user/${eve.id}`)), '403 role_insufficient');
    assert.equal(
      verdictOf(await boss.post('/api/user/', { username: 'y', password: PASSWORD, role: 10 })),
      '403 role_insufficient',
    );
    assert.equal(
      verdictOf(await boss.post('/api/user/manage', { id: pat.id, action: 'promote' })),
      '403 role_insufficient',
    );
    assert.equal((await boss.get('/api/config')).status, 200, 'it can read what only root can');
  });

  it('is made by administrators with a second factor, after a verification, and not for more than they may', async () => {
    const body = { name: 'ci', scopes: ['keys:read'] };
    assert.equal(verdictOf(await visitor(gateway).post('/api/service-token/', body)), '401 not_signed_in');
    const mona = await member(gateway, 'mona');
    assert.equal(verdictOf(await mona.post('/api/service-token/', body)), '403 role_insufficient');
    const plain = await member(gateway, 'plain', { role: 'admin' });
    assert.equal(verdictOf(await plain.post('/api/service-token/', body)), '403 verification_required');
    await plain.data('POST', '/api/verify', { method: 'password', password: PASSWORD });
    assert.equal(verdictOf(await plain.post('/api/service-token/', body)), '409 no_second_factor');
    await check();
    const config = { name: 'ci', scopes: ['config:read'] };
    assert.equal(verdictOf(await adam.post('/api/service-token/', config)), '403 role_insufficient scopes');
    for (const addresses of [[], ['10.0.0.1/8'], ['office']]) {
      assert.equal(
        verdictOf(await adam.post('/api/service-token/', { ...body, addresses })),
        '400 invalid_token_addresses addresses',
      );
    }
    assert.equal((await adam.post('/api/service-token/', { name: 'ci', scopes: ['all'] })).status, 400);
    assert.equal((await adam.post('/api/service-token/', { name: 'ci', scopes: [] })).status, 400);
  });

  it('is refused from addresses that it does not allow', async () => {
    const { machine: far } = await make(['users:read'], { addresses: ['203.0.113.0/24'] });
    assert.equal(verdictOf(await far.get('/api/user/')), '403 address_not_allowed');
    assert.equal((await far.get('/api/status')).status, 200, 'public pages are for everyone');
    const { machine: near } = await make(['users:read'], { addresses: ['127.0.0.0/8', '::1/128'] });
    assert.equal((await near.get('/api/user/')).status, 200);
  });

  it('ends when it expires, when it is revoked, and while its maker is disabled or no administrator', async () => {
    const isOver = async (ci: Visitor) => verdictOf(await ci.get('/api/user/')) === '401 invalid_access_token';
    const { machine: short } = await make(['users:read'], { expires_days: 1 });
    assert.equal(await isOver(short), false);
    await advanced(gateway, clock, DAY_MS);
    assert.equal(await isOver(short), true);

    adam = await signedIn(gateway, 'adam');
    const { id, machine: gone } = await make(['users:read']);
    await adam.data('DELETE', `/api/service-token/${id}`);
    assert.equal(await isOver(gone), true);
    assert.equal(verdictOf(await adam.delete(`/api/service-token/${id}`)), '404 service_token_not_found');

    await gateway.command('user create --name temp --role admin --password-stdin', PASSWORD);
    const ofTemp = machine((await gateway.command('token create --name t --user temp --scopes users:read')).trim());
    assert.equal(await isOver(ofTemp), false);
    await gateway.command('user disable temp');
    assert.equal(await isOver(ofTemp), true);
    await gateway.command('user enable temp');
    assert.equal(await isOver(ofTemp), false);
    const temp = await gateway.host.store.one<{ id: number }>("SELECT id FROM account WHERE name = 'temp'");
    await gateway.host.store.run("UPDATE account SET role = 'member' WHERE id = ?", temp!.id);
    assert.equal(await isOver(ofTemp), true);
  });

  it('is listed with its last use, without its secret, to its maker and to root only', async () => {
    const { id, secret, machine: ci } = await make(['users:read'], { name: 'listed' });
    assert.match(secret, /^turnpike_st_[0-9A-Za-z]{43}$/);
    const listed = async (who: Visitor) =>
      (await who.data('GET', '/api/service-token/')).find((each: { id: number }) => each.id === id);
    assert.equal((await listed(adam)).used_at, 0);
    await ci.data('GET', '/api/user/');
    const { used_at, used_ip, made_by_name, suffix, status } = await listed(adam);
    assert.deepEqual([used_at, made_by_name, suffix], [Math.floor(clock.now() / 1_000), 'adam', secret.slice(-4)]);
    assert.match(used_ip, /127\.0\.0\.1|::1/);
    assert.equal(status, 'valid');
    assert.equal(await listed(await signedIn(gateway, 'eva', { role: 'admin' })), undefined);
    assert.equal((await listed(await root(gateway))).id, id);
    const { text } = await adam.get('/api/service-token/');
    const rows = await gateway.host.store.all<{ hash: Buffer }>('SELECT hash FROM service_token');
    assert.ok(!text.includes(secret.slice(0, -4)));
    assert.ok(rows.every(({ hash }) => !text.includes(Buffer.from(hash).toString('hex'))));
  });

  it('is created, listed and revoked on the command line', async () => {
    const secret = (
      await gateway.command('token create --name shell --scopes users:read --expires 7d --ips 127.0.0.1')
    ).trim();
    const [token] = JSON.parse(await gateway.command('token list --json'));
    assert.deepEqual(
      [token.name, token.scopes, token.addresses, token.expires_at],
      ['shell', ['users:read'], ['127.0.0.1'], Math.floor((clock.now() + 7 * DAY_MS) / 1_000)],
    );
    assert.match(await gateway.command('token list'), /shell +root +….{4} +valid/);
    assert.equal((await machine(secret).get('/api/user/')).status, 200);
    assert.equal((await gateway.command(`token revoke ${token.id}`)).trim(), `revoked ${token.id}`);
    assert.equal((await machine(secret).get('/api/user/')).status, 401);
    for (const expires of ['0d', '731d', '99999999d']) {
      await assert.rejects(
        gateway.command(`token create --name x --scopes users:read --expires ${expires}`),
        /--expires must be (above zero|at most 730d)/,
      );
    }
    await assert.rejects(
      gateway.command('token create --name x --scopes everything'),
      /there is no scope "everything"/,
    );
    await assert.rejects(
      gateway.command('token create --name x --user mona --scopes users:read'),
      /not an administrator/,
    );
  });

  it('does not call models', async () => {
    const { secret } = await make(['keys:write']);
    const { status } = await visitor(gateway, { authorization: `Bearer ${secret}` }).post('/v1/chat/completions', {
      model: 'demo',
      messages: [{ role: 'user', content: 'hi' }],
    });
    assert.equal(status, 401);
  });
});
