/** `turnpike import` of one-api and new-api: old keys call, balances agree to the unit, and a second import changes nothing. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configurations name variables like this
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Departments } from '../../../core/contracts/departments.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import { Ledger, MICRO } from '../../../core/contracts/ledger.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { turnpike } from '../../kit/gateway/process.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import {
  changeSqlite,
  fullReport,
  lines,
  makeSqlite,
  NEW_API_VERSIONS,
  ONE_API_VERSIONS,
  type TestRow,
} from './databases.ts';

/** The pipeline of other tests, with everything that an import fills. */
function configOf(vendor: FakeVendor): Record<string, unknown> {
  const usual = defaultConfig([vendor]);
  return {
    ...usual,
    pipeline: [...(usual.pipeline as string[]), 'departments', 'groups', 'audit', 'console', 'import'],
  };
}

/** A key as such databases store it: without `sk-`. */
const stored = (letter: string, length = 48): string => letter.repeat(length);
const HOUR_AGO = Math.floor(Date.now() / 1_000) - 3_600;

const USERS: readonly TestRow[] = [
  {
    id: 1,
    username: 'root',
    password: '$2a$10$x',
    role: 100,
    status: 1,
    quota: 100_000_000,
    group: 'default',
    used_quota: 7,
  },
  {
    id: 2,
    username: 'ann',
    password: '$2a$10$x',
    role: 1,
    status: 1,
    quota: 1_234_567,
    group: 'vip',
    email: 'ann@example.com',
  },
  { id: 3, username: 'bob', password: '$2a$10$x', role: 1, status: 2, quota: 5, group: 'default' },
  { id: 4, username: 'carl', password: '$2a$10$x', role: 1, status: 1, quota: -42, group: 'default' },
  {
    id: 5,
    username: 'dora',
    password: '$2a$10$x',
    role: 10,
    status: 1,
    quota: 2_147_483_647,
    group: 'default',
    display_name: 'Dora D.',
  },
].map((row) => ({ aff_code: `a${row.id}`, ...row }));

const TOKENS: readonly TestRow[] = [
  {
    id: 1,
    user_id: 1,
    key: stored('r'),
    name: 'root key',
    status: 1,
    expired_time: -1,
    unlimited_quota: 1,
    remain_quota: 0,
  },
  {
    id: 2,
    user_id: 2,
    key: stored('a'),
    name: 'laptop',
    status: 1,
    expired_time: -1,
    unlimited_quota: 1,
    remain_quota: 0,
  },
  {
    id: 3,
    user_id: 2,
    key: stored('b'),
    name: 'limited',
    status: 1,
    expired_time: -1,
    unlimited_quota: 0,
    remain_quota: 777_777,
  },
  { id: 4, user_id: 2, key: stored('c'), name: 'expired', status: 3, expired_time: HOUR_AGO, unlimited_quota: 1 },
  { id: 5, user_id: 2, key: stored('d'), name: 'off', status: 2, expired_time: -1, unlimited_quota: 1 },
  { id: 6, user_id: 3, key: stored('e'), name: 'of bob', status: 1, expired_time: -1, unlimited_quota: 1 },
  { id: 7, user_id: 4, key: stored('f'), name: 'of carl', status: 1, expired_time: -1, unlimited_quota: 1 },
  {
    id: 8,
    user_id: 5,
    key: stored('g'),
    name: 'used up',
    status: 4,
    expired_time: -1,
    unlimited_quota: 0,
    remain_quota: -3,
  },
];

/** What an old key is answered with: the status and, if it is refused, the code. */
const ANSWERS: Readonly<Record<string, string>> = {
  r: '200',
  a: '200',
  b: '200',
  c: '401 key_expired',
  d: '401 key_disabled',
  e: '403 account_disabled',
  f: '403 QUOTA_USER_INSUFFICIENT',
  g: '403 QUOTA_TOKEN_INSUFFICIENT',
};

const OPTIONS: readonly TestRow[] = [
  { key: 'GroupRatio', value: '{"default":1,"vip":0.8}' },
  { key: 'ModelRatio', value: '{"priced":1.25,"gpt-4o":1.5,"half":0.075}' },
  { key: 'CompletionRatio', value: '{"priced":4,"gpt-4o":3}' },
  { key: 'ModelPrice', value: '{"picture":0.04}' },
];

