/** People: finding, changing and ending accounts, and the passwords they may have. */
import assert from 'node:assert/strict';
import { scryptSync } from 'node:crypto';
import { describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Sessions, Tickets } from '../../../core/contracts/sessions.ts';
import { type Step, UsageError } from '../../../core/plugin.ts';
import accounts from '../../../plugins/accounts/index.ts';
import { refuseWeak } from '../../../plugins/accounts/password-rules.ts';
import { type Driven, drive, verdict } from '../../kit/gateway/drive.ts';

/** A hash at no cost; the true one takes a tenth of a second. */
function cheapHash(password: string): string {
  const text = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');
  const salt = Buffer.from('0123456789abcdef');
  return `$scrypt$ln=4,r=1,p=1$${text(salt)}$${text(scryptSync(password, salt, 32, { N: 16, r: 1, p: 1 }))}`;
}

async function start() {
  const host = await drive([accounts]);
  const book = host.use(Accounts);
  const make = async (
    name: string,
    more: { readonly email?: string; readonly role?: 'member' | 'admin' | 'root' } = {},
  ) => {
    const account = await book.create({ name, role: 'member', ...more });
    setCheap(host, account.id, 'twelve eggs');
    return account;
  };
  return { host, book, make };
}

const setCheap = ({ store }: Driven, id: number, password: string): void =>
  void store.db
    .prepare('INSERT OR REPLACE INTO password (account_id, hash) VALUES (?, ?)')
    .run(id, cheapHash(password));

const rowOf = ({ store }: Driven, id: number) =>
  store.db.prepare('SELECT * FROM account WHERE id = ?').get(id) as Record<string, unknown>;

const FAILS: Step = { sql: 'UPDATE account SET id = id WHERE id = -1', must: 'never' };

