/** Passwords that other programs hashed: they sign in once as they are, and then with a hash of our own. */
import assert from 'node:assert/strict';
import { hash, pbkdf2Sync, scryptSync } from 'node:crypto';
import { describe, it } from 'node:test';
import { hashSync } from 'bcryptjs';
import { Accounts, type Adopted } from '../../../core/contracts/accounts.ts';
import accounts from '../../../plugins/accounts/index.ts';
import { oldHashProblem } from '../../../plugins/accounts/old-hashes.ts';
import { createPasswords } from '../../../plugins/accounts/passwords.ts';
import { drive, type MemoryStore, verdict } from '../../kit/gateway/drive.ts';

/** Of our own hashes, so that the old ones are what takes time. */
const CHEAP = { ln: 4, r: 1, p: 1 };
const OWN = /^\$scrypt\$ln=/;
const SALT = Buffer.from('0123456789abcdef');

const bcrypt = (password: string): string => hashSync(password, 4);
const salted = (kind: string, derived: Buffer): string =>
  `${kind}:${Buffer.concat([SALT, derived]).toString('base64')}`;
const scrypt = (password: string): string =>
  salted('scrypt', scryptSync(password, SALT, 32, { N: 16_384, r: 8, p: 1 }));
const pbkdf2 = (password: string): string => salted('pbkdf2', pbkdf2Sync(password, SALT, 600_000, 32, 'sha256'));

const verify = (password: string, stored: string) => createPasswords(() => CHEAP).verify(password, stored);

const passwordOf = (store: MemoryStore, id: number): string =>
  (store.db.prepare('SELECT hash FROM password WHERE account_id = ?').get(id) as { hash: string }).hash;