/** What these options say in each program: one-api prices unknown models and the mapped name, if the version maps names. */
const ONE_API_PRICES = {
  priced: { input: 2.5, output: 10 },
  half: { input: 0.15, output: 0.15 },
  nick: { input: 2.5, output: 10 },
  'gpt-4o': { input: 3, output: 9 },
  picture: { input: 60, output: 60 },
};
const NEW_API_PRICES = {
  priced: { input: 2.5, output: 10 },
  half: { input: 0.15, output: 0.15 },
  'gpt-4o': { input: 3, cacheRead: 1.5, output: 12 },
  picture: { perRequest: 0.04 },
};
const PRICES: Readonly<Record<string, object>> = {
  'one-api': ONE_API_PRICES,
  'one-api 0.3': { ...ONE_API_PRICES, nick: { input: 60, output: 60 } },
  'new-api': NEW_API_PRICES,
  'new-api 0.2': { ...NEW_API_PRICES, nick: { input: 60, output: 60 }, 'gpt-4o': { input: 3, output: 12 } },
  'new-api 0.9': {
    ...NEW_API_PRICES,
    priced: { input: 2.5, cacheWrite: 3.125, output: 10 },
    half: { input: 0.15, cacheWrite: 0.1875, output: 0.15 },
    'gpt-4o': {
      ...{ input: 3, cacheRead: 1.5, cacheWrite: 3.75, output: 9 },
      perUse: { file_search: 0.0025, web_search: 0.025 },
    },
  },
};

/** new-api calls such a channel at its very address, one-api adds the path. */
const customUrl = (vendor: FakeVendor, kind: string): string =>
  kind === 'new-api' ? `${vendor.url}/chat/completions` : vendor.url.replace(/\/v1$/, '');

const channelsOf = (vendor: FakeVendor, kind: string): readonly TestRow[] => [
  {
    id: 1,
    type: 8,
    key: 'upstream-one\nupstream-two',
    status: 1,
    name: 'My upstream',
    base_url: customUrl(vendor, kind),
    models: 'priced,half,nick',
    weight: 0,
    priority: 0,
    group: 'default,vip',
    model_mapping: '{"nick":"priced"}',
  },
  {
    id: 2,
    type: 1,
    key: 'sk-vendor',
    status: 1,
    name: 'official',
    base_url: '',
    models: 'gpt-4o,picture',
    weight: 3,
    priority: 10,
    group: 'default',
  },
  { id: 3, type: 14, key: 'x', status: 2, name: 'switched off', models: 'claude-3' },
  { id: 4, type: 18, key: 'x', status: 1, name: 'odd', models: 'spark' },
];

/** The groups of these databases: new-api lets all users choose both, one-api none. */
function groupsOf(kind: string, hasGroups: boolean): object {
  const all = kind === 'new-api' ? ['default', 'vip'] : [];
  return {
    default: { channels: ['My-upstream', 'official'], for: all },
    vip: { channels: hasGroups ? ['My-upstream'] : [], factor: 0.8, for: all },
  };
}

async function outcome(gateway: TestGateway, secret: string, model = 'test-model'): Promise<string> {
  const response = await gateway.chat({ model }, { key: secret });
  const body = (await response.json()) as { readonly error?: { readonly code?: string } };
  return response.status === 200 ? '200' : `${response.status} ${body.error?.code}`;
}

async function available(gateway: TestGateway, name: string): Promise<bigint> {
  const account = (await gateway.host.use(Accounts).findByName(name))!;
  const balance = (await gateway.host.use(Ledger).balance({ kind: 'account', owner: account.id }))!;
  const debt = await gateway.host.use(Ledger).debt(account.id);
  return balance.granted - balance.used - balance.held - debt;
}

