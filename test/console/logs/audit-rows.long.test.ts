/** The audit log at the console: what administrators read of it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Audit } from '../../../core/contracts/audit.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import {
  CONSOLE_PIPELINE,
  member,
  PASSWORD,
  PATIENT,
  ROOT_ENV,
  root,
  said,
  type Visitor,
  verify,
  visitor,
} from '../../kit/console/console.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';

describe('the audit log at the console', () => {
  let gateway: TestGateway;
  let boss: Visitor;
  let audit: Audit;
  before(async () => {
    gateway = await startGateway({
      config: { pipeline: CONSOLE_PIPELINE, console: PATIENT },
      env: ROOT_ENV,
    });
    audit = gateway.host.find(Audit)!;
    boss = await verify(await root(gateway));
  });
  after(() => gateway.stop());

  it('is read page by page, by who, what and when', async () => {
    const name = '=cmd|calc';
    for (let i = 1; i <= 7; i++) {
      const actor = { accountId: 5, name: i === 4 ? name : 'ann', ip: '192.0.2.1' };
      await audit.note({ actor, action: i % 2 ? 'test.odd' : 'test.even', object: `thing ${i}`, facts: { i } });
    }
    const first = await boss.data('GET', '/api/audit?action=test&page_size=3');
    assert.deepEqual(
      first.items.map(({ facts }: { facts: { i: number } }) => facts.i),
      [7, 6, 5],
    );
    assert.equal(first.before, first.items[2].seq);
    assert.ok(first.total >= 7, `${first.total}`);
    const { seq, hash, created_at: createdAt, ...entry } = first.items[0];
    assert.deepEqual(entry, {
      actor_id: 5,
      actor: 'ann',
      ip: '192.0.2.1',
      action: 'test.odd',
      object: 'thing 7',
      object_name: '',
      facts: { i: 7 },
    });
    assert.ok(Number.isInteger(seq) && createdAt > 1_700_000_000, `${seq} ${createdAt}`);
    assert.match(hash, /^[0-9a-f]{64}$/);
    const numbers = async (query: string): Promise<number[]> =>
      (await boss.data('GET', `/api/audit?${query}`)).items.map(({ facts }: { facts: { i: number } }) => facts.i);
    assert.deepEqual(await numbers(`action=test&page_size=3&before=${first.before}`), [4, 3, 2]);
    assert.deepEqual(await numbers('action=test.even'), [6, 4, 2]);
    assert.deepEqual(await numbers(`action=test&actor=${encodeURIComponent(name)}`), [4]);
    assert.deepEqual(
      await numbers(`action=test&start_timestamp=${createdAt}&end_timestamp=${createdAt}&page_size=1`),
      [7],
    );
    assert.deepEqual(await numbers(`action=test&start_timestamp=${createdAt + 60}`), []);
    assert.deepEqual(await numbers('action=te%25'), []);
    const last = await boss.data('GET', '/api/audit/?action=test');
    assert.deepEqual([last.items.length, last.before], [7, null]);
    for (const query of ['page_size=x', 'before=0', 'before=x', 'start_timestamp=-1', 'end_timestamp=1e9']) {
      assert.equal((await boss.get(`/api/audit?${query}`)).status, 400, query);
    }
  });

  it('is exported for a spreadsheet that runs nothing, and tells of it', async () => {
    const answer = await boss.get('/api/audit/export?action=test');
    assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.match(answer.headers.get('content-disposition') ?? '', /audit\.csv/);
    const lines = answer.text.trimEnd().split('\r\n');
    assert.equal(lines.length, 8);
    assert.equal(lines[0], 'seq,time,actor_id,actor,ip,action,object,facts,hash');
    assert.match(lines[1]!, /^\d+,20.*Z,5,ann,192\.0\.2\.1,test\.odd,thing 7,"{""i"":7}",[0-9a-f]{64}$/);
    assert.match(lines[4]!, /,5,'=cmd\|calc,/);
    const { items } = await boss.data('GET', '/api/audit?page_size=1');
    assert.deepEqual(
      [items[0].action, items[0].actor, items[0].facts],
      ['audit.export', 'root', { action: 'test', entries: 7 }],
    );
  });

  it('is for administrators, and its export for those who have just shown a second factor', async () => {
    const adam = await member(gateway, 'adam', { role: 'admin' });
    const mia = await member(gateway, 'mia');
    for (const path of ['/api/audit', '/api/audit/export', '/api/audit/chain']) {
      assert.equal(said(await visitor(gateway).get(path)), '401 not_signed_in');
      assert.equal(said(await mia.get(path)), '403 role_insufficient');
    }
    assert.equal(said(await adam.get('/api/audit')), '200 ok');
    assert.equal(said(await adam.get('/api/audit/export')), '403 verification_required');
    assert.equal((await boss.post('/api/audit', {})).status, 405);
    assert.equal((await boss.delete('/api/audit')).status, 405);
  });

  it('tells what was done on the command line, too: people, keys and money', async () => {
    await gateway.command('user create --name cleo --role member --password-stdin', PASSWORD);
    await gateway.command('user credit cleo 3');
    const secret = await gateway.command('key create --name spare --user cleo');
    const { key } = (await gateway.host.use(Keys).find(secret.trim()))!;
    await gateway.command(`key revoke ${key.id}`);
    const { items } = await boss.data('GET', `/api/audit?actor=${encodeURIComponent('command line')}&page_size=4`);
    const user = `user ${key.accountId}`;
    assert.deepEqual(
      items.map(({ action, object, facts }: Record<string, unknown>) => [action, object, facts]),
      [
        ['key.delete', `key ${key.id}`, {}],
        ['key.create', `key ${key.id}`, {}],
        ['user.quota', user, { mode: 'add', value: 3 }],
        ['user.create', user, {}],
      ],
    );
    assert.deepEqual(
      items.map(({ object_name: name }: { object_name: string }) => name),
      ['spare', 'spare', 'cleo', 'cleo'],
    );
  });

  it('is checked along its chain, from anywhere, and says where it was broken', async () => {
    const whole = await boss.data('GET', '/api/audit/chain');
    assert.deepEqual([whole.checked, whole.broken], [whole.total, null]);
    assert.match(await gateway.command(`audit verify --head ${whole.head}`), /^\d+ entries/);
    const rest = await boss.data('GET', `/api/audit/chain?after=${whole.total - 2}`);
    assert.deepEqual([rest.checked, rest.broken, rest.head], [whole.total, null, whole.head]);
    assert.deepEqual(await audit.verify(1, 2), { ...(await audit.verify(1, 2)), seq: 3, broken: undefined });
    assert.equal((await boss.get('/api/audit/chain?after=-1')).status, 400);
    const beyond = await boss.data('GET', `/api/audit/chain?after=${whole.total + 5}`);
    assert.deepEqual(beyond.broken, { seq: whole.total + 5, why: 'it is missing' });
  });
});
