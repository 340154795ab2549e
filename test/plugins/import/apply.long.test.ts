/** `turnpike import --apply` and the import of the console: what would result is checked before anything is written, and nothing is edited by hand. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configurations name variables like this
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Audit } from '../../../core/contracts/audit.ts';
import {
  CONSOLE_PIPELINE,
  checked,
  member,
  PATIENT,
  ROOT_ENV,
  said,
  signedIn,
  type Visitor,
} from '../../kit/console/console.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { turnpike } from '../../kit/gateway/process.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { changeSqlite, fullReport, makeSqlite, NEW_API_VERSIONS, type TestRow } from './databases.ts';

const VERSION = NEW_API_VERSIONS[2]!;
const HARD_SECRET = "sk-it's $a `hard` one";
const KEY = 'a'.repeat(48);

const USERS: readonly TestRow[] = [
  { id: 1, username: 'root', password: 'x', role: 100, status: 1, quota: 5, group: 'default' },
  { id: 2, username: 'ann', password: 'x', role: 1, status: 1, quota: 1_000_000, group: 'default' },
];
const TOKENS: readonly TestRow[] = [
  { id: 1, user_id: 2, key: KEY, name: 'laptop', status: 1, expired_time: -1, unlimited_quota: 1, remain_quota: 0 },
];
const OPTIONS: readonly TestRow[] = [
  { key: 'ModelRatio', value: '{"house":1.25}' },
  { key: 'CompletionRatio', value: '{"house":4}' },
];
const channelsOf = (url: string): readonly TestRow[] => [
  {
    id: 1,
    type: 1,
    key: HARD_SECRET,
    status: 1,
    name: 'upstream',
    base_url: url.replace(/\/v1$/, ''),
    models: 'house',
    group: 'default',
    priority: 0,
  },
];

function configOf(vendor: FakeVendor): Record<string, unknown> {
  const usual = defaultConfig([vendor]);
  return { ...usual, pipeline: [...CONSOLE_PIPELINE, 'groups', 'import'], console: PATIENT };
}

let vendor: FakeVendor;
before(async () => {
  vendor = await fakeVendor();
});
after(() => vendor.close());

/** A gateway with the database of another one next to it. */
async function opened(dir?: string): Promise<{ readonly gateway: TestGateway; readonly file: string }> {
  const gateway = await startGateway({
    vendor,
    config: configOf(vendor),
    env: ROOT_ENV,
    ...(dir !== undefined && { dir }),
  });
  const file = join(gateway.dir, 'old.db');
  makeSqlite(file, VERSION, { users: USERS, tokens: TOKENS, options: OPTIONS, channels: channelsOf(vendor.url) });
  return { gateway, file };
}

const configText = (gateway: TestGateway): string => readFileSync(gateway.configFile, 'utf8');

