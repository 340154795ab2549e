/** Lists of administrators: sorted, as files of any size, and several of them changed by one request. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { Audit } from '../../core/contracts/audit.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { csvTable } from '../../plugins/console/format/csv.ts';
import { PASSWORD, signedIn, type Visitor, verdictOf } from '../kit/console/console.ts';
import { type Administered, administered } from './users/administered.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Any = any;

let all: Administered;
let boss: Visitor;
let adam: Visitor;
before(async () => {
  all = await administered();
  ({ boss, adam } = all);
});
after(() => all?.stop());

const items = async (path: string): Promise<readonly Any[]> => (await boss.data('GET', path)).items;
const column = async (path: string, name: string) => (await items(path)).map((item) => item[name]);
/** The rows of a CSV without quoted cells that have commas. */
const table = (text: string) =>
  text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));

describe('a list', () => {
  it('of users is sorted by names, sign-ins, balances and spending, both ways', async () => {
    await boss.data('POST', '/api/user/', { username: 'Zoe', password: PASSWORD });
    const names = await column('/api/user/?page_size=100&sort=username', 'username');
    assert.deepEqual(names, ['adam', 'eve', 'mia', 'root', 'Zoe']);
    assert.deepEqual(await column('/api/user/?page_size=100&sort=-username', 'username'), names.toReversed());
    assert.deepEqual((await column('/api/user/?page_size=100&sort=role', 'role')).at(-1), 100);
    const balances = await items('/api/user/?page_size=100&sort=-quota');
    assert.deepEqual([balances[0].username, balances[1].username], ['root', 'mia'], 'unlimited ones first');
    const [first] = await column('/api/user/?page_size=1&p=2&sort=-quota', 'username');
    assert.equal(first, 'mia', 'pages are of the sorted list');
    const times = await column('/api/user/?page_size=100&sort=last_login_at', 'last_login_at');
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    assert.equal((await boss.get('/api/user/?sort=password')).status, 400);
  });

  it('of keys is sorted, and administrators list those of all users with their owners', async () => {
    const { mia } = all;
    for (const name of ['beta', 'Alpha', 'gamma'])
      await mia.data('POST', '/api/token/', { name, unlimited_quota: true });
    const { items: own } = await mia.data('GET', '/api/token/?sort=name');
    assert.deepEqual(
      own.map(({ name }: Any) => name),
      ['Alpha', 'beta', 'gamma'],
    );
    const found = await items('/api/token/users?keyword=ALPH');
    assert.deepEqual(
      found.map(({ name, username, key }) => [name, username, key.includes('*')]),
      [['Alpha', 'mia', true]],
    );
    assert.equal(verdictOf(await mia.get('/api/token/users')), '403 role_insufficient');
  });

  it('of the own keys is a file, without a verification; that of another user needs one', async () => {
    const { mia, ids } = all;
    await mia.data('POST', '/api/token/', { name: 'in a file', unlimited_quota: true });
    await mia.data('POST', '/api/token/', { name: 'disabled', unlimited_quota: true, status: 2 });
    const { text, headers } = await mia.get('/api/token/?format=csv&status=1');
    assert.match(headers.get('content-disposition') ?? '', /keys\.csv/);
    assert.match(text, /,mia,in a file,sk-/);
    assert.ok(!text.includes(',disabled,'), text);
    const eve = await signedIn(all.gateway, 'eve');
    const path = `/api/token/?format=csv&user_id=${ids.mia}`;
    assert.equal(verdictOf(await eve.get(path)), '403 verification_required');
    assert.match((await adam.get(path)).text, /,mia,in a file,sk-/);
  });

  it('is a file with every matching row, which names no secret and runs no formula', async () => {
    await boss.data('POST', '/api/user/', { username: '=1+1', password: PASSWORD, remark: '@SUM(A1)' });
    const { text, headers } = await boss.get('/api/user/?format=csv&sort=username');
    assert.match(headers.get('content-type') ?? '', /^text\/csv/);
    assert.match(headers.get('content-disposition') ?? '', /users\.csv/);
    const [head, ...rows] = table(text);
    assert.deepEqual(head!.slice(0, 3), ['id', 'username', 'display_name']);
    assert.deepEqual(
      rows.map(([, username]) => username),
      ["'=1+1", 'adam', 'eve', 'mia', 'root', 'Zoe'],
    );
    assert.match(text, /,'@SUM\(A1\)\r\n/);
    const keys = await boss.get('/api/token/users?format=csv');
    assert.match(keys.text, /,mia,Alpha,sk-/);
    for (const key of await all.gateway.host.use(Keys).list())
      assert.ok(!keys.text.includes(key.prefix.slice(3) + key.suffix));
    assert.match((await boss.get('/api/user/topup?format=csv')).text, /^id,user_id,username,trade_no,/);
    const entries = await all.gateway.host.use(Audit).page({ limit: 20 });
    for (const action of ['user.export', 'key.export', 'order.export'])
      assert.ok(
        entries.some((entry) => entry.action === action && entry.actor.name === 'root'),
        action,
      );
  });

  it('that is newest first goes on behind an id, whatever is created meanwhile', async () => {
    const { gateway, ids } = all;
    const order = (i: number) =>
      gateway.host.store.run(
        `INSERT INTO top_up (account_id, provider, method, trade_no, kind, amount, quota, money, currency, state, created_ms, expires_ms)
          VALUES (?, 'balance', '', ?, 'quota', 1, 1, 1, 'USD', 'success', 0, 0)`,
        ids.mia!,
        `cursor-${i}`,
      );
    const more: Readonly<Record<string, (i: number) => Promise<unknown>>> = {
      '/api/user/?': (i) => boss.data('POST', '/api/user/', { username: `user${i}`, password: PASSWORD }),
      '/api/token/?': (i) => boss.data('POST', '/api/token/', { name: `key${i}` }),
      '/api/token/users?': (i) => boss.data('POST', '/api/token/', { name: `another${i}` }),
      '/api/redemption/?': (i) => boss.data('POST', '/api/redemption/', { name: `code${i}`, quota: 5 }),
      '/api/user/topup?': order,
    };
    for (const [path, create] of Object.entries(more)) {
      for (let i = 0; i < 5; i++) await create(i);
      const before = await column(`${path}page_size=100`, 'id');
      const seen: number[] = [];
      for (let page = await items(`${path}page_size=2`), i = 5; page.length > 0; i++) {
        seen.push(...page.map(({ id }) => id));
        await create(i);
        page = await items(`${path}page_size=2&before_id=${seen.at(-1)}`);
      }
      assert.deepEqual(seen, before, path);
      const { total } = await boss.data('GET', `${path}before_id=${before[1]}`);
      assert.equal(total, before.length - 2, path);
    }
  });

  it('as a file has each row once, though others are created while it is sent', async () => {
    const rows = Array.from({ length: 1_200 }, (_, i) => [1_200 - i]);
    const file = await csvTable('rows', ['id'], false, async ({ before = Number.POSITIVE_INFINITY, offset, limit }) => {
      const matching = rows.filter(([id]) => id! < before).slice(offset, offset + limit);
      rows.unshift([rows[0]![0]! + 1]);
      return matching;
    });
    let text = '';
    for await (const piece of file.body as AsyncIterable<string>) text += piece;
    const sent = text.trimEnd().split('\r\n').slice(1).map(Number);
    assert.deepEqual([sent.length, new Set(sent).size, sent.at(-1)], [1_200, 1_200, 1]);
  });

  it('as a file has the columns of its members, or the document says what they are', async () => {
    const document = (await boss.get('/api/openapi.json')).body;
    const resolved = (schema: Any): Any =>
      schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split('/').at(-1)];
    /** The members of an answer and of its items. */
    const membersOf = (schema: Any): readonly string[] =>
      Object.entries<Any>(resolved(schema).properties ?? {}).flatMap(([name, inner]) => [
        name,
        ...membersOf(inner.items ?? (name === 'data' ? inner : {})),
      ]);
    let count = 0;
    for (const [path, { get }] of Object.entries<Any>(document.paths)) {
      const format = get?.parameters?.find(({ name }: Any) => name === 'format');
      if (format?.schema.enum?.includes('csv') !== true) continue;
      count++;
      const { status, text } = await boss.get(`${path}?format=csv`);
      assert.equal(status, 200, path);
      const members = membersOf(get.responses[200].content['application/json'].schema);
      const [head] = table(text.replace('\uFEFF', ''));
      for (const name of head!)
        assert.ok(members.includes(name) || format.description.includes(`\`${name}\` is`), `${path}: ${name}`);
    }
    assert.ok(count > 15, `${count}`);
  });

  it('of a user, a key or a department that there never was is refused, not empty', async () => {
    const filters = { user_id: 'account_not_found', token_id: 'key_not_found', department_id: 'department_not_found' };
    const { paths } = (await boss.get('/api/openapi.json')).body;
    let count = 0;
    for (const [path, { get }] of Object.entries<Any>(paths)) {
      for (const { name, schema } of get?.parameters ?? []) {
        const code = filters[name as keyof typeof filters];
        // Among what is one's own, somebody else's key looks like one that there never was: nothing is found.
        if (code === undefined || schema.type !== 'integer' || path.includes('/self')) continue;
        count++;
        assert.equal(verdictOf(await boss.get(`${path}?${name}=999999`)), `404 ${code} ${name}`, path);
        assert.ok(get.responses[404].description.includes(code), `${path} documents ${code}`);
      }
    }
    assert.ok(count > 25, `${count}`);
  });

  it('is a file only after a verification', async () => {
    const fresh = await signedIn(all.gateway, 'eve');
    for (const path of ['/api/user/?format=csv', '/api/token/users?format=csv', '/api/user/topup?format=csv']) {
      assert.equal(verdictOf(await fresh.get(path)), '403 verification_required', path);
    }
  });

  it('of more rows than fit in a piece is complete, in chunks', async () => {
    const accountId = all.ids.mia!;
    const steps = Array.from({ length: 1_203 }, (_, i) => ({
      sql: `INSERT INTO api_key (id, account_id, name, hash, prefix, suffix, enabled, created_ms)
        VALUES (?, ?, ?, ?, 'sk-aaaa', 'zzzz', 1, 0)`,
      params: [10_000 + i, accountId, `bulk ${i}`, Buffer.from(`hash ${i}`)],
    }));
    await all.gateway.host.store.atomic(steps);
    const cookie = [...boss.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const { text, chunked } = await new Promise<{ text: string; chunked: boolean }>((resolve, reject) => {
      request(
        `${all.gateway.url}/api/token/users?format=csv&keyword=bulk&sort=id`,
        { headers: { cookie } },
        async (answer) => {
          let text = '';
          for await (const piece of answer) text += piece;
          resolve({ text, chunked: answer.headers['transfer-encoding'] === 'chunked' });
        },
      )
        .on('error', reject)
        .end();
    });
    assert.equal(chunked, true);
    const [, ...rows] = table(text);
    assert.deepEqual(
      rows.map(([id]) => Number(id)),
      steps.map((_, i) => 10_000 + i),
    );
    await all.gateway.host.store.run('DELETE FROM api_key WHERE id >= 10000');
  });
});

describe('one request', () => {
  it('disables, enables, groups and deletes several users, and each is in the audit log', async () => {
    const people = [await all.someone(), await all.someone(), await all.someone()];
    const ids = people.map(({ id }) => id);
    const batch = (action: string, more = {}) => adam.data('POST', '/api/user/batch', { ids, action, ...more });
    const states = async (name: string) =>
      Promise.all(ids.map(async (id) => (await boss.data('GET', `/api/user/${id}?deleted=also`))[name]));
    assert.equal(await batch('disable', { reason: 'left' }), 3);
    assert.deepEqual(await states('status'), [2, 2, 2]);
    assert.equal(await batch('enable'), 3);
    assert.deepEqual(await states('status'), [1, 1, 1]);
    assert.equal(await batch('set_group', { group: 'interns' }), 3);
    assert.deepEqual(await states('group'), ['interns', 'interns', 'interns']);
    const key = await all.gateway.host.use(Keys).create({ accountId: ids[0]!, name: 'a key', allowance: undefined });
    assert.equal(await batch('delete'), 3);
    assert.equal((await all.gateway.chat({ model: 'demo', messages: [] }, { key: key.secret })).status, 401);
    assert.ok((await states('DeletedAt')).every((at) => at !== null));
    const entries = await all.gateway.host.use(Audit).page({ limit: 50 });
    for (const id of ids)
      assert.deepEqual(
        entries.filter(({ object }) => object === `user ${id}`).map(({ action }) => action),
        ['user.delete', 'user.change', 'user.enable', 'user.disable', 'user.create'],
      );
    const disabled = entries.find(({ action }) => action === 'user.disable');
    assert.equal(disabled?.facts.reason, 'left');
  });

  it('disables or deletes users and departments only with a verification', async () => {
    const { id } = await all.someone();
    const { id: department } = await boss.data('POST', '/api/department/', { name: 'Guarded' });
    // A session of before the verification.
    const other = await signedIn(all.gateway, 'adam');
    for (const [path, ids, actions] of [
      ['/api/user/batch', [id], ['disable', 'delete']],
      ['/api/department/batch', [department], ['disable', 'delete']],
    ] as const) {
      for (const action of actions)
        assert.equal(verdictOf(await other.post(path, { ids, action })), '403 verification_required', action);
      assert.equal(await other.data('POST', path, { ids, action: 'enable' }), 1);
    }
    assert.equal((await boss.data('GET', `/api/user/${id}`)).status, 1);
    assert.equal(await boss.data('POST', '/api/department/batch', { ids: [department], action: 'delete' }), 1);
  });

  it('changes no user if one of them may not be changed', async () => {
    const { id } = await all.someone();
    for (const [other, verdict] of [
      [all.ids.eve, '403 role_insufficient'],
      [all.ids.root, '403 role_insufficient'],
      [999_999, '404 account_not_found ids'],
    ] as const) {
      assert.equal(verdictOf(await adam.post('/api/user/batch', { ids: [id, other], action: 'disable' })), verdict);
    }
    assert.equal((await boss.data('GET', `/api/user/${id}`)).status, 1);
    assert.equal(
      verdictOf(await boss.post('/api/user/batch', { ids: [id, all.ids.root], action: 'disable' })),
      '403 root_protected ids',
    );
    assert.equal(
      verdictOf(await adam.post('/api/user/batch', { ids: [id], action: 'set_group' })),
      '400 invalid_request_error group',
    );
  });

  it('disables, enables and deletes several keys, all or none', async () => {
    const { mia } = all;
    const made: Any[] = [];
    for (const name of ['a', 'b']) made.push(await mia.data('POST', '/api/token/', { name, unlimited_quota: true }));
    const ids = made.map(({ id }) => id);
    const states = async () => Promise.all(ids.map(async (id) => (await mia.data('GET', `/api/token/${id}`)).status));
    const call = async () => (await all.gateway.chat({ model: 'demo', messages: [] }, { key: made[0].key })).status;
    assert.notEqual(await call(), 401);
    assert.equal(await mia.data('POST', '/api/token/batch', { ids, action: 'disable' }), 2);
    assert.deepEqual(await states(), [2, 2]);
    assert.equal(await call(), 401, 'at once');
    const [foreign] = await items('/api/token/?page_size=1');
    if (foreign !== undefined) {
      const mixed = { ids: [...ids, foreign.id], action: 'enable' };
      assert.equal(verdictOf(await mia.post('/api/token/batch', mixed)), '404 key_not_found ids');
    }
    assert.deepEqual(await states(), [2, 2]);
    assert.equal(await mia.data('POST', '/api/token/batch', { ids, action: 'enable' }), 2);
    assert.equal(await mia.data('POST', '/api/token/batch', { ids }), 2);
    assert.equal((await mia.get(`/api/token/${ids[0]}`)).status, 404);
  });

  it('disables and deletes several departments, those below first', async () => {
    const top = await boss.data('POST', '/api/department/', { name: 'Top' });
    const below = await boss.data('POST', '/api/department/', { name: 'Below', parent_id: top.id });
    const ids = [top.id, below.id];
    assert.equal(await boss.data('POST', '/api/department/batch', { ids, action: 'disable' }), 2);
    assert.equal((await boss.data('GET', `/api/department/${below.id}`)).status, 0);
    assert.equal(await boss.data('POST', '/api/department/batch', { ids, action: 'delete' }), 2);
    assert.equal((await boss.get(`/api/department/${top.id}`)).status, 404);
    assert.equal(
      verdictOf(await boss.post('/api/department/batch', { ids: [999_999], action: 'delete' })),
      '404 department_not_found id',
    );
  });
});
