/** The plugin `accounts`: the first start, accounts and their passwords, and the command line. */
import assert from 'node:assert/strict';
import { scryptSync } from 'node:crypto';
import { describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Ledger } from '../../../core/contracts/ledger.ts';
import { UsageError } from '../../../core/plugin.ts';
import accounts from '../../../plugins/accounts/index.ts';
import { createPasswords } from '../../../plugins/accounts/passwords.ts';
import { type MemoryStore, memoryStore, verdict } from '../../kit/gateway/drive.ts';
import { driveWithLedger } from '../with-ledger.ts';

const passwordOf = (store: MemoryStore, id: number): string =>
  (store.db.prepare('SELECT hash FROM password WHERE account_id = ?').get(id) as { hash: string }).hash;

describe('the first start', () => {
  it('makes root with a random password that is shown once, and all the quota there is', async () => {
    const host = await driveWithLedger([accounts]);
    await host.start();
    const root = await host.use(Accounts).findByName('root');
    assert.equal(root?.role, 'root');
    assert.equal(root.enabled, true);
    assert.equal((await host.use(Ledger).balance({ kind: 'account', owner: root.id }))?.unlimited, true);
    assert.equal(host.shown.length, 1);
    const password = host.shown[0]!.rootPassword!;
    assert.match(password, /^[0-9A-Za-z]{24}$/);
    assert.equal(await createPasswords().verify(password, passwordOf(host.store, root.id)), 'right');
  });

  it('happens once, however often the gateway starts', async () => {
    const store = memoryStore();
    const first = await driveWithLedger([accounts], { store });
    await first.start();
    const again = await driveWithLedger([accounts], { store });
    await again.start();
    assert.equal(first.shown.length, 1);
    assert.equal(again.shown.length, 0);
    assert.equal((await again.use(Accounts).list()).length, 1);
  });

  it('happens once where two gateways start at the same moment, and the password shown is the one that works', async () => {
    const store = memoryStore();
    const hosts = [await driveWithLedger([accounts], { store }), await driveWithLedger([accounts], { store })];
    await Promise.all(hosts.map((host) => host.start()));
    assert.equal((await hosts[0]!.use(Accounts).list()).length, 1);
    const shown = hosts.flatMap((host) => host.shown);
    assert.equal(shown.length, 1);
    assert.equal(await createPasswords().verify(shown[0]!.rootPassword!, passwordOf(store, 1)), 'right');
  });

  it('takes the password of the environment and does not show it; later starts leave the password alone', async () => {
    const store = memoryStore();
    for (const TURNPIKE_ROOT_PASSWORD of ['correct horse', 'battery staple']) {
      const host = await driveWithLedger([accounts], { store, env: { TURNPIKE_ROOT_PASSWORD } });
      await host.start();
      assert.deepEqual(host.shown, []);
    }
    assert.equal(await createPasswords().verify('correct horse', passwordOf(store, 1)), 'right');
  });

  it('fails on a password of the environment that is too short', async () => {
    const host = await driveWithLedger([accounts], { env: { TURNPIKE_ROOT_PASSWORD: '1234567' } });
    assert.equal(await verdict(() => host.start()), '400 invalid_password');
    assert.deepEqual(await host.use(Accounts).list(), []);
  });
});

