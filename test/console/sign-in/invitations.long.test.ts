/** Invitations as administrators see them, and access tokens that are ended. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Audit } from '../../../core/contracts/audit.ts';
import { Tickets } from '../../../core/contracts/sessions.ts';
import {
  checked,
  PASSWORD,
  PATIENT,
  ROOT_ENV,
  signedIn,
  type Visitor,
  verdictOf,
  visitor,
} from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';

const PIPELINE = [
  ...[
    'accounts',
    'auth',
    'counters',
    'keys',
    'prices',
    'quota',
    'models',
    'styles',
    'vendors/demo',
    'log',
    'audit',
    'console',
  ],
];
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let clock: FakeClock;
let gateway: TestGateway;
let adam: Visitor & { readonly id: number };
let mia: Visitor & { readonly id: number };
before(async () => {
  clock = fakeClock();
  const settings = { ...PATIENT, registration: 'invite' };
  gateway = await startGateway({ config: { pipeline: PIPELINE, console: settings }, env: ROOT_ENV, clock });
  adam = await checked(gateway, await signedIn(gateway, 'adam', { role: 'admin' }));
  mia = await signedIn(gateway, 'mia');
});
after(() => gateway?.stop());

const make = (expires_days = 7) => adam.data('POST', '/api/user/invitation', { expires_days });
const list = async () => (await adam.data('GET', '/api/user/invitations?page_size=100')).items;
const stateOf = async (id: number) => (await list()).find((one: { id: number }) => one.id === id);
/** Lets it have been made so long ago. */
const age = (id: number, ms: number) =>
  gateway.host.store.run('UPDATE invitation SET expires_ms = expires_ms - ? WHERE id = ?', ms, id);
const register = (username: string, invite_code: string) =>
  visitor(gateway).post('/api/user/register', { username, password: PASSWORD, invite_code });
const seconds = () => Math.floor(clock.now() / 1_000);