describe('a password hash of another program', () => {
  const forms: readonly (readonly [string, string])[] = [
    // From the test vectors of crypt_blowfish.
    ['U*U', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
    ['twelve eggs', bcrypt('twelve eggs')],
    ['twelve eggs', bcrypt('twelve eggs').replace('$2b$', '$2a$')],
    ['twelve eggs', bcrypt('twelve eggs').replace('$2b$', '$2y$')],
    ['王小明', bcrypt('王小明')],
    ['twelve eggs', scrypt('twelve eggs')],
    ['twelve eggs', pbkdf2('twelve eggs')],
    ['twelve eggs', hash('sha256', 'twelve eggs')],
  ];
  for (const [password, stored] of forms) {
    it(`is compared: ${stored.slice(0, 12)}`, async () => {
      assert.equal(await verify(`${password}!`, stored), 'wrong');
      const right = await verify(password, stored);
      assert.ok(typeof right === 'object');
      assert.match(right.hash, OWN);
      assert.equal(await verify(password, right.hash), 'right');
    });
  }

  it('counts 72 bytes of a password, as Go does, and a NUL as a byte', async () => {
    const long = 'é'.repeat(36);
    assert.equal(typeof (await verify(`${long}and more`, bcrypt(long))), 'object');
    assert.equal(await verify(long.slice(1), bcrypt(long)), 'wrong');
    assert.equal(await verify('twelve\0legs', bcrypt('twelve\0eggs')), 'wrong');
  });

  it('is refused if it cannot be compared, or would take too long', async () => {
    const [form, cost] = [/format/, /bcrypt cost 31; 4 to 14/];
    const refused: readonly (readonly [string, RegExp])[] = [
      ['', form],
      ['plain text', form],
      ['$2x$10$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', form],
      ['$2a$10$short', form],
      [`scrypt:${'A'.repeat(60)}`, form],
      [hash('sha256', 'x').toUpperCase(), form],
      ['$2a$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', cost],
    ];
    for (const [stored, why] of refused) {
      assert.match(oldHashProblem(stored) ?? '', why, stored);
      await assert.rejects(verify('x', stored), /not in the format/, stored);
    }
    const own = `$scrypt$ln=30,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;
    await assert.rejects(verify('x', own), /costs more/);
    await assert.rejects(verify('x', own.replace('ln=30,r=8,p=1', 'ln=10,r=8,p=99')), /costs more/);
  });

  it('waits in line with all others', async () => {
    const passwords = createPasswords(() => CHEAP);
    const stored = bcrypt('twelve eggs');
    const all = await Promise.all(Array.from({ length: 20 }, () => verdict(() => passwords.verify('no', stored))));
    assert.deepEqual(all.slice(18), Array(2).fill('429 rate_limit_exceeded'));
    assert.deepEqual(all.slice(0, 18), Array(18).fill('ok'));
  });

  it('is work that a check of any other password does, too', async () => {
    const passwords = createPasswords(() => CHEAP);
    const own = await passwords.hash('twelve eggs');
    // The result of that work does not matter, but it is done: this one cannot be.
    await assert.rejects(passwords.verify('twelve eggs', own, undefined, 'no hash'));
    assert.equal(await passwords.verify('twelve eggs', own, undefined, bcrypt('other eggs')), 'right');
    assert.equal(await passwords.verify('other eggs', own, undefined, bcrypt('other eggs')), 'wrong');
  });
});

describe('an account from another program', () => {
  const ann = { name: 'ann', role: 'member' } as const;

  it('signs in with its old password, even a weak one, which our own hash replaces', async () => {
    const host = await drive([accounts]);
    const book = host.use(Accounts);
    const { id } = await book.create({ ...ann, passwordHash: bcrypt('123456') });
    assert.equal((await book.person(id))?.hasPassword, true);
    assert.equal(await book.checkPassword('ann', '1234567'), undefined);
    assert.ok(!OWN.test(passwordOf(host.store, id)));
    assert.equal((await book.checkPassword('ann', '123456'))?.id, id);
    assert.match(passwordOf(host.store, id), OWN);
    assert.equal((await book.checkPassword('ann', '123456'))?.id, id);
    assert.equal(await book.checkPassword('ann', '1234567'), undefined);
  });

  it('does not sign in while it is disabled, and then keeps its old hash', async () => {
    const host = await drive([accounts]);
    const book = host.use(Accounts);
    const { id } = await book.create({ ...ann, passwordHash: bcrypt('twelve eggs') });
    await book.change(id, { enabled: false });
    assert.equal(await book.checkPassword('ann', 'twelve eggs'), undefined);
    assert.ok(!OWN.test(passwordOf(host.store, id)));
    await book.change(id, { enabled: true });
    assert.equal((await book.checkPassword('ann', 'twelve eggs'))?.id, id);
  });

  it('can set a new password before the old one was used', async () => {
    const host = await drive([accounts]);
    const book = host.use(Accounts);
    const { id } = await book.create({ ...ann, passwordHash: bcrypt('twelve eggs') });
    await book.setPassword(id, 'thirteen eggs');
    assert.equal(await book.checkPassword('ann', 'twelve eggs'), undefined);
    assert.equal((await book.checkPassword('ann', 'thirteen eggs'))?.id, id);
  });

  it('gets another hash until one was used or set here', async () => {
    const host = await drive([accounts]);
    const book = host.use(Accounts);
    const { id } = await book.create({ ...ann, passwordHash: bcrypt('twelve eggs') });
    const adopt = (password: string) => host.store.atomic(book.adoptSteps(id, { passwordHash: bcrypt(password) }));
    assert.equal((await book.person(id))?.hasOldPassword, true);
    assert.equal(await adopt('thirteen eggs'), undefined);
    assert.equal(await book.checkPassword('ann', 'twelve eggs'), undefined);
    assert.equal((await book.checkPassword('ann', 'thirteen eggs'))?.id, id);
    assert.equal((await book.person(id))?.hasOldPassword, false);
    assert.equal(await adopt('fourteen eggs'), 'password_kept');
    assert.equal((await book.checkPassword('ann', 'thirteen eggs'))?.id, id);
  });

  it('is not created with a hash that cannot be compared', async () => {
    const book = (await drive([accounts])).use(Accounts);
    for (const passwordHash of ['plain', '$2a$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW']) {
      await assert.rejects(book.create({ ...ann, passwordHash }), /its password hash has/);
      assert.throws(() => book.adoptSteps(1, { passwordHash }), /its password hash has/);
    }
    assert.deepEqual(await book.list(), []);
  });

  it('gets hash and settings in the list that creates it; settings that are there stay', async () => {
    const host = await drive([accounts]);
    const book = host.use(Accounts);
    const adopted: Adopted = { passwordHash: bcrypt('twelve eggs'), settings: { notify_type: 'email' } };
    const { id } = await book.create(ann, (own) => book.adoptSteps(own, adopted));
    assert.equal((await book.checkPassword('ann', 'twelve eggs'))?.id, id);
    assert.equal(await host.store.atomic(book.adoptSteps(id, { settings: { notify_type: 'webhook' } })), undefined);
    assert.deepEqual((await book.person(id))?.settings, { notify_type: 'email' });
  });
});