describe('a person', () => {
  it('is found by name and by e-mail address, whatever the case', async () => {
    const { book, make } = await start();
    const ann = await make('Ann', { email: ' Ann@Example.com ' });
    assert.deepEqual(await book.findByName('aNN'), ann);
    assert.deepEqual(await book.findByEmail('ann@EXAMPLE.com '), ann);
    assert.equal(await book.findByEmail('ann'), undefined);
    const person = await book.person(ann.id);
    assert.deepEqual(person, {
      ...ann,
      displayName: 'Ann',
      email: 'Ann@Example.com',
      group: 'default',
      remark: '',
      lastLoginMs: undefined,
      deletedMs: undefined,
      hasPassword: true,
      hasOldPassword: false,
      settings: {},
    });
    assert.equal(await book.person(99), undefined);
  });

  it('has their e-mail address to themselves', async () => {
    const { book, make } = await start();
    await make('ann', { email: 'ann@example.com' });
    const bob = await make('bob');
    assert.equal(
      await verdict(() => book.create({ name: 'eve', role: 'member', email: 'ANN@example.com' })),
      '409 email_taken',
    );
    assert.equal(await verdict(() => book.change(bob.id, { email: 'Ann@Example.com' })), '409 email_taken');
    assert.equal(await verdict(() => book.change(bob.id, { name: 'ANN' })), '409 name_taken');
    for (const email of [
      '',
      'ann',
      'a@b',
      'a b@example.com',
      'a@exa mple.com',
      'a@b@example.com',
      '<a@example.com>',
      'a,b@example.com',
      `${'a'.repeat(250)}@example.com`,
    ]) {
      assert.equal(await verdict(() => book.change(bob.id, { email })), '400 invalid_email', email);
    }
  });

  it('changes where something is said, and nowhere else', async () => {
    const { host, book, make } = await start();
    const { id } = await make('ann', { email: 'ann@example.com' });
    await book.change(id, { settings: { language: 'en', webhook_url: 'https://a.example' } });
    const person = await book.change(id, { displayName: 'Ann B.', group: 'vip', remark: 'pays late' });
    assert.equal(person.displayName, 'Ann B.');
    assert.equal(person.email, 'ann@example.com');
    const merged = await book.change(id, { email: null, settings: { webhook_url: null, notify_type: 'email' } });
    assert.deepEqual(merged.settings, { language: 'en', notify_type: 'email' });
    assert.equal(merged.email, undefined);
    assert.equal(merged.group, 'vip');
    assert.equal(rowOf(host, id).email_folded, null);
    assert.equal(await verdict(() => book.change(99, { group: 'x' })), '404 account_not_found');
  });

  it('with another e-mail address voids what came to the one before: a link for a new password', async () => {
    const { host, book, make } = await start();
    const { id } = await make('ann', { email: 'ann@example.com' });
    const begun = () => host.use(Tickets).issue('password-reset', { accountId: id, forMs: 1_000 });
    const [kept, voided] = [await begun(), await begun()];
    await book.change(id, { displayName: 'Ann', email: 'ann@example.com' });
    assert.ok(await host.use(Tickets).take('password-reset', kept), 'the address is the same');
    await book.change(id, { email: 'ann@example.org' });
    assert.equal(await host.use(Tickets).take('password-reset', voided), undefined);
  });

  it('keeps what others change at the same moment: settings are merged, and nobody is enabled by a new display name', async () => {
    const { host, book, make } = await start();
    const { id } = await make('ann');
    await Promise.all([
      book.change(id, { settings: { a: 1 } }),
      book.change(id, { settings: { b: 2 } }),
      book.change(id, { enabled: false }),
      book.change(id, { displayName: 'Ann' }),
    ]);
    const person = await book.person(id);
    assert.deepEqual(person?.settings, { a: 1, b: 2 });
    assert.equal(person?.enabled, false);
    assert.equal(rowOf(host, id).display_name, 'Ann');
  });

  it('changes together with what is written along, or not at all', async () => {
    const { book, make } = await start();
    const { id } = await make('ann');
    assert.equal(await verdict(() => book.change(id, { group: 'vip' }, [FAILS])), '409 conflict');
    assert.equal(await verdict(() => book.setPassword(id, 'thirteen eggs', [FAILS])), '409 conflict');
    assert.equal(await verdict(() => book.remove(id, [FAILS])), '409 conflict');
    assert.equal(await verdict(() => book.create({ name: 'bob', role: 'member' }, [FAILS])), '409 conflict');
    assert.equal((await book.person(id))?.group, 'default');
    assert.deepEqual(await book.checkPassword('ann', 'twelve eggs'), await book.find(id));
    assert.equal(await book.findByName('bob'), undefined);
  });

  it('is told of to whoever watches, after it has changed', async () => {
    const { book, make } = await start();
    const { id } = await make('ann');
    const told: [number, boolean | undefined][] = [];
    const looks: Promise<unknown>[] = [];
    book.watch((changed) => looks.push(book.find(changed).then((account) => told.push([changed, account?.enabled]))));
    await book.change(id, { enabled: false });
    await book.setPassword(id, 'thirteen eggs');
    await book.remove(id);
    await Promise.all(looks);
    assert.deepEqual(
      told.map(([changed]) => changed),
      [id, id, id],
    );
    assert.equal(told[0]?.[1], false);
  });
});

describe('the list of people', () => {
  it('is searched by parts of names and addresses, by id, role, group and state; newest first, page by page', async () => {
    const { book, make } = await start();
    const root = await make('root', { role: 'root' });
    const ann = await make('Annabel', { email: 'a@example.com' });
    const bob = await make('bob', { email: 'bob@other.example', role: 'admin' });
    await book.change(bob.id, { displayName: 'Größe', group: 'vip' });
    const found = async (search: Partial<Parameters<Accounts['search']>[0]>) => {
      const { total, items } = await book.search({ offset: 0, limit: 10, ...search });
      assert.equal(total, items.length);
      return items.map(({ id }) => id);
    };
    assert.deepEqual(await found({}), [bob.id, ann.id, root.id]);
    assert.deepEqual(await found({ text: 'NABE' }), [ann.id]);
    assert.deepEqual(await found({ text: 'other.EXAMPLE' }), [bob.id]);
    assert.deepEqual(await found({ text: 'röß' }), [bob.id]);
    assert.deepEqual(await found({ text: `${ann.id}` }), [ann.id]);
    assert.deepEqual(await found({ role: 'admin' }), [bob.id]);
    assert.deepEqual(await found({ group: 'vip', enabled: true }), [bob.id]);
    assert.deepEqual(await found({ enabled: false }), []);
    const page = await book.search({ offset: 1, limit: 1 });
    assert.deepEqual([page.total, page.items.map(({ id }) => id)], [3, [ann.id]]);
  });

  it('takes signs of patterns for what they are', async () => {
    const { book, make } = await start();
    await make('plain');
    for (const name of ['100%', 'a_b', 'c\\d', "o'hara"]) await make(name);
    for (const text of ['%', '_', '\\', "'"]) {
      const { items } = await book.search({ text, offset: 0, limit: 10 });
      assert.equal(items.length, 1, text);
      assert.ok(items[0]?.name.includes(text), `${items[0]?.name} is not what ${text} means`);
    }
  });
});

