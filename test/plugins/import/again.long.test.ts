/** Later imports: what is new comes, what has changed there is told or applied once, an interrupted import goes on, and `--follow` keeps in step. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { hashSync } from 'bcryptjs';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import { Ledger, MICRO, remaining } from '../../../core/contracts/ledger.ts';
import { OAuth } from '../../../core/contracts/oauth.ts';
import { SecondFactors } from '../../../core/contracts/second-factors.ts';
import { Sessions } from '../../../core/contracts/sessions.ts';
import type { Store } from '../../../core/plugin.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { changeSqlite, fullReport, makeSqlite, NEW_API_VERSIONS, type TestRow } from './databases.ts';

const TURNPIKE = fileURLToPath(new URL('../../../scripts/turnpike.mjs', import.meta.url));
const USERS = 30;
const KEYS = 3;

const user = (id: number, more: TestRow = {}): TestRow => ({
  ...{ id, username: `user${id}`, password: '', role: 1, status: 1, quota: id * 1_000, group: 'default' },
  ...{ email: `user${id}@example.com`, aff_code: `code${id}`, ...more },
});
const token = (id: number, userId: number, more: TestRow = {}): TestRow => ({
  ...{ id, user_id: userId, key: secretOf(id), name: `key ${id}`, status: 1, expired_time: -1 },
  ...{ unlimited_quota: 0, remain_quota: id * 10, ...more },
});
const secretOf = (id: number): string => `${id}`.padStart(6, '0').repeat(8);

let vendor: FakeVendor;
let gateway: TestGateway;
let file: string;
let out: string;
before(async () => {
  vendor = await fakeVendor();
});
after(() => vendor.close());

async function begin(): Promise<void> {
  const usual = defaultConfig([vendor]);
  const pipeline = [
    ...(usual.pipeline as string[]),
    'departments',
    'groups',
    'audit',
    'second-factors',
    'oauth',
    'console',
    'import',
  ];
  gateway = await startGateway({ vendor, config: { ...usual, pipeline } });
  file = join(gateway.dir, 'old.db');
  out = mkdtempSync(join(gateway.dir, 'out-'));
  makeSqlite(file, NEW_API_VERSIONS[2]!, {
    users: [
      user(1, { username: 'boss', role: 100, quota: 100 }),
      ...Array.from({ length: USERS }, (_, i) => user(i + 2, i === 3 ? { quota: -5_000 } : {})),
    ],
    tokens: Array.from({ length: USERS * KEYS }, (_, i) => token(i + 1, 2 + (i % USERS))),
    options: [{ key: 'GroupRatio', value: '{"default":1}' }],
    channels: [],
  });
}

const importing = (more = ''): Promise<string> => gateway.command(`import new-api ${file} --out ${out}${more}`);
const accountOf = async (name: string) => (await gateway.host.use(Accounts).findByName(name))!;
const balanceOf = async (name: string): Promise<bigint> => {
  const balance = await gateway.host.use(Ledger).balance({ kind: 'account', owner: (await accountOf(name)).id });
  return remaining(balance!) / MICRO;
};
const keysOf = async (name: string) => gateway.host.use(Keys).list((await accountOf(name)).id);
const limitOf = async (id: number): Promise<bigint> =>
  remaining((await gateway.host.use(Ledger).balance({ kind: 'key', owner: id }))!) / MICRO;
/** Every amount of the other gateway is here once, and the accounts are whole. */
async function isWhole(): Promise<void> {
  for (let id = 2; id < USERS + 2; id++) {
    assert.equal(await balanceOf(`user${id}`), id === 5 ? -5_000n : BigInt(id * 1_000), `user${id}`);
    const keys = await keysOf(`user${id}`);
    assert.equal(keys.length, KEYS, `keys of user${id}`);
    for (const { id: own, name } of keys) assert.equal(await limitOf(own), BigInt(name.slice(4)) * 10n, name);
  }
  assert.match(await gateway.command('reconcile'), /^(ok .*\n?)+$/);
}