describe('an import with --apply', () => {
  let gateway: TestGateway;
  let file: string;
  before(async () => {
    ({ gateway, file } = await opened());
  });
  after(() => gateway.stop());

  it('changes nothing in a dry run, and says what would be added', async () => {
    const before = configText(gateway);
    const text = fullReport(await gateway.command(`import new-api ${file} --apply --dry-run`));
    assert.match(text, /^ {2}channel {2}upstream {2}to be added/m);
    assert.match(text, /^ {2}price {2}house {2}to be added {2}input 2\.5, cacheWrite 3\.125, output 10$/m);
    assert.equal(configText(gateway), before);
    assert.match(await gateway.command('config secret list'), /no secrets/);
  });

  it('lets the first call of an old key answer, and edits no file by hand', async () => {
    const before = configText(gateway);
    const printed = await gateway.command(`import new-api ${file} --apply`);
    assert.ok(printed.trimEnd().split('\n').length <= 30, printed);
    assert.ok(configText(gateway).startsWith(before.slice(0, 40)), 'what was there stays');
    assert.doesNotMatch(configText(gateway), /hard/, 'the secret is in the database');
    const response = await gateway.chat({ model: 'house' }, { key: `sk-${KEY}` });
    assert.equal(response.status, 200, await response.text());
    assert.equal(vendor.requests.at(-1)!.headers.authorization, `Bearer ${HARD_SECRET}`);
    assert.equal(statSync(/^every line: (.+)$/m.exec(printed)![1]!).mode & 0o777, 0o600);
  });

  it('leaves a version with a note, and audit entries, none of which has a secret', async () => {
    const [newest] = gateway.rows('SELECT by_name, note FROM config_version ORDER BY id DESC LIMIT 1');
    assert.deepEqual({ ...newest }, { by_name: 'command line', note: 'import new-api' });
    const entries = await gateway.host.use(Audit).page({ limit: 50 });
    const actions = new Set(entries.map(({ action }) => action));
    assert.ok(actions.has('config.save') && actions.has('config.secret.set'), [...actions].join());
    assert.doesNotMatch(JSON.stringify(entries), /hard/);
  });

  it('changes nothing the second time', async () => {
    const before = configText(gateway);
    const text = fullReport(await gateway.command(`import new-api ${file} --apply`));
    assert.match(text, /^configuration: unchanged$/m);
    assert.doesNotMatch(text, /^ {2}(?:channel|model|price|secret) .* {2}(?:new|changed|differs)/m);
    assert.equal(configText(gateway), before);
  });

  it('shows what has changed there since, and takes it over with --update', async () => {
    changeSqlite(file, `UPDATE options SET value = '{"house":1.5}' WHERE key = 'ModelRatio'`);
    changeSqlite(file, "UPDATE channels SET key = 'sk-another-one'");
    const before = configText(gateway);
    const told = fullReport(await gateway.command(`import new-api ${file} --apply`));
    assert.match(told, /^ {2}price {2}house {2}differs.*input 2\.5, .* here, input 3, .* there$/m);
    assert.match(told, /^ {2}secret {2}IMPORTED_UPSTREAM_KEY {2}differs/m);
    assert.equal(configText(gateway), before);
    const updated = await gateway.command(`import new-api ${file} --apply --update`);
    assert.doesNotMatch(updated, /nothing was changed/, 'the configuration was');
    assert.deepEqual(parse(configText(gateway)).prices, { house: { input: 3, cacheWrite: 3.75, output: 12 } });
    await gateway.chat({ model: 'house' }, { key: `sk-${KEY}` });
    assert.equal(vendor.requests.at(-1)!.headers.authorization, 'Bearer sk-another-one');
  });

  it('prints the same as data, with --json', async () => {
    const report = JSON.parse(await gateway.command(`import new-api ${file} --dry-run --json`));
    assert.equal(report.dry_run, true);
    assert.deepEqual(report.sums.there, { balances: 1_000_005, debts: 0, key_limits: 0 });
    const keys = report.counts.find(({ kind }: { readonly kind: string }) => kind === 'key');
    assert.deepEqual(keys, { kind: 'key', there: 1, new: 0, changed: 0, unchanged: 1, left: 0 });
    assert.ok(existsSync(report.report));
  });
});

describe('an import that this gateway cannot have', () => {
  it('says which variable of the other gateway is missing in its environment', async () => {
    const gateway = await startGateway({ vendor, config: configOf(vendor), env: ROOT_ENV });
    try {
      const file = join(gateway.dir, 'config.yaml');
      const params = '{ model: openai/m, api_key: k, api_base: os.environ/NO_SUCH_BASE }';
      writeFileSync(file, `model_list: [{ model_name: m, litellm_params: ${params} }]`);
      const { code, stderr } = await gateway.tryCommand(`import litellm ${file} --dry-run`);
      assert.equal(code, 1);
      assert.match(stderr, /NO_SUCH_BASE is not set; .*the other gateway has it in its environment: give this one/);
    } finally {
      await gateway.stop();
    }
  });

  it('says how many models are too many for gateway.yaml, and what to do', async () => {
    const { gateway, file } = await opened();
    const names = Array.from({ length: 1_200 }, (_, i) => `${i}-${'x'.repeat(120)}`);
    const ratios = JSON.stringify(Object.fromEntries(names.map((name) => [name, 1.25])));
    changeSqlite(
      file,
      `UPDATE channels SET models = '${names.join(',')}'; UPDATE options SET value = '${ratios}' WHERE key = 'ModelRatio'`,
    );
    const before = configText(gateway);
    const { code, stderr } = await gateway.tryCommand(`import new-api ${file} --apply`);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /nothing was imported: with the 1200 models and 1 channels? .* larger than 256 KiB: remove there/,
    );
    assert.equal(configText(gateway), before);
    assert.equal(await gateway.host.use(Accounts).findByName('ann'), undefined);
    await gateway.stop();
  });

  it('is refused in the dry run, too, and writes nothing', async () => {
    const usual = configOf(vendor);
    const pipeline = (usual.pipeline as readonly string[]).filter((name) => name !== 'vendors/compatible');
    const own = { channels: [{ name: 'demo', vendor: 'demo' }], models: { demo: { from: ['demo'], free: true } } };
    const gateway = await startGateway({ vendor, config: { ...usual, ...own, pipeline }, env: ROOT_ENV });
    try {
      const file = join(gateway.dir, 'old.db');
      makeSqlite(file, VERSION, { users: USERS, tokens: TOKENS, options: OPTIONS, channels: channelsOf(vendor.url) });
      const before = configText(gateway);
      for (const flags of ['--dry-run', '--apply', '']) {
        const { code, stderr } = await gateway.tryCommand(`import new-api ${file} ${flags}`.trim());
        assert.equal(code, 1, flags);
        assert.match(stderr, /nothing was imported: the configuration that would result is invalid:/);
        assert.match(stderr, /^ {2}channels\[1\]\.vendor \(channel upstream\): .*compatible/m);
        assert.doesNotMatch(stderr, /hard/, 'no secret is shown');
      }
      assert.equal(configText(gateway), before);
      assert.equal(await gateway.host.use(Accounts).findByName('ann'), undefined);
      assert.deepEqual(
        readdirSync(gateway.dir).filter((name) => name.startsWith('new-api.')),
        [],
      );
    } finally {
      await gateway.stop();
    }
  });
});