describe('a name', () => {
  it('is one in every width and case, and its owner signs in with any of them [T-NAME-01]', async () => {
    const { book, make } = await start();
    await make('root', { role: 'root' });
    for (const name of ['ROOT', 'ｒｏｏｔ', 'ｒoot'])
      assert.equal(await verdict(() => book.create({ name, role: 'member' })), '409 name_taken', name);
    const { id } = await make('Ann');
    assert.equal((await book.findByName('ａｎｎ'))?.id, id);
  });

  it('that looks like that of an administrator is for no member, and not by renaming either [T-NAME-02]', async () => {
    const { book, make } = await start();
    await make('root', { role: 'root' });
    await make('Clara.Hill', { role: 'admin' });
    const { id } = await make('member');
    for (const name of [
      'rооt',
      'r00t',
      'ro.ot',
      'rοοt',
      'adm1n',
      'аdmin',
      'Clarа.Hill',
      'ClaraHi11',
      'C1ara_Hill',
      'ádmin',
      // Small capitals, Cherokee, Armenian, Coptic, letters with a stroke or a hook.
      ...['ʀoot', 'ʀᴏᴏᴛ', 'Ꮢoot', 'rօօt', 'ⲅⲟⲟⲧ', 'rooŧ', 'ɽooʈ'],
      ...['ᴀdmin', 'ɑɖᴍɪɴ', 'ꭺᴅmin', 'admiո', 'adɱin', 'ᴛurnpike', 'tuɼnƿike', 'turnpiᴋe'],
    ]) {
      assert.equal(await verdict(() => book.create({ name, role: 'member' })), '409 name_taken', name);
      assert.equal(await verdict(() => book.change(id, { name })), '409 name_taken', name);
    }
    // Names of everybody else, in whatever script.
    for (const name of ['рута', 'Ольга', '李小龍', 'Ώμέγα', 'rooter', 'clara']) await make(name);
    await make('clara-hill', { role: 'admin' });
  });

  it('of before the width of letters was folded is found still', async () => {
    const { host, book, make } = await start();
    const { id } = await make('temporary');
    await host.store.run('UPDATE account SET name = ?, folded = ? WHERE id = ?', 'ａｎｎ', 'ａｎｎ', id);
    assert.equal((await book.findByName('ａｎｎ'))?.id, id);
  });
});