for (const [kind, versions] of [
  ['one-api', ONE_API_VERSIONS],
  ['new-api', NEW_API_VERSIONS],
] as const) {
  for (const version of versions) {
    describe(`an import of ${version.name}`, () => {
      let vendor: FakeVendor;
      let gateway: TestGateway;
      let file: string;
      let out: string;
      const hasGroups = version !== ONE_API_VERSIONS[0];

      before(async () => {
        vendor = await fakeVendor();
        gateway = await startGateway({ vendor, config: configOf(vendor) });
        file = join(gateway.dir, 'old.db');
        out = mkdtempSync(join(tmpdir(), 'turnpike-import-'));
        makeSqlite(file, version, {
          users: USERS,
          tokens: TOKENS,
          channels: channelsOf(vendor, kind),
          options: OPTIONS,
          redemptions: [{ id: 1, key: stored('z', 32), status: 1, quota: 500 }],
        });
      });
      after(async () => {
        await gateway.stop();
        await vendor.close();
        rmSync(out, { recursive: true, force: true });
      });

      it('says in a dry run what it would do, and changes nothing', async () => {
        const text = fullReport(await gateway.command(`import ${kind} ${file} --dry-run --out ${out}`));
        assert.match(text, /^key +laptop of ann +the same key, limit none +would be new$/m);
        assert.match(text, /^account +ann +account ann, member, balance 1234567 +would be new$/m);
        assert.match(text, /odd: type 18 \(Xunfei\): its API is a WebSocket/);
        assert.match(text, /switched off: it is disabled/);
        assert.match(text, /^ {2}gpt-4o: input 3, list price 2\.5$/m);
        assert.match(text, /dry run, nothing was changed: 1[34] would be new, 0 unchanged, \d+ left$/);
        assert.deepEqual(
          readdirSync(out).filter((name) => !name.includes('.report.')),
          [],
        );
        assert.deepEqual(
          (await gateway.host.use(Accounts).list()).map(({ name }) => name),
          ['root'],
        );
        assert.equal((await gateway.host.use(Keys).list()).length, 1);
      });

      it('takes over every account with its balance, to the unit', async () => {
        const text = fullReport(await gateway.command(`import ${kind} ${file} --out ${out}`));
        assert.match(text, /^1[34] new, 0 unchanged, \d+ left$/m);
        for (const { username, quota } of USERS) {
          assert.equal(await available(gateway, String(username)), BigInt(quota as number) * MICRO, String(username));
        }
        assert.match(await gateway.command('reconcile'), /^(ok .*\n?)+$/);
        const dora = (await gateway.host.use(Accounts).findByName('dora'))!;
        assert.equal(dora.role, 'admin');
        assert.equal((await gateway.host.use(Accounts).person(dora.id))?.displayName, 'Dora D.');
      });

      it('keeps the group of a user', async () => {
        const ann = (await gateway.host.use(Accounts).findByName('ann'))!;
        assert.equal(ann.group, hasGroups ? 'vip' : undefined);
        assert.deepEqual(gateway.host.use(Departments).all(), []);
      });

      it('changes nothing the second time, and says so', async () => {
        const rows = () => gateway.rows('SELECT * FROM entry ORDER BY ref, op, kind, owner').length;
        const before = rows();
        const text = fullReport(await gateway.command(`import ${kind} ${file} --out ${out}`));
        assert.match(text, /^nothing was changed: 1[34] unchanged, \d+ left$/m);
        assert.match(text, /gateway\.yaml: unchanged$/m);
        assert.equal(rows(), before);
      });

      it('lets every old key call, and refuses those that were refused there', async () => {
        for (const [letter, expected] of Object.entries(ANSWERS)) {
          assert.equal(await outcome(gateway, `sk-${stored(letter)}`), expected, letter);
        }
        const unknown = `sk-${stored('q')}`;
        assert.equal(await outcome(gateway, unknown), '401 invalid_api_key');
        assert.match(await gateway.command('key list'), /sk-aaaa…aaaa/);
      });

      it('writes a part of gateway.yaml with which the old keys call the old models', async () => {
        const part = parse(readFileSync(join(out, `${kind}.gateway.yaml`), 'utf8')) as Record<string, object>;
        const env = Object.fromEntries(
          lines(join(out, `${kind}.gateway.env`)).map((line) => line.split('=') as [string, string]),
        );
        assert.equal(statSync(join(out, `${kind}.gateway.env`)).mode & 0o777, 0o600);
        assert.deepEqual(Object.keys(env), [
          'IMPORTED_MY_UPSTREAM_KEY',
          'IMPORTED_MY_UPSTREAM_KEY_2',
          'IMPORTED_OFFICIAL_KEY',
        ]);
        assert.deepEqual(part.groups, groupsOf(kind, hasGroups));
        assert.deepEqual(part.prices, PRICES[version.name] ?? PRICES[kind]);
        const usual = configOf(vendor);
        const other = await startGateway({
          vendor,
          env,
          config: {
            ...usual,
            channels: [...(usual.channels as object[]), ...(part.channels as object[])],
            models: { ...(usual.models as object), ...part.models },
            prices: part.prices,
            groups: part.groups,
          },
        });
        try {
          await other.command(`import ${kind} ${file} --out ${out}`);
          const before = await available(other, 'ann');
          // new-api refuses a model without a ratio since v0.5, one-api charges it 30 times the basic price.
          const isRefused = kind === 'new-api' && version !== NEW_API_VERSIONS[0];
          const unpriced = isRefused ? '404 model_not_found' : '200';
          assert.equal(await outcome(other, `sk-${stored('a')}`, 'nick'), unpriced);
          assert.equal(await outcome(other, `sk-${stored('a')}`, 'priced'), '200');
          assert.ok((await available(other, 'ann')) < before);
          const { authorization } = vendor.requests.at(-1)!.headers;
          assert.ok(['Bearer upstream-one', 'Bearer upstream-two'].includes(String(authorization)));
        } finally {
          await other.stop();
        }
      });

      it('never replaces a file, and says which it kept', async () => {
        const path = join(out, `${kind}.gateway.yaml`);
        writeFileSync(path, 'mine');
        const text = fullReport(await gateway.command(`import ${kind} ${file} --out ${out}`));
        assert.match(text, /exists with other content and was not written/);
        assert.equal(readFileSync(path, 'utf8'), 'mine');
        chmodSync(path, 0o600);
      });

      it('does not take a renamed user for a known one', async () => {
        changeSqlite(
          file,
          "UPDATE users SET username = 'someone else', email = 'else@example.com', password = 'y' WHERE id = 2",
        );
        if (hasGroups) changeSqlite(file, "UPDATE users SET aff_code = 'other' WHERE id = 2");
        const text = fullReport(await gateway.command(`import ${kind} ${file} --dry-run`));
        assert.match(text, /user someone else: its identifier was imported before as "ann"/);
      });
    });
  }
}