describe('an account', () => {
  const ada = { role: 'member', password: 'twelve eggs' } as const;

  it('has its name to itself, whatever the case', async () => {
    const host = await driveWithLedger([accounts]);
    const book = host.use(Accounts);
    const made = await book.create({ ...ada, name: '  Zoë ' });
    assert.equal(made.name, 'Zoë');
    assert.deepEqual(await book.findByName('ZOË'), made);
    assert.deepEqual(await book.findByName('Zoe\u0308'), made);
    assert.deepEqual(await book.find(made.id), made);
    assert.equal(await verdict(() => book.create({ ...ada, name: 'zoë' })), '409 name_taken');
    assert.equal((await book.list()).length, 1);
  });

  it('may not be called what nobody can see or what is too long', async () => {
    const book = (await driveWithLedger([accounts])).use(Accounts);
    for (const name of ['', '   ', 'a\u0000b', 'a\nb', 'a\u200bb', 'a\u202eb', '\ud800', 'x'.repeat(65)]) {
      assert.equal(await verdict(() => book.create({ ...ada, name })), '400 invalid_name', JSON.stringify(name));
    }
    assert.equal((await book.create({ ...ada, name: '😀'.repeat(64) })).id, 1);
  });

  it('needs a password of 8 to 256 characters, counted as people count', async () => {
    const book = (await driveWithLedger([accounts])).use(Accounts);
    for (const password of ['', '1234567', '😀😀😀😀', 'x'.repeat(257)]) {
      assert.equal(await verdict(() => book.create({ ...ada, name: 'a', password })), '400 invalid_password');
    }
    await book.create({ ...ada, name: 'a', password: '😀'.repeat(8) });
  });

  it('gets an id and a bucket of its own when several are made at the same moment', async () => {
    const host = await driveWithLedger([accounts]);
    const book = host.use(Accounts);
    const made = await Promise.all(['a', 'b', 'c'].map((name) => book.create({ ...ada, name })));
    assert.deepEqual(made.map((account) => account.id).sort(), [1, 2, 3]);
    for (const { id } of made) {
      const balance = await host.use(Ledger).balance({ kind: 'account', owner: id });
      assert.deepEqual(balance, { granted: 0n, used: 0n, held: 0n, unlimited: false });
    }
    const twice = [0, 1].map(() => verdict(() => book.create({ ...ada, name: 'd' })));
    assert.deepEqual((await Promise.all(twice)).sort(), ['409 name_taken', 'ok']);
  });
});