describe('an account that is deleted', () => {
  it('lets nobody in, has neither address nor password, and is found by no name; but its name stays taken', async () => {
    const { host, book, make } = await start();
    await make('root', { role: 'root' });
    const { id } = await make('ann', { email: 'ann@example.com' });
    await book.change(id, { settings: { notification_email: 'ann@home.example', webhook_secret: 'sealed' } });
    const { secret } = await host.use(Sessions).open({ accountId: id, method: 'password', ip: '', userAgent: '' });
    const token = await host.use(Sessions).renewAccessToken(id);
    const ticket = await host.use(Tickets).issue('password-reset', { accountId: id, forMs: 1_000 });
    await book.remove(id);

    assert.equal(await book.findByName('ann'), undefined);
    assert.equal(await book.findByEmail('ann@example.com'), undefined);
    assert.equal((await book.find(id))?.enabled, false);
    const person = await book.person(id);
    assert.deepEqual([person?.deletedMs, person?.email, person?.hasPassword], [host.clock.now(), undefined, false]);
    assert.deepEqual(person?.settings, {}, 'where it was to be told of things');
    assert.equal(await book.checkPassword('ann', 'twelve eggs'), undefined);
    assert.equal(await host.use(Sessions).find(secret), undefined);
    assert.equal(await host.use(Sessions).findByAccessToken(token), undefined);
    assert.equal(await host.use(Tickets).take('password-reset', ticket), undefined);

    assert.equal(await verdict(() => book.create({ name: 'Ann', role: 'member' })), '409 name_taken');
    await book.create({ name: 'bob', role: 'member', email: 'ann@example.com' });
    assert.deepEqual(
      (await book.list()).map(({ name }) => name),
      ['root', 'bob'],
    );
    assert.deepEqual(
      (await book.search({ deleted: true, offset: 0, limit: 10 })).items.map(({ name }) => name),
      ['ann'],
    );
    for (const change of [
      () => book.change(id, { enabled: true }),
      () => book.setPassword(id, 'twelve legs'),
      () => book.remove(id),
    ]) {
      assert.equal(await verdict(change), '404 account_not_found');
    }
  });

  it('is never the last one that is root; nor is that one disabled or demoted', async () => {
    const { book, make } = await start();
    const { id } = await make('root', { role: 'root' });
    const changes = [
      () => book.remove(id),
      () => book.change(id, { enabled: false }),
      () => book.change(id, { role: 'admin' }),
    ];
    for (const change of changes) assert.equal(await verdict(change), '409 last_root');
    const other = await make('second', { role: 'root' });
    await book.change(id, { role: 'admin' });
    assert.equal(await verdict(() => book.remove(other.id)), '409 last_root');
  });
});

describe('a password', () => {
  it('is right for the name and for the address, and for no other; an address counts before a name that looks like one', async () => {
    const { host, book, make } = await start();
    const ann = await make('ann', { email: 'ann@example.com' });
    const eve = await make('ann@example.com');
    setCheap(host, eve.id, 'another one');
    assert.deepEqual(await book.checkPassword(' ANN ', 'twelve eggs'), ann);
    assert.deepEqual(await book.checkPassword('Ann@example.com', 'twelve eggs'), ann);
    assert.equal(await book.checkPassword('ann@example.com', 'another one'), undefined);
    assert.equal(await book.checkPassword('ann', 'twelve legs'), undefined);
  });

  it('is hashed anew where it was hashed at another cost', async () => {
    const { host, book, make } = await start();
    const { id } = await make('ann');
    const hash = () =>
      (host.store.db.prepare('SELECT hash FROM password WHERE account_id = ?').get(id) as { hash: string }).hash;
    await book.checkPassword('ann', 'wrong one');
    assert.match(hash(), /ln=4,/);
    await book.checkPassword('ann', 'twelve eggs');
    assert.match(hash(), /ln=15,/);
    assert.equal((await book.checkPassword('ann', 'twelve eggs'))?.id, id);
  });

  it('costs a real comparison where there is none, where nobody has that name, and where the account is disabled [T-AUTH-02]', async () => {
    const { host, book } = await start();
    await book.create({ name: 'oauth-only', role: 'member' });
    const off = await book.create({ name: 'off', role: 'member', password: 'twelve eggs' });
    await book.change(off.id, { enabled: false });
    await book.create({ name: 'ann', role: 'member', password: 'twelve eggs' });
    const median = async (name: string): Promise<number> => {
      const took: number[] = [];
      for (let i = 0; i < 3; i++) {
        const began = process.cpuUsage();
        assert.equal(await book.checkPassword(name, 'wrong one'), undefined);
        const { user, system } = process.cpuUsage(began);
        took.push(user + system);
      }
      return took.sort((a, b) => a - b)[1] ?? 0;
    };
    const reads = host.store.reads;
    const wrong = await median('ann');
    const readsOfOne = (host.store.reads - reads) / 3;
    for (const name of ['nobody', 'oauth-only', 'off']) {
      const before = host.store.reads;
      // The work of scrypt is a hundred times the rest, so that leaving it out could not hide in the noise of a machine.
      assert.ok((await median(name)) > wrong / 3, `${name}: nothing was compared`);
      assert.equal((host.store.reads - before) / 3, readsOfOne, name);
    }
  });

  it('set anew ends the access token, which may be in the hands of whoever knew the one before', async () => {
    const { host, book, make } = await start();
    const { id } = await make('ann');
    const token = await host.use(Sessions).renewAccessToken(id);
    await book.setPassword(id, 'thirteen eggs');
    assert.equal(await host.use(Sessions).findByAccessToken(token), undefined);
  });

  it('set anew voids what was begun with the one before', async () => {
    const { host, book, make } = await start();
    const { id } = await make('ann');
    const ticket = await host.use(Tickets).issue('password-reset', { accountId: id, forMs: 1_000 });
    await book.setPassword(id, 'thirteen eggs');
    assert.equal(await host.use(Tickets).take('password-reset', ticket), undefined);
    assert.equal((await book.checkPassword('ann', 'thirteen eggs'))?.id, id);
    assert.equal(await book.checkPassword('ann', 'twelve eggs'), undefined);
  });

  it('is not among the first that anybody would try, in whatever dress, nor the own name', async () => {
    const common = `password1 Password123! P@ssw0rd p4ssw0rd1 qwerty12 iloveyou1 letmein! 12345678 87654321 1q2w3e4r zaq12wsx
      !QAZ2wsx football baseball Summer2024 trustno1 asdf1234 qwertyuiop 11111111 123123123 abcabcabc admin123 administrator
      monkey123 turnpike1 turnpike password12345678 147258369 changeme welcome1 monkeymonkey abcd1234`;
    for (const password of common.split(/\s+/)) {
      assert.equal(await verdict(() => refuseWeak(password, 'ann')), '400 common_password', password);
    }
    assert.equal(await verdict(() => refuseWeak('Annabel-Lee', 'annabel-lee')), '400 common_password');
    for (const password of [
      'correct horse',
      'twelve eggs',
      'violet-umbrella',
      'tK4vbn2xQp',
      'my password is safe',
      '😀'.repeat(8),
    ]) {
      assert.equal(await verdict(() => refuseWeak(password, 'ann')), 'ok', password);
    }
    const { book } = await start();
    assert.equal(
      await verdict(() => book.create({ name: 'ann', role: 'member', password: 'password1' })),
      '400 common_password',
    );
  });
});

