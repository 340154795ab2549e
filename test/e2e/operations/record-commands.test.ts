/** The commands about one key or one user: they show the records of `/api`, and change and note what `/api` would. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Administered, administered } from '../../console/users/administered.ts';
import { PASSWORD, said, visitor } from '../../kit/console/console.ts';
import { readRows } from '../../kit/gateway/rows.ts';

let world: Administered;
before(async () => {
  world = await administered();
});
after(() => world?.stop());

const command = (line: string) => world.gateway.command(line);
const data = async (line: string) => JSON.parse(await command(`${line} --json`));
/** Status of a call with this key. */
const call = async (key: string) => (await world.gateway.chat({}, { key })).status;

/** The newest entry of the audit log with this action. */
async function noted(action: string) {
  const { items } = await world.boss.data('GET', `/api/audit?action=${action}`);
  const { actor, object, facts } = items[0];
  return { actor, object, facts };
}

/** A user with a balance and a key, which has made a call. */
async function customer() {
  const { id, name } = await world.someone();
  await command(`user credit ${name} 100000`);
  const secret = await command(`key create --name ${name} --user ${name} --quota 5000`);
  assert.equal(await call(secret), 200);
  const [key] = await data(`key list --user ${name}`);
  return { id, name, secret, keyId: key.id as number };
}

const books = () =>
  readRows(
    world.gateway.storeFile,
    'SELECT * FROM entry ORDER BY ref, op, kind, owner',
    'SELECT * FROM bucket ORDER BY kind, owner',
  );

describe('commands about a key', () => {
  it('`key show` shows the record of /api, by its ID and without the secret', async () => {
    const { name, secret, keyId } = await customer();
    assert.deepEqual(await data(`key show ${keyId}`), await world.boss.data('GET', `/api/token/${keyId}`));
    const text = await command(`key show ${keyId}`);
    assert.match(text, new RegExp(`^USER +${name}$`, 'm'));
    assert.match(text, /^STATE +enabled$/m);
    assert.match(text, /^USED +[1-9]\d*$/m);
    assert.ok(!text.includes(secret.slice(7, 20)), text);
  });

  it('`key disable` and `key enable` change and note what /api does, and nothing in the ledger', async () => {
    const { id, secret, keyId } = await customer();
    const before = books();
    for (const [word, status, served] of [
      ['disable', 2, 401],
      ['enable', 1, 200],
    ] as const) {
      assert.equal((await data(`key ${word} ${keyId}`)).status, status);
      const { actor, ...event } = await noted('key.change');
      assert.equal(actor, 'command line');
      assert.deepEqual(books(), before);
      await world.boss.data('PUT', '/api/token/?status_only=1', { id: keyId, status });
      assert.deepEqual({ ...event, actor: 'root' }, await noted('key.change'));
      assert.deepEqual(event.facts, { status, user_id: id });
      assert.equal(await call(secret), served);
    }
  });

  it('`key rotate` prints a new secret; the old one stops at once, or after --grace', async () => {
    const { id, secret, keyId } = await customer();
    const before = books();
    const second = await command(`key rotate ${keyId}`);
    assert.match(second, /^sk-[0-9A-Za-z]{49}$/);
    assert.deepEqual(
      [await noted('key.rotate'), books()],
      [{ actor: 'command line', object: `key ${keyId}`, facts: { grace_seconds: 0, user_id: id } }, before],
    );
    assert.deepEqual([await call(secret), await call(second)], [401, 200]);
    const record = await data(`key rotate ${keyId} --grace 1h`);
    assert.equal((await noted('key.rotate')).facts.grace_seconds, 3_600);
    assert.deepEqual([await call(second), await call(record.key), record.id], [200, 200, keyId]);
    for (const grace of ['2d', '0s', 'soon']) {
      assert.equal((await world.gateway.tryCommand(`key rotate ${keyId} --grace ${grace}`)).code, 2, grace);
    }
    assert.equal(await call(record.key), 200);
  });

  for (const word of ['show', 'rotate', 'enable', 'disable', 'revoke']) {
    it(`\`key ${word}\` of a key that there is not exits with 1, of what is no ID with 2`, async () => {
      const { code, stderr } = await world.gateway.tryCommand(`key ${word} 999999`);
      assert.deepEqual([code, stderr], [1, 'There is no key 999999.\n']);
      for (const id of ['first', '0', '1.5']) {
        assert.equal((await world.gateway.tryCommand(`key ${word} ${id}`)).code, 2, id);
      }
    });
  }
});

describe('commands about a user', () => {
  it('`user show` shows the record of /api, by name or ID', async () => {
    const { id, name } = await customer();
    const record = await world.boss.data('GET', `/api/user/${id}`);
    for (const word of [name, name.toUpperCase(), `${id}`]) assert.deepEqual(await data(`user show ${word}`), record);
    const text = await command(`user show ${name}`);
    assert.match(text, /^ROLE +member$/m);
    assert.match(text, /^SIGN-IN +password$/m);
  });

  it('`user delete` deletes and notes what /api does: keys and sessions with it, and nothing in the ledger', async () => {
    for (const by of ['name', 'id'] as const) {
      const { id, name, secret, keyId } = await customer();
      const theirs = await visitor(world.gateway).signIn(name, PASSWORD);
      const before = books();
      assert.deepEqual(await data(`user delete ${by === 'id' ? id : name}`), { id, username: name });
      assert.deepEqual(books(), before);
      assert.deepEqual(await noted('user.delete'), {
        actor: 'command line',
        object: `user ${id}`,
        facts: { username: name },
      });
      assert.deepEqual([await call(secret), (await theirs.get('/api/user/self')).status], [401, 401]);
      for (const line of [`user show ${id}`, `user delete ${name}`, `key show ${keyId}`]) {
        assert.equal((await world.gateway.tryCommand(line)).code, 1, line);
      }
      assert.equal(said(await world.boss.delete(`/api/user/${id}`)), '404 account_not_found');
    }
  });

  it('`user delete` deletes no root', async () => {
    const { code, stderr } = await world.gateway.tryCommand('user delete root');
    assert.deepEqual([code, stderr], [1, 'Root cannot be deleted.\n']);
  });

  it('a name that is the ID of another user is refused, so that the wrong one is not deleted', async () => {
    const { id, name } = await world.someone();
    const other = await world.boss.data('POST', '/api/user/', { username: `${id}`, password: PASSWORD });
    const { code, stderr } = await world.gateway.tryCommand(`user delete ${id}`);
    assert.equal(code, 2);
    assert.ok(stderr.includes(`"${id}" is the name of user ${other.id} and the ID of "${name}"`), stderr);
    assert.equal((await data(`user delete ${other.id}`)).username, `${id}`);
    assert.equal((await data(`user delete ${id}`)).username, name);
  });
});