describe('a later import', () => {
  beforeEach(begin);
  const stop = (): Promise<void> => gateway.stop();

  it('brings what is new, and changes nothing else', async () => {
    await importing();
    await isWhole();
    const entries = () => gateway.rows('SELECT * FROM entry').length;
    const before = entries();
    assert.match(await importing(), /^nothing was changed: /m);
    assert.equal(entries(), before);
    changeSqlite(
      file,
      `INSERT INTO users (id, username, password, role, status, quota, "group", aff_code) VALUES (99, 'late', '', 1, 1, 7, 'default', 'x');
      INSERT INTO tokens (id, user_id, key, name, status, expired_time, unlimited_quota) VALUES (99, 99, '${secretOf(99)}', 'late', 1, -1, 1)`,
    );
    assert.match(await importing(), /^2 new, /m);
    assert.equal(await balanceOf('late'), 7n);
    await isWhole();
    await stop();
  });

  it('leaves what was disabled or limited here, also after it went to and fro there', async () => {
    await importing();
    const { id: accountId } = await accountOf('user2');
    const [key] = await keysOf('user2');
    const keys = gateway.host.use(Keys);
    await keys.change(accountId, key!.id, { enabled: false, expiresMs: Date.UTC(2030, 0) });
    await gateway.host.use(Accounts).change((await accountOf('user3')).id, { enabled: false });
    const there = (status: number, expires: number): void =>
      changeSqlite(
        file,
        `UPDATE tokens SET status = ${status}, expired_time = ${expires} WHERE name = '${key!.name}';
        UPDATE users SET status = ${status} WHERE id = 3`,
      );
    for (const [status, expires] of [
      [2, Date.UTC(2030, 0) / 1_000],
      [1, -1],
    ] as const) {
      there(status, expires);
      assert.match(await importing(' --update'), /^nothing was changed: /m);
      const now = await keys.get(accountId, key!.id);
      assert.deepEqual([now!.enabled, now!.expiresMs], [false, Date.UTC(2030, 0)]);
      assert.equal((await accountOf('user3')).enabled, false);
    }
    await stop();
  });

  it('tells what has changed there and, with --update, applies it once, whatever was spent here', async () => {
    await importing();
    const id = (await accountOf('user2')).id;
    await gateway.host.use(Ledger).deduct(id, 50n * MICRO, 'spent-here', 'test');
    const [first] = await keysOf('user3');
    const [second] = await keysOf('user4');
    changeSqlite(
      file,
      `UPDATE users SET quota = quota - 300, display_name = 'Two' WHERE id = 2;
      UPDATE users SET quota = quota + 5 WHERE id = 3;
      UPDATE users SET quota = -20 WHERE id = 6;
      UPDATE users SET status = 2 WHERE id = 7;
      UPDATE tokens SET remain_quota = remain_quota - 4, status = 2 WHERE name = '${first!.name}';
      UPDATE tokens SET name = 'renamed' WHERE name = '${second!.name}'`,
    );
    const told = await importing();
    assert.match(told, /6 changed there/);
    // What is told is not here yet, and the sums say so; what was spent here is not subtracted.
    const balances = BigInt(((2 + USERS + 1) * USERS * 1_000) / 2 - 5_000 + 100);
    assert.match(
      told.replace(/\n\s+/g, ' '),
      new RegExp(
        `balances: +${balances - 6_295n} there, ${balances} here 6295 more of user2, user3, user6: changed there since`,
      ),
    );
    assert.match(told, /^debts: +5020 there, 5000 here$/m);
    assert.equal(await balanceOf('user2'), 1_950n);
    const dry = await importing(' --update --dry-run');
    assert.match(dry, /6 changed there/);
    assert.equal(await balanceOf('user2'), 1_950n);
    for (let round = 0; round < 2; round++) {
      assert.match(
        await importing(' --update'),
        new RegExp(`^balances: +${balances - 6_295n} there, ${balances - 6_295n} here$`, 'm'),
      );
      assert.equal(await balanceOf('user2'), 1_650n);
      assert.equal((await gateway.host.use(Accounts).person(id))?.displayName, 'Two');
      assert.equal(await balanceOf('user3'), 3_005n);
      assert.equal(await balanceOf('user6'), -20n);
      assert.equal((await accountOf('user7')).enabled, false);
      assert.equal(await limitOf(first!.id), BigInt(first!.name.slice(4)) * 10n - 4n);
      assert.equal((await keysOf('user3'))[0]!.enabled, false);
      assert.equal((await keysOf('user4'))[0]!.name, 'renamed');
    }
    assert.match(await gateway.command('reconcile'), /^(ok .*\n?)+$/);
    await stop();
  });

  it('says why a sum is less here, with the name', async () => {
    changeSqlite(file, 'UPDATE users SET quota = 5000000000000 WHERE id = 2');
    const said = (await importing(' --dry-run')).replace(/\n\s+/g, ' ');
    assert.match(said, /1000000000000 less of user2: the largest balance here is 4000000000000/);
    // The same of a debt, and of a difference: a dry run says what happens.
    changeSqlite(file, 'UPDATE users SET quota = -5000000000000 WHERE id = 3');
    for (const more of [' --dry-run', ''])
      assert.match((await importing(more)).replace(/\n\s+/g, ' '), /1000000000000 less of user3: the largest/);
    const most = 4_000_000_000_000n;
    assert.deepEqual([await balanceOf('user2'), await balanceOf('user3')], [most, -most]);
    changeSqlite(file, 'UPDATE users SET quota = 3000000000000 WHERE id IN (2, 3)');
    for (const more of [' --update --dry-run', ' --update'])
      assert.match(
        fullReport(await importing(more)),
        /user3 .*not applied: the difference is above the largest amount here/,
      );
    assert.deepEqual([await balanceOf('user2'), await balanceOf('user3')], [most - most / 4n, -most]);
    assert.match(await gateway.command('reconcile'), /^(ok .*\n?)+$/);
    await stop();
  });

  it('tells the version there, and the names that accounts have here', async () => {
    await gateway.host.use(Accounts).create({ name: 'user2', role: 'member' });
    changeSqlite(file, "CREATE TABLE setups (id int, version text); INSERT INTO setups VALUES (1, 'v0.9.3')");
    await importing();
    await gateway.host.use(Accounts).change((await accountOf('user3')).id, { name: 'carol' });
    changeSqlite(file, 'UPDATE users SET quota = 7 WHERE id = 3');
    const { version, things } = JSON.parse(await importing(' --json'));
    assert.equal(version, 'set up with v0.9.3');
    const hereOf = (name: string): string => things.find(({ from }: { readonly from: string }) => from === name).to;
    assert.deepEqual(
      [hereOf('user2'), hereOf('user3'), hereOf('user4')],
      ['account user2-new-api', 'account carol', 'account user4'],
    );
    assert.match(await importing(), /^read from new-api, set up with v0.9.3$/m);
    await stop();
  });

  it('leaves what was changed here, too, and says so', async () => {
    await importing();
    const { id } = await accountOf('user2');
    await gateway.host.use(Accounts).change(id, { displayName: 'Mine' });
    changeSqlite(file, `UPDATE users SET display_name = 'Theirs' WHERE id = 2`);
    await importing(' --update');
    assert.equal((await gateway.host.use(Accounts).person(id))?.displayName, 'Mine');
    const reports = readdirSync(out).filter((name) => name.includes('.report.'));
    const all = reports.map((name) => readFileSync(join(out, name), 'utf8')).join('\n');
    assert.match(all, /displayName Theirs, was user2 \(not applied: it was changed here, too\)/);
    await stop();
  });

  it('disables what was deleted there, but not if most of the users are others', async () => {
    await importing();
    changeSqlite(
      file,
      `UPDATE users SET deleted_at = '2026-01-01' WHERE id = 2; DELETE FROM tokens WHERE name = 'key 2'`,
    );
    await importing();
    assert.equal((await accountOf('user2')).enabled, true);
    await importing(' --update');
    assert.equal((await accountOf('user2')).enabled, false);
    assert.equal((await keysOf('user3')).find(({ name }) => name === 'key 2')?.enabled, false);
    assert.equal((await keysOf('user3')).filter(({ enabled }) => enabled).length, KEYS - 1);
    changeSqlite(file, `UPDATE users SET deleted_at = '2026-01-01' WHERE id > 5`);
    const { code, stderr } = await gateway.tryCommand(`import new-api ${file} --out ${out} --update`);
    assert.equal(code, 1);
    assert.match(stderr, /it is probably another one, so nothing was changed/);
    assert.equal((await accountOf('user9')).enabled, true);
    await stop();
  });

  it('takes a user with another name for the same one if its code is the same', async () => {
    await importing();
    const { id } = await accountOf('user2');
    changeSqlite(file, `UPDATE users SET username = 'new name' WHERE id = 2`);
    await importing(' --update');
    assert.equal((await accountOf('new name')).id, id);
    await stop();
  });
});