describe('the command line', () => {
  it('gives an account another password and ends its sessions', async () => {
    const { host, book, make } = await start();
    const { id } = await make('ann');
    const { secret } = await host.use(Sessions).open({ accountId: id, method: 'password', ip: '', userAgent: '' });
    const options = { stdin: 'thirteen eggs\n', positionals: ['ANN'] };
    await host.run('user password', { 'password-stdin': true }, options);
    assert.equal((await book.checkPassword('ann', 'thirteen eggs'))?.id, id);
    assert.equal(await host.use(Sessions).find(secret), undefined);
    await assert.rejects(host.run('user password', {}, options), UsageError);
    await assert.rejects(host.run('user password', { 'password-stdin': true }, { stdin: 'x' }), UsageError);
    const nobody = host.run(
      'user password',
      { 'password-stdin': true },
      { stdin: 'thirteen eggs', positionals: ['bob'] },
    );
    await assert.rejects(nobody, /no account called "bob"/);
  });

  it('switches an account off and on again; its sessions do not come back; root stays', async () => {
    const { host, book, make } = await start();
    await make('root', { role: 'root' });
    const { id } = await make('ann');
    const { secret } = await host.use(Sessions).open({ accountId: id, method: 'password', ip: '', userAgent: '' });
    assert.equal(await host.run('user disable', {}, { positionals: ['ann'] }), 'disabled ann');
    assert.equal((await book.find(id))?.enabled, false);
    assert.equal(await book.checkPassword('ann', 'twelve eggs'), undefined);
    assert.equal(await host.run('user enable', {}, { positionals: ['ann'] }), 'enabled ann');
    assert.equal((await book.find(id))?.enabled, true);
    assert.equal(await host.use(Sessions).find(secret), undefined);
    assert.equal(await verdict(() => host.run('user disable', {}, { positionals: ['root'] })), '409 last_root');
    await assert.rejects(host.run('user disable'), UsageError);
  });
});