describe('invitations', () => {
  it('are listed newest first, with who made them, when, and until when they are good', async () => {
    const first = await make(1);
    const second = await make();
    const [newest, older] = await list();
    assert.deepEqual([newest.id, older.id], [second.id, first.id]);
    assert.deepEqual(older, {
      id: first.id,
      status: 'open',
      made_by: adam.id,
      made_by_name: 'adam',
      created_at: seconds(),
      expires_at: seconds() + 86_400,
      email: '',
      role: 1,
      department_id: 0,
      department_name: '',
      quota: null,
      plan: '',
      sent_at: 0,
      used_by: 0,
      used_by_name: '',
      used_at: 0,
      revoked_at: 0,
    });
    const { items, total } = await adam.data('GET', '/api/user/invitations?p=2&page_size=1');
    assert.deepEqual([items.length, items[0].id, total], [1, first.id, 2]);
  });

  it('never show their code again, nor what is stored of it', async () => {
    const { code } = await make();
    const { text } = await adam.get('/api/user/invitations?page_size=100');
    const stored = await gateway.host.store.all<{ ticket: Buffer }>('SELECT ticket FROM invitation');
    assert.ok(!text.includes(code), 'the code');
    for (const { ticket } of stored) assert.ok(!text.includes(Buffer.from(ticket).toString('hex')), 'its hash');
  });

  it('tell who used them, in the same moment in which the account is made', async () => {
    const { id, code } = await make();
    assert.equal(verdictOf(await register('root', code)), '409 name_taken username');
    assert.equal((await stateOf(id)).status, 'open', 'what fails uses nothing up');
    clock.advance(5_000);
    assert.equal((await register('nina', code)).status, 200);
    const nina = await gateway.host.use(Accounts).findByName('nina');
    const { status, used_by, used_by_name, used_at } = await stateOf(id);
    assert.deepEqual([status, used_by, used_by_name, used_at], ['used', nina?.id, 'nina', seconds()]);
    assert.equal(verdictOf(await register('olga', code)), '403 invitation_wanted invite_code');
  });

  it('are good for nothing once they are taken back, which the audit tells', async () => {
    const { id, code } = await make();
    assert.equal((await adam.delete(`/api/user/invitations/${id}`)).status, 200);
    const { status, revoked_at } = await stateOf(id);
    assert.deepEqual([status, revoked_at], ['revoked', seconds()]);
    assert.equal(verdictOf(await register('olga', code)), '403 invitation_wanted invite_code');
    const [entry] = await gateway.host.use(Audit).page({ limit: 1, action: 'invitation' });
    assert.deepEqual(
      [entry?.action, entry?.object, entry?.actor.name],
      ['invitation.revoke', `invitation ${id}`, 'adam'],
    );
  });

  it('are taken back only while they are good, and nothing is told of it otherwise', async () => {
    const used = await make();
    assert.equal((await register('paul', used.code)).status, 200);
    const late = await make(1);
    const gone = await make();
    await adam.data('DELETE', `/api/user/invitations/${gone.id}`);
    await age(late.id, DAY_MS);
    const before = await gateway.host.use(Audit).count();
    for (const id of [used.id, late.id, gone.id, 999_999, 0, 'x', '1e1']) {
      assert.equal(verdictOf(await adam.delete(`/api/user/invitations/${id}`)), '404 invitation_not_found', `${id}`);
    }
    assert.equal((await stateOf(late.id)).status, 'expired');
    assert.equal((await stateOf(used.id)).status, 'used');
    assert.equal(await gateway.host.use(Audit).count(), before);
  });

  it('of an older version, which are in no list, are still good', async () => {
    const code = await gateway.host.use(Tickets).issue('invitation', { forMs: DAY_MS });
    assert.equal((await register('quin', code)).status, 200);
  });

  it('are for administrators', async () => {
    const { id } = await make();
    for (const [method, path] of [
      ['get', '/api/user/invitations'],
      ['delete', `/api/user/invitations/${id}`],
    ] as const) {
      assert.equal(verdictOf(await visitor(gateway)[method](path)), '401 not_signed_in');
      assert.equal(verdictOf(await mia[method](path)), '403 role_insufficient');
    }
    assert.equal((await stateOf(id)).status, 'open');
    const strange = await adam.delete(`/api/user/invitations/${id}`, undefined, { 'sec-fetch-site': 'cross-site' });
    assert.equal(verdictOf(strange), '403 cross_site');
    assert.equal((await adam.get('/api/user/invitations?p=x')).status, 400);
  });

  it('are forgotten a year after they have ended', async () => {
    const { id: kept } = await make();
    const { id: old } = await make();
    await age(kept, 370 * DAY_MS);
    await age(old, 373 * DAY_MS);
    clock.advance(HOUR_MS);
    for (let looks = 0; looks < 1_000 && (await stateOf(old)) !== undefined; looks++) await new Promise(setImmediate);
    assert.equal(await stateOf(old), undefined);
    assert.equal((await stateOf(kept)).status, 'expired');
  });
});

describe('an access token', () => {
  it('ends when its owner says so, and only then', async () => {
    const ann = await signedIn(gateway, 'ann');
    const other = await signedIn(gateway, 'bob');
    const theirs = visitor(gateway, { authorization: await other.data('GET', '/api/user/token') });
    const token = await ann.data('GET', '/api/user/token');
    const tool = visitor(gateway, { authorization: token });
    assert.equal((await tool.get('/api/user/self')).status, 200);
    assert.equal(verdictOf(await tool.delete('/api/user/token')), '401 session_wanted');
    assert.equal(verdictOf(await visitor(gateway).delete('/api/user/token')), '401 not_signed_in');
    assert.deepEqual(await ann.data('DELETE', '/api/user/token'), { revoked: true });
    assert.equal(verdictOf(await tool.get('/api/user/self')), '401 invalid_access_token');
    const [entry] = await gateway.host.use(Audit).page({ limit: 1, action: 'access-token' });
    assert.deepEqual([entry?.action, entry?.object], ['access-token.revoke', `user ${ann.id}`]);
    const before = await gateway.host.use(Audit).count();
    assert.deepEqual(await ann.data('DELETE', '/api/user/token'), { revoked: false });
    assert.equal(await gateway.host.use(Audit).count(), before);
    assert.equal((await theirs.get('/api/user/self')).status, 200, 'somebody else’s goes on');
  });
});