describe('a later import of users who have changed how they sign in', () => {
  const SECRETS = ['JBSWY3DPEHPK3PXP', 'KRSXG5CTMVRXEZLU'];
  const bcrypt = (password: string): string => hashSync(password, 4);
  const enroll = (userId: number, secret: string): void =>
    changeSqlite(
      file,
      `CREATE TABLE IF NOT EXISTS two_fas (id integer PRIMARY KEY, user_id integer, secret text, is_enabled numeric, deleted_at datetime);
      DELETE FROM two_fas WHERE user_id = ${userId};
      INSERT INTO two_fas (user_id, secret, is_enabled) VALUES (${userId}, '${secret}', 1)`,
    );
  const signsIn = async (name: string, password: string): Promise<boolean> =>
    (await gateway.host.use(Accounts).checkPassword(name, password)) !== undefined;
  const reportOf = async (more: string): Promise<string> => fullReport(await importing(more));
  beforeEach(begin);

  it('brings a new password, authenticator, access token and linked account with --update, and tells them without', async () => {
    await importing();
    const { id } = await accountOf('user2');
    enroll(2, SECRETS[0]!);
    // Versions with these tables have GitHub's numeric ids.
    changeSqlite(
      file,
      `CREATE TABLE custom_oauth_providers (id integer PRIMARY KEY, name text, slug text, kind text, issuer text, well_known text, user_id_field text);
      CREATE TABLE user_oauth_bindings (id integer PRIMARY KEY, user_id integer, provider_id integer, provider_user_id text);
      UPDATE users SET password = '${bcrypt('twelve eggs')}', github_id = '4711', access_token = '${'a'.repeat(32)}' WHERE id = 2`,
    );
    const has = async () => ({
      password: await signsIn('user2', 'twelve eggs'),
      totp: (await gateway.host.use(SecondFactors).status(id)).totp,
      links: (await gateway.host.use(OAuth).bindings(id)).length,
      token: (await gateway.host.use(Sessions).accessToken(id)) !== undefined,
    });
    const told = await reportOf('');
    assert.match(told, /a new password; a new authenticator; a new linked account; a new access token/);
    assert.deepEqual(await has(), { password: false, totp: false, links: 0, token: false });
    assert.match(await importing(' --update --dry-run'), /1 changed there/);
    assert.deepEqual(await has(), { password: false, totp: false, links: 0, token: false });
    await importing(' --update');
    assert.deepEqual(await has(), { password: true, totp: true, links: 1, token: true });
    assert.match(await importing(' --update'), /^nothing was changed: /m);
    await gateway.stop();
  });

  it('does not take for written what another account has, and says that a link that was removed there goes on working', async () => {
    changeSqlite(
      file,
      `CREATE TABLE custom_oauth_providers (id integer PRIMARY KEY, name text, slug text, kind text, issuer text, well_known text, user_id_field text);
      CREATE TABLE user_oauth_bindings (id integer PRIMARY KEY, user_id integer, provider_id integer, provider_user_id text);
      INSERT INTO custom_oauth_providers VALUES (1, 'Corp', 'corp', 'oauth_code', 'https://id.example', 'https://id.example/.well-known/openid-configuration', 'sub');
      UPDATE users SET github_id = '4711' WHERE id = 2`,
    );
    await importing();
    const { id } = await accountOf('user2');
    const token = 'b'.repeat(32);
    const { store } = gateway.host as { readonly store: Store };
    const other = await accountOf('user3');
    await store.atomic(gateway.host.use(Sessions).adoptAccessTokenSteps(other.id, token)!);
    changeSqlite(
      file,
      `UPDATE users SET access_token = '${token}', github_id = '' WHERE id = 2;
      INSERT INTO user_oauth_bindings VALUES (1, 2, 1, 'user-2')`,
    );
    const report = await reportOf(' --update');
    assert.match(
      report,
      /a new access token \(not applied: the account has another one here, or another account has it\)/,
    );
    assert.match(report, /account user2: one was removed there, and goes on working here/);
    assert.equal((await gateway.host.use(OAuth).bindings(id)).length, 2);
    // It is not remembered, so it comes as soon as it can.
    await gateway.host.use(Sessions).revokeAccessToken(other.id);
    await importing(' --update');
    assert.ok((await gateway.host.use(Sessions).accessToken(id)) !== undefined);
    await gateway.stop();
  });

  it('keeps a password that was used here, and an authenticator that is in use, and says how to replace it', async () => {
    changeSqlite(file, `UPDATE users SET password = '${bcrypt('twelve eggs')}' WHERE id IN (2, 3)`);
    enroll(2, SECRETS[0]!);
    await importing();
    const { id } = await accountOf('user2');
    assert.ok(await signsIn('user2', 'twelve eggs'));
    changeSqlite(file, `UPDATE users SET password = '${bcrypt('thirteen eggs')}' WHERE id IN (2, 3)`);
    enroll(2, SECRETS[1]!);
    for (const more of [' --update --dry-run', ' --update']) {
      const report = await reportOf(more);
      assert.match(report, /user2 .*another password \(not applied: a password was set or used here: it stays\)/);
      assert.match(report, /another authenticator \(not applied: the account has another one here: .*import again\)/);
    }
    assert.ok(await signsIn('user2', 'twelve eggs'));
    // Never used here: the new one is the right one.
    assert.ok(!(await signsIn('user3', 'twelve eggs')));
    assert.ok(await signsIn('user3', 'thirteen eggs'));
    await gateway.host.use(SecondFactors).reset(id, 'totp');
    await importing(' --update');
    assert.equal((await gateway.host.use(SecondFactors).status(id)).totp, true);
    await gateway.stop();
  });
});