describe('an import', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;

  before(async () => {
    vendor = await fakeVendor();
    gateway = await startGateway({ vendor, config: configOf(vendor) });
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  it('refuses what it cannot read, in a sentence', async () => {
    const nothing = join(gateway.dir, 'nothing.db');
    const text = join(gateway.dir, 'text.db');
    writeFileSync(text, 'this is no database, and long enough to be read as one'.repeat(50));
    for (const [line, code, message] of [
      [
        'import openrouter x.db',
        2,
        /KIND must be litellm, new-api, one-api, one-hub, or auto to find out, not "openrouter"/,
      ],
      [`import new-api ${nothing}`, 1, /there is no file .*nothing\.db/],
      [`import new-api ${text}`, 1, /text\.db is not a SQLite database that can be read/],
      [`import new-api ${gateway.storeFile}`, 1, /this is not a database of new-api/],
      ['import new-api mysql://root:secret@127.0.0.1:9/oneapi', 1, /the database cannot be reached: .*ECONNREFUSED/],
      ['import new-api root:secret@tcp(127.0.0.1:9)/oneapi', 1, /the database cannot be reached: .*ECONNREFUSED/],
      ['import new-api postgres://root:secret@127.0.0.1:9/oneapi', 1, /the database cannot be reached: .*ECONNREFUSED/],
      ['import new-api mysql://root:secret@127.0.0.1:9', 2, /the address must be mysql:/],
    ] as const) {
      const result = await gateway.tryCommand(line);
      assert.equal(result.code, code, line);
      assert.match(result.stderr, message);
      assert.doesNotMatch(result.stderr, /secret/);
    }
  });

  it('writes texts of channels as they are: they name no variable of this machine, and add none', async () => {
    const file = join(gateway.dir, 'texts.db');
    const channel = {
      ...{ id: 1, type: 8, status: 1, name: 'odd', models: 'nick', group: 'default' },
      key: JSON.stringify(["x'\nPATH=`evil`", "it's"]),
      base_url: 'https://up.example/$HOME/chat/completions',
      model_mapping: '{"nick":"${HOME}"}',
    };
    const options = [{ key: 'ModelRatio', value: '{"nick":1}' }];
    makeSqlite(file, NEW_API_VERSIONS[2]!, { users: [], tokens: [], options, channels: [channel] });
    const out = mkdtempSync(join(gateway.dir, 'texts-'));
    await gateway.command(`import new-api ${file} --out ${out}`);
    const env = readFileSync(join(out, 'new-api.gateway.env'), 'utf8');
    // No form of such values is read alike everywhere: they are in files.
    const folder = 'new-api.gateway.secrets';
    assert.deepEqual(parseEnv(env), {
      IMPORTED_ODD_KEY_FILE: `${folder}/IMPORTED_ODD_KEY`,
      IMPORTED_ODD_KEY_2_FILE: `${folder}/IMPORTED_ODD_KEY_2`,
    });
    assert.equal(readFileSync(join(out, folder, 'IMPORTED_ODD_KEY'), 'utf8'), "x'\nPATH=`evil`");
    assert.equal(readFileSync(join(out, folder, 'IMPORTED_ODD_KEY_2'), 'utf8'), "it's");
    const part = readFileSync(join(out, 'new-api.gateway.yaml'), 'utf8');
    assert.match(part, /url: https:\/\/up\.example\/\$HOME$/m);
    assert.match(part, /odd: \$\$\{HOME\}/);
  });

  it('leaves what it cannot have, by its name, and shows no character that a terminal would obey', async () => {
    const file = join(gateway.dir, 'odd.db');
    const user = { ...USERS[1]!, id: 60, username: 'odette', email: 'odette@example.com' };
    const token = { user_id: 60, status: 1, unlimited_quota: 1, remain_quota: 0 };
    const channel = {
      id: 1,
      type: 8,
      status: 1,
      name: 'odd',
      key: 'k',
      base_url: 'https://up.example/chat/completions',
      group: 'default',
    };
    makeSqlite(file, NEW_API_VERSIONS[2]!, {
      users: [user],
      tokens: [
        { ...token, id: 30, key: stored('m'), name: 'far', expired_time: 9e15 },
        { ...token, id: 31, key: stored('n'), name: 'near', expired_time: 253_402_300_799 },
      ],
      options: [...OPTIONS, { key: 'SelfUseModeEnabled', value: 'true' }],
      channels: [{ ...channel, models: 'plain,${OPENAI_API_KEY},__proto__,bell\u0007\u202e', model_mapping: '{}' }],
    });
    const out = mkdtempSync(join(gateway.dir, 'odd-'));
    for (const flag of [' --dry-run', '']) {
      const text = fullReport(await gateway.command(`import new-api ${file} --out ${out}${flag}`));
      assert.match(text, /key +far of odette +the same key, limit none +\w/, 'after the year 9999 is never');
      const names = ['model ${OPENAI_API_KEY}', 'model __proto__', 'model bell\\u{7}\\u{202e}'].join(', ');
      assert.ok(text.includes(`${names}: gateway.yaml cannot have this name`), text);
      assert.match(text, /expires 9999-12-31T23:59:59/);
    }
    assert.equal(await outcome(gateway, `sk-${stored('m')}`), '200');
    assert.equal(await outcome(gateway, `sk-${stored('n')}`), '200');
    const { models, prices } = parse(readFileSync(join(out, 'new-api.gateway.yaml'), 'utf8'));
    assert.deepEqual([Object.keys(models), Object.keys(prices ?? {})], [['plain'], ['plain']]);
  });

  it('ends before its first write if it fails anywhere, and names what it failed at', async () => {
    const accounts = gateway.host.use(Accounts);
    const { findByName, plan } = accounts;
    const users = [1, 2].map((n) => ({ ...USERS[1]!, id: 40 + n, username: `u${n}`, email: `u${n}@example.com` }));
    const file = join(gateway.dir, 'fails.db');
    makeSqlite(file, NEW_API_VERSIONS[2]!, { users, tokens: [], options: OPTIONS });
    const failing: typeof plan = async () => {
      const { create } = await plan();
      return {
        create(account) {
          if (account.name === 'u2') throw new RangeError('Invalid time value');
          return create(account);
        },
      };
    };
    Object.assign(accounts, { plan: failing });
    try {
      const { code, stderr } = await gateway.tryCommand(`import new-api ${file}`);
      assert.equal(code, 1);
      assert.match(stderr, /user u2: Invalid time value/);
    } finally {
      Object.assign(accounts, { plan });
    }
    assert.equal(await findByName('u1'), undefined);
  });

  it('gives a user whose name or address is taken another name, and never merges accounts', async () => {
    await gateway.host.use(Accounts).create({ name: 'ann', role: 'member', email: 'ann@example.com' });
    const file = join(gateway.dir, 'taken.db');
    makeSqlite(file, NEW_API_VERSIONS[2]!, { users: USERS.slice(1, 2), tokens: TOKENS.slice(1, 2), options: OPTIONS });
    const text = fullReport(await gateway.command(`import new-api ${file}`));
    assert.match(text, /account ann-new-api, member, balance 1234567/);
    assert.match(text, /email address of ann: another account has it/);
    assert.equal(await available(gateway, 'ann'), 0n);
    assert.equal(await available(gateway, 'ann-new-api'), 1_234_567n * MICRO);
  });

  it('limits keys to their models and networks, and hands out new keys for those whose form is not accepted', async () => {
    const file = join(gateway.dir, 'limits.db');
    const user = {
      id: 20,
      username: 'mona',
      password: 'x',
      role: 1,
      status: 1,
      quota: 1_000_000,
      group: 'default',
      email: 'mona@example.com',
    };
    const usual = { user_id: 20, status: 1, expired_time: -1, unlimited_quota: 1 };
    makeSqlite(file, NEW_API_VERSIONS[2]!, {
      users: [user],
      tokens: [
        {
          ...usual,
          id: 20,
          key: stored('h'),
          name: 'models',
          model_limits_enabled: 1,
          model_limits: 'free-model,later',
        },
        { ...usual, id: 21, key: stored('i'), name: 'networks', allow_ips: '10.0.0.0/8\n192.168.1.1' },
        { ...usual, id: 22, key: stored('j'), name: 'bad network', allow_ips: 'example.com' },
        { ...usual, id: 23, key: 'with a space', name: 'odd' },
        { ...usual, id: 24, key: stored('k'), name: 'deleted', deleted_at: '2025-01-01 00:00:00' },
      ],
      options: OPTIONS,
    });
    const text = fullReport(await gateway.command(`import new-api ${file}`));
    assert.equal(await outcome(gateway, `sk-${stored('h')}`), '403 model_not_allowed');
    assert.equal(await outcome(gateway, `sk-${stored('h')}`, 'free-model'), '200');
    assert.equal(await outcome(gateway, `sk-${stored('i')}`), '403 ip_not_allowed');
    assert.match(text, /key bad network of mona: its calls are refused there, so it is disabled here/);
    assert.equal(await outcome(gateway, `sk-${stored('j')}`), '401 key_disabled');
    assert.equal(await outcome(gateway, `sk-${stored('k')}`), '401 invalid_api_key');
    const name = /(new-api\.handouts\.\d+\.tsv): written/.exec(text)?.[1];
    assert.ok(name !== undefined, text);
    assert.equal(statSync(join(gateway.dir, name)).mode & 0o777, 0o600);
    assert.match(
      text,
      /links for a new password: they begin with http:\/\/localhost\S+ which opens on this machine only/,
    );
    const [key, link] = lines(join(gateway.dir, name)).map((line) => line.split('\t'));
    assert.deepEqual(link!.slice(0, 3), ['mona', 'mona@example.com', 'link for a new password']);
    assert.equal(await outcome(gateway, key![3]!), '200');
    const code = new URL(link![3]!).searchParams.get('code');
    const reset = await fetch(`${gateway.url}/api/user/reset`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'mona@example.com', token: code, password: 'thirteen eggs' }),
    });
    assert.equal(reset.status, 200, await reset.text());
    assert.equal((await gateway.host.use(Accounts).checkPassword('mona', 'thirteen eggs'))?.name, 'mona');
  });

  it('works while the gateway is stopped', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'turnpike-import-'));
    try {
      const first = await startGateway({ vendor, config: configOf(vendor), dir });
      const { configFile } = first;
      await first.stop();
      makeSqlite(join(dir, 'old.db'), NEW_API_VERSIONS[2]!, { users: USERS.slice(1, 2), tokens: TOKENS.slice(1, 2) });
      const { code, stdout, stderr } = await turnpike(['import', 'new-api', 'old.db', '--config', configFile], {
        cwd: dir,
      });
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^2 new, 0 unchanged, \d+ left$/m);
      const second = await startGateway({ vendor, config: configOf(vendor), dir });
      assert.equal(await outcome(second, `sk-${stored('a')}`), '200');
      await second.stop();
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('converts balances to quota units of another size, rounded down', async () => {
    const file = join(gateway.dir, 'units.db');
    const user = { id: 30, username: 'nell', password: 'x', role: 1, status: 1, quota: 10, group: 'default' };
    const options = [
      { key: 'QuotaPerUnit', value: '300000' },
      { key: 'ModelRequestRateLimitEnabled', value: 'true' },
    ];
    makeSqlite(file, NEW_API_VERSIONS[2]!, { users: [user], options });
    const text = fullReport(await gateway.command(`import new-api ${file}`));
    assert.match(text, /balances and limits: 300000 per currency unit there, 500000 here/);
    assert.match(text, /section +limits +to be added/);
    assert.equal(await available(gateway, 'nell'), 16_666_666n);
  });
});