describe('an import with --apply while the gateway is stopped', () => {
  it('is there at the next start', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'turnpike-import-'));
    try {
      const { gateway, file } = await opened(dir);
      const { configFile } = gateway;
      await gateway.stop();
      const { code, stderr } = await turnpike(['import', 'new-api', file, '--apply', '--config', configFile], {
        cwd: dir,
      });
      assert.equal(code, 0, stderr);
      const imported = parse(readFileSync(configFile, 'utf8')) as Record<string, unknown>;
      assert.deepEqual((imported.models as Record<string, unknown>).house, { from: ['upstream'] });
      const again = await startGateway({ vendor, config: imported, env: ROOT_ENV, dir });
      const response = await again.chat({ model: 'house' }, { key: `sk-${KEY}` });
      assert.equal(response.status, 200, await response.text());
      await again.stop();
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

describe('an import in the console', () => {
  let gateway: TestGateway;
  let file: string;
  let boss: Visitor;
  before(async () => {
    ({ gateway, file } = await opened());
    boss = await checked(gateway, await signedIn(gateway, 'root'));
  });
  after(() => gateway.stop());

  /** Waits for the end of the import that runs. */
  async function ended() {
    for (;;) {
      const run = await boss.data('GET', '/api/import');
      if (run.state !== 'running') return run;
    }
  }

  it('is for root alone', async () => {
    const ann = await member(gateway, 'bea', { role: 'admin' });
    assert.equal(said(await ann.get('/api/import')), '403 role_insufficient');
    assert.equal(
      said(await ann.post('/api/import', { program: 'new-api', url: 'postgres://x/y' })),
      '403 role_insufficient',
    );
  });

  it('reads no file of the machine, by whatever name', async () => {
    for (const url of [
      file,
      `file://${file}`,
      'postgres:///etc/passwd',
      'postgres://db/x?sslkey=/etc/passwd',
      'postgres://%2Fvar%2Frun/x',
      'a:b@unix(/run/mysqld.sock)/x',
    ])
      assert.equal(said(await boss.post('/api/import', { program: 'new-api', url })), '400 import_source_refused', url);
    assert.equal(
      said(await boss.post('/api/import', { program: 'new-api', upload: '../../etc/passwd' })),
      '409 upload_out_of_order',
    );
    assert.equal((await boss.data('GET', '/api/import')).state, 'none');
  });

  it('shows in a dry run of an uploaded file what would happen, then imports it', async () => {
    const bytes = readFileSync(file);
    const half = Math.floor(bytes.length / 2);
    const { id, size } = await boss.data('POST', '/api/import/upload', {
      data: bytes.subarray(0, half).toString('base64'),
    });
    assert.equal(size, half);
    const rest = { id, data: bytes.subarray(half).toString('base64') };
    assert.equal(said(await boss.post('/api/import/upload', { ...rest, offset: half + 1 })), '409 upload_out_of_order');
    await boss.data('POST', '/api/import/upload', { ...rest, offset: half });
    const stored = join(tmpdir(), `turnpike-import-${id}`);
    assert.equal(statSync(stored).mode & 0o777, 0o600);

    await boss.data('POST', '/api/import', { program: 'auto', upload: id });
    const dry = await ended();
    assert.deepEqual([dry.state, dry.dry_run, dry.reason], ['done', true, null]);
    assert.equal(await gateway.host.use(Accounts).findByName('ann'), undefined);

    await boss.data('POST', '/api/import', { program: 'auto', upload: id, dry_run: false });
    const run = await ended();
    assert.deepEqual([run.state, run.reason, run.report?.configuration.applied], ['done', null, true]);
    assert.equal(existsSync(stored), false, 'the uploaded file is deleted');
    const response = await gateway.chat({ model: 'house' }, { key: `sk-${KEY}` });
    assert.equal(response.status, 200, await response.text());
    assert.match((await boss.get('/api/import/report')).text, /^key {2}laptop of ann/m);
  });

  it('says why it failed, without the password of the source', async () => {
    await boss.data('POST', '/api/import', { program: 'new-api', url: 'postgres://ann:a-password@127.0.0.1:9/x' });
    const run = await ended();
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /the database cannot be reached/);
    assert.doesNotMatch(JSON.stringify(run), /a-password/);
    assert.ok(!gateway.rows('SELECT about FROM import_run').some(({ about }) => String(about).includes('a-password')));
  });
});