describe('two imports at once', () => {
  it('are one: the other is refused, and nothing is there twice', async () => {
    await begin();
    const { store } = gateway.host as { readonly store: Store };
    const { atomic } = store;
    /** The first import stops at its first list until the second one has ended. */
    let second: Promise<{ readonly code: number; readonly stderr: string }> | undefined;
    Object.assign(store, {
      async atomic(this: Store, ...list: Parameters<Store['atomic']>) {
        if (second === undefined && list[0].some((step) => 'must' in step && step.must === 'imported_before')) {
          second = gateway.tryCommand(`import new-api ${file} --out ${out}`);
          await second;
        }
        return atomic.apply(this, list);
      },
    });
    try {
      await importing();
    } finally {
      Object.assign(store, { atomic });
    }
    const { code, stderr } = await second!;
    assert.equal(code, 1);
    assert.match(stderr, /Another import is running/);
    await isWhole();
    // The claim has ended with the import.
    assert.match(await importing(), /^nothing was changed: /m);
    await gateway.stop();
  });

  it('go on after one that was killed', async () => {
    await begin();
    await gateway.host.store.run("INSERT INTO import_claim (id, claim, sign) VALUES (1, 'killed', 3)");
    await importing();
    await isWhole();
    await gateway.stop();
  });
});