describe('a password', () => {
  /** A hash at a cost of our choosing; the true one takes a tenth of a second. */
  const stored = (password: string, ln: number, r: number, p: number): string => {
    const salt = Buffer.from('0123456789abcdef');
    const hash = scryptSync(password, salt, 32, { N: 2 ** ln, r, p });
    const text = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');
    return `$scrypt$ln=${ln},r=${r},p=${p}$${text(salt)}$${text(hash)}`;
  };

  it('is stored as salted scrypt, never twice the same', async () => {
    const passwords = createPasswords();
    const [one, two] = await Promise.all([passwords.hash('twelve eggs'), passwords.hash('twelve eggs')]);
    assert.match(one, /^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    assert.notEqual(one, two);
    assert.equal(await passwords.verify('twelve eggs', one), 'right');
    assert.equal(await passwords.verify('twelve Eggs', one), 'wrong');
  });

  it('is right but outdated where it was hashed at another cost', async () => {
    const passwords = createPasswords();
    assert.equal(await passwords.verify('twelve eggs', stored('twelve eggs', 10, 8, 1)), 'outdated');
    assert.equal(await passwords.verify('twelve legs', stored('twelve eggs', 10, 8, 1)), 'wrong');
  });

  it('is not compared with what is not a hash', async () => {
    for (const text of ['', 'plain', '$scrypt$ln=15,r=8,p=3$$', '$argon2id$v=19$m=1,t=1,p=1$c2FsdA$aGFzaA']) {
      await assert.rejects(createPasswords().verify('', text), /not in the format/);
    }
  });

  it('waits behind two others, sixteen in line, and is refused behind those', async () => {
    const passwords = createPasswords();
    const cheap = stored('twelve eggs', 4, 1, 1);
    const all = Array.from({ length: 20 }, () => verdict(() => passwords.verify('twelve eggs', cheap)));
    const verdicts = await Promise.all(all);
    assert.deepEqual(verdicts.slice(0, 18), Array(18).fill('ok'));
    assert.deepEqual(verdicts.slice(18), Array(2).fill('429 rate_limit_exceeded'));
    assert.equal(await passwords.verify('twelve eggs', cheap), 'outdated');
  });

  it('leaves places in line to others: a network that fills it loses its own, and known people go first [T-LOCK-04]', async () => {
    const passwords = createPasswords();
    const cheap = stored('twelve eggs', 4, 1, 1);
    const order: string[] = [];
    const come = (name: string, network: string, isKnown = false) =>
      verdict(() => passwords.verify('twelve eggs', cheap, { network, isKnown })).then((said) => {
        order.push(name);
        return said;
      });
    const flood = Array.from({ length: 18 }, (_, i) => come(`flood ${i}`, '2001:db8::/48'));
    const quiet = come('quiet', '192.0.2.0/24');
    const known = come('known', '2001:db8::/48', true);
    const late = come('late', '2001:db8::/48');
    assert.deepEqual(await Promise.all([quiet, known, late]), ['ok', 'ok', '429 rate_limit_exceeded']);
    const verdicts = await Promise.all(flood);
    assert.deepEqual([verdicts.slice(0, 16), verdicts.slice(16)], [Array(16).fill('ok'), Array(2).fill(verdicts[17])]);
    assert.equal(verdicts[17], '429 rate_limit_exceeded');
    const served = order.filter((name) => !['late', 'flood 16', 'flood 17'].includes(name));
    // Two are worked on at a time, and the one that begins later may be done first; in the order they came, these would be the last two.
    for (const name of ['known', 'quiet']) assert.ok(served.indexOf(name) < served.indexOf('flood 9'), order.join());
  });

  it('gives its place in line back when hashing fails', async () => {
    const passwords = createPasswords();
    const tooDear = stored('x', 4, 1, 1).replace('ln=4', 'ln=40');
    for (let i = 0; i < 3; i++) await assert.rejects(passwords.verify('x', tooDear));
    assert.equal(await passwords.verify('x', stored('x', 4, 1, 1)), 'outdated');
  });
});

describe('the command line', () => {
  it('makes an account with the password of standard input', async () => {
    const host = await driveWithLedger([accounts]);
    const id = await host.run(
      'user create',
      { name: 'ada', role: 'admin', 'password-stdin': true },
      { stdin: 'twelve eggs\n' },
    );
    assert.equal(id, '1');
    assert.equal(await createPasswords().verify('twelve eggs', passwordOf(host.store, 1)), 'right');
    assert.equal((await host.use(Accounts).findByName('ada'))?.role, 'admin');
  });

  it('refuses wrong usage, a root among it', async () => {
    const host = await driveWithLedger([accounts]);
    const full = { name: 'ada', role: 'member', 'password-stdin': true };
    const { name: _, ...nameless } = full;
    for (const values of [nameless, { ...full, role: 'root' }, { ...full, 'password-stdin': false }]) {
      await assert.rejects(host.run('user create', values, { stdin: 'twelve eggs' }), UsageError);
    }
    assert.deepEqual(await host.use(Accounts).list(), []);
  });

  it('lists accounts with what they have left in whole quota units', async () => {
    const host = await driveWithLedger([accounts]);
    await host.run('user create', { name: 'ada', role: 'member', 'password-stdin': true }, { stdin: 'twelve eggs' });
    await host.use(Ledger).credit({ kind: 'account', owner: 1 }, 1_999_999n, 'r', 'test');
    assert.deepEqual(JSON.parse(await host.run('user list', { json: true })), [
      {
        id: 1,
        username: 'ada',
        role: 1,
        status: 1,
        quota: 1,
        used_quota: 0,
        held_quota: 0,
        debt: 0,
        unlimited_quota: false,
        created_at: host.clock.now() / 1_000,
      },
    ]);
    const lines = (await host.run('user list')).split('\n').map((line) => line.split(/ {2,}/));
    assert.deepEqual(lines[1], ['1', 'ada', 'member', 'yes', '2026-01-01T00:00:00.000Z', '1', '0', '0']);
  });
});