describe('an import that ends at any write', () => {
  it('is completed by the next one, and nothing is there twice', async () => {
    await begin();
    const { store } = gateway.host as { readonly store: Store };
    const { atomic } = store;
    let left = 0;
    /** As a kill: the write is done, or not, and nothing follows it. */
    const failing = (isDone: boolean): Store['atomic'] =>
      async function (this: Store, ...list) {
        if (left-- > 0) return atomic.apply(this, list);
        if (isDone) await atomic.apply(this, list);
        throw new Error('the process was killed');
      };
    let interrupted = 0;
    let told = 0;
    try {
      for (let writes = 0; writes < 10; writes++) {
        for (const isDone of [false, true]) {
          left = writes % 3;
          Object.assign(store, { atomic: failing(isDone) });
          const { code, stderr } = await gateway.tryCommand(`import new-api ${file} --out ${out}`);
          if (code !== 0) interrupted++;
          if (stderr.includes('; before that: ')) told++;
          Object.assign(store, { atomic });
        }
      }
    } finally {
      Object.assign(store, { atomic });
    }
    assert.ok(interrupted >= 4, `${interrupted}`);
    assert.ok(told >= 1, 'an error says what was written before');
    await importing();
    await isWhole();
    await gateway.stop();
  });
});

describe('turnpike import --follow', () => {
  it('applies each round what has changed, in one line, and ends with a last round when it is interrupted', async () => {
    await begin();
    const args = ['import', 'new-api', file, '--follow', '--every', '200ms', '--out', out];
    const child = spawn(process.execPath, [TURNPIKE, ...args, '--config', gateway.configFile], { stdio: 'pipe' });
    let said = '';
    const waiting: (() => void)[] = [];
    for (const output of [child.stdout, child.stderr])
      output.setEncoding('utf8').on('data', (chunk: string) => {
        said += chunk;
        for (const check of [...waiting]) check();
      });
    const exit = new Promise<number | null>((done) => child.once('exit', done));
    const hears = (pattern: RegExp): Promise<void> =>
      new Promise((done, fail) => {
        const check = (): void => {
          if (pattern.test(said)) done();
        };
        waiting.push(check);
        check();
        void exit.then(() => fail(new Error(`it ended, and said ${said}`)));
      });
    await hears(/ no difference$/m);
    await isWhole();
    changeSqlite(file, 'UPDATE users SET quota = quota + 11 WHERE id = 2');
    // After an error in a round that has applied it, on a machine that is too busy for the store.
    await hears(/^\S+Z balance of 1 account \+11$|before that: balance of 1 account \+11$/m);
    assert.equal(await balanceOf('user2'), 2_011n);
    // A source that cannot be read is told, and tried again.
    changeSqlite(file, 'ALTER TABLE users RENAME TO people');
    await hears(/does not have the table users/);
    changeSqlite(file, 'ALTER TABLE people RENAME TO users; UPDATE users SET quota = quota - 3 WHERE id = 2');
    await hears(/balance of 1 account -3$/m);
    changeSqlite(file, 'UPDATE users SET quota = quota + 100 WHERE id = 3');
    child.kill('SIGTERM');
    assert.equal(await exit, 0, said);
    assert.equal(await balanceOf('user3'), 3_100n);
    assert.equal(await balanceOf('user2'), 2_008n);
    assert.match(await gateway.command('reconcile'), /^(ok .*\n?)+$/);
    assert.ok(existsSync(file));
    await gateway.stop();
  });
});
