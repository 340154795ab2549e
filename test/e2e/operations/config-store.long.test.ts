/** `turnpike config`, secrets that are missing, and a configuration in the database, also of several gateways. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of gateway.yaml are spelled like this
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse, stringify } from 'yaml';
import {
  CONSOLE_PIPELINE,
  checked,
  PATIENT,
  ROOT_ENV,
  root,
  said,
  type Visitor,
  visitor,
} from '../../kit/console/console.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type GatewayProcess, startProcess, turnpike } from '../../kit/gateway/process.ts';
import { noPostgres, onlyOnSqlite, type PostgresServer, startPostgres } from '../../kit/stand-ins/postgres.ts';
import { until } from '../../kit/until.ts';
import { fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, jsonAnswer, wholeAnswer } from '../../kit/vendors/script.ts';

const SMALL = `# the gateway
listen: { port: 0 }
store: { file: ./turnpike.db }
pipeline: [accounts, auth, counters, keys, prices, quota, models, styles, vendors/demo, vendors/compatible, log, audit]
channels:
  - { name: demo, vendor: demo }   # no key
  - { name: main, vendor: compatible, url: "http://127.0.0.1:9/v1", key: "\${secret:MAIN_KEY}" }
models:
  demo: { from: [demo], free: true }
  m: { from: [main], free: true }
`;

describe('a secret that is missing', onlyOnSqlite('the commands have a file'), () => {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-secrets-'));
  const file = join(dir, 'gateway.yaml');
  after(() => rmSync(dir, { recursive: true }));
  const run = (line: string, stdin = '') =>
    turnpike([...line.split(' '), '--config', file], { cwd: dir, stdin, env: ROOT_ENV });

  it('is named by `check` and by the start, and can be set before the first one', async () => {
    writeFileSync(file, SMALL);
    const NAMED = 'gateway.yaml:7:69: channels[1].key: the secret MAIN_KEY is not set';
    const early = await run('check');
    assert.deepEqual([early.code, early.stderr.includes(NAMED)], [78, true], early.stderr + early.stdout);
    const start = await run('start');
    assert.equal(start.code, 78);
    assert.ok(start.stderr.includes('the secret MAIN_KEY is not set'), start.stderr);
    const set = await run('config secret set MAIN_KEY --value-stdin', 'a-secret-of-main\n');
    assert.deepEqual([set.code, set.stdout], [0, 'MAIN_KEY is set\n'], set.stderr);
    const check = await run('check');
    assert.equal(check.code, 0, check.stderr);
    assert.ok(check.stdout.includes('2 models') && !check.stdout.includes('a-secret-of-main'), check.stdout);
  });

  it('is set, listed and deleted at a gateway that runs, and what is wrong is not imported', async () => {
    const gateway = await startProcess(file, { cwd: dir, env: ROOT_ENV });
    try {
      assert.match(
        (await run('config secret list')).stdout,
        /^NAME +SET +BY +USED IN\nMAIN_KEY +\S+ +command line +channels\[1\]\.key\n$/,
      );
      assert.equal((await run('config secret set MAIN_KEY --value-stdin', 'another')).code, 0);
      // Another file for the same store is judged itself, with the secrets that the running gateway has.
      const other = join(dir, 'other.yaml');
      const ofOther = (words: readonly string[]) =>
        turnpike([...words, '--config', other], { cwd: dir, env: ROOT_ENV });
      writeFileSync(other, `${SMALL}nonsense: { a: 1 }\n`);
      for (const words of [['check'], ['config', 'check']]) {
        const checked = await ofOther(words);
        assert.deepEqual([checked.code, checked.stdout], [78, ''], words.join(' '));
        assert.match(checked.stderr, /^other\.yaml:11:1: nonsense: /);
      }
      const asData = await ofOther(['check', '--json']);
      assert.deepEqual([asData.code, JSON.parse(asData.stdout).problems[0].path], [78, 'nonsense']);
      writeFileSync(other, `${SMALL}quota: { perUnit: 1000 }\n`);
      const right = await ofOther(['check']);
      assert.deepEqual([right.code, right.stderr], [0, '']);
      const explained = await ofOther(['explain', '--key', 'x', '--style', 'chat', '--body', other]);
      assert.deepEqual([explained.code, explained.stdout], [1, '']);
      assert.match(explained.stderr, /calls are explained by that: `turnpike check` judges \S+other\.yaml/);
      const used = await run('config secret delete MAIN_KEY');
      assert.deepEqual([used.code, used.stderr], [1, 'the configuration uses MAIN_KEY: channels[1].key\n']);
      writeFileSync(join(dir, 'wrong.yaml'), SMALL.replace('free: true', 'fre: true'));
      const wrong = await run('config import wrong.yaml');
      assert.equal(wrong.code, 1);
      assert.match(wrong.stdout, /^gateway\.yaml:9:\d+: models\.demo\.fre: /);
      assert.equal(readFileSync(file, 'utf8'), SMALL);
      writeFileSync(join(dir, 'new.yaml'), SMALL.replace('secret:MAIN_KEY', 'UNSET:-x'));
      assert.equal((await run('config import new.yaml')).stdout, 'version 2 is saved\n');
      assert.equal((await run('config export')).stdout, readFileSync(join(dir, 'new.yaml'), 'utf8'));
      assert.equal((await run('config secret delete MAIN_KEY')).stdout, 'MAIN_KEY is deleted\n');
    } finally {
      await gateway.stop();
    }
  });
});

describe('commands', onlyOnSqlite('a gateway that runs locks its database'), () => {
  for (const [name, section] of [
    ['with a secret in the database', ''],
    ['in the database', 'config: store\n'],
  ] as const) {
    it(`read a configuration ${name} as the gateway does, whether or not it runs`, async () => {
      const dir = mkdtempSync(join(tmpdir(), 'turnpike-commands-'));
      const file = join(dir, 'gateway.yaml');
      const vendor = await fakeVendor(({ headers, method }) => {
        if (headers.authorization !== 'Bearer the-secret-of-main') return errorAnswer(401);
        return method === 'GET' ? jsonAnswer(200, { object: 'list', data: [{ id: 'listed' }] }) : wholeAnswer();
      });
      const run = (line: string, stdin = '') =>
        turnpike([...line.split(' '), '--config', file], { cwd: dir, stdin, env: ROOT_ENV });
      const done = async (line: string): Promise<string> => {
        const { code, stdout, stderr } = await run(line);
        assert.equal(code, 0, `${line}: ${stdout}${stderr}`);
        return stdout;
      };
      const small = SMALL.replace('http://127.0.0.1:9/v1', vendor.url);
      writeFileSync(file, `${section}backup: { to: ./backups }\n${small}`, { mode: 0o600 });
      // It creates the database, and then misses the secret.
      assert.equal((await run('start')).code, 78);
      assert.equal((await run('config secret set MAIN_KEY --value-stdin', 'the-secret-of-main')).code, 0);
      const examined = async (): Promise<void> => {
        assert.match(await done('doctor'), /^ok +channel main: /m);
        assert.match(await done('backup list'), /^turnpike-\S+\.db /m);
        assert.match(await done('upgrade --dry-run'), /nothing was changed/);
      };
      const gateway = await startProcess(file, { cwd: dir, env: ROOT_ENV });
      try {
        const [backup = ''] = (await done('backup now')).split(' ');
        await examined();
        assert.match(await done(`backup prove ${join('backups', backup)}`), /can be restored/);
      } finally {
        await gateway.stop();
      }
      await examined();
      assert.equal(await done('models list main --add'), 'listed\n');
      assert.match(await done('config export'), /^ +listed: \{ from: \[main\] \}$/m);
      await vendor.close();
      rmSync(dir, { recursive: true });
    });
  }
});

describe('workers', onlyOnSqlite('a cluster has no workers'), () => {
  it('get the secrets of the database, and a rotated one, too', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'turnpike-workers-'));
    const file = join(dir, 'gateway.yaml');
    const vendor = await fakeVendor();
    const run = (line: string, stdin = '') =>
      turnpike([...line.split(' '), '--config', file], { cwd: dir, stdin, env: ROOT_ENV });
    const small = SMALL.replace('port: 0', 'port: 0, workers: 2').replace('http://127.0.0.1:9/v1', vendor.url);
    writeFileSync(file, small.replace(' }   # no key', ' }').replace('"${secret:MAIN_KEY}"', 'a'));
    const first = await startProcess(file, { cwd: dir, env: ROOT_ENV });
    const key = (await run('key create --name k --user root --unlimited')).stdout.trim();
    await run('config secret set MAIN_KEY --value-stdin', 'first-secret');
    await first.stop();
    writeFileSync(file, small);
    const gateway = await startProcess(file, { cwd: dir, env: ROOT_ENV });
    try {
      const credential = async (): Promise<string | undefined> => {
        const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
          body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] }),
        });
        assert.equal(answer.status, 200, await answer.text());
        return vendor.requests.at(-1)?.headers.authorization;
      };
      assert.equal(await credential(), 'Bearer first-secret');
      const set = await run('config secret set MAIN_KEY --value-stdin', 'second-secret');
      assert.equal(set.stderr, '');
      for (let call = 0; call < 10; call++) assert.equal(await credential(), 'Bearer second-secret');
    } finally {
      await gateway.stop();
      await vendor.close();
      rmSync(dir, { recursive: true });
    }
  });
});

describe('a configuration in the database', () => {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-stored-'));
  after(() => rmSync(dir, { recursive: true }));
  const start = (more: object = {}): Promise<TestGateway> =>
    startGateway({
      dir,
      env: ROOT_ENV,
      config: { config: 'store', pipeline: CONSOLE_PIPELINE, console: PATIENT, ...more },
    });
  const models = async (gateway: TestGateway, key: string): Promise<readonly string[]> => {
    const answer = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
  };
  let key: string;

  it('is taken over from the file at the first start, without what each gateway needs to open the database', async () => {
    const gateway = await start();
    key = gateway.key;
    try {
      const text = await gateway.command('config export');
      const { listen, store, config, channels } = parse(text);
      assert.deepEqual(
        [listen, store, config, channels],
        [undefined, undefined, undefined, [{ name: 'demo', vendor: 'demo' }]],
      );
      const boss = await checked(gateway, await root(gateway));
      const now = await boss.data('GET', '/api/config');
      assert.deepEqual([now.source, now.path, now.writable], ['store', null, true]);
      const edits = [{ path: ['models', 'second'], value: { from: ['demo'], free: true } }];
      const edited = await boss.data('POST', '/api/config/edit', { text: now.text, edits });
      await boss.data('PUT', '/api/config', { text: edited.text, revision: now.revision });
      assert.deepEqual(await models(gateway, key), ['demo', 'second']);
    } finally {
      await gateway.stop();
    }
  });

  it('is what the next start loads, whatever else the file has', async () => {
    const gateway = await start({ models: {} });
    try {
      assert.deepEqual(await models(gateway, key), ['demo', 'second']);
      const boss = await root(gateway);
      const { warnings } = await boss.data('GET', '/api/config');
      assert.deepEqual(warnings.map(({ path }: { path: string }) => path).sort(), [
        'channels',
        'console',
        'models',
        'pipeline',
      ]);
      const wrong = (await gateway.command('config export')).concat('\nlisten: { port: 1 }\n');
      writeFileSync(join(dir, 'wrong.yaml'), wrong);
      const { code, stdout } = await gateway.tryCommand('config import wrong.yaml');
      assert.equal(code, 1);
      assert.match(stdout, /^configuration:\d+:1: listen: belongs in gateway\.yaml of each gateway/);
    } finally {
      await gateway.stop();
    }
  });
});

const missing = noPostgres();
describe('two gateways with one configuration in the database', { skip: missing ?? false }, () => {
  let server: PostgresServer;
  const dirs = ['a', 'b'].map((name) => mkdtempSync(join(tmpdir(), `turnpike-stored-${name}-`)));
  let gateways: readonly GatewayProcess[] = [];
  before(async () => {
    server = await startPostgres();
    const store = { driver: 'postgres', url: await server.database(), data: './data' };
    const env = { ...ROOT_ENV, TURNPIKE_MASTER_KEY: randomBytes(32).toString('base64') };
    const config = {
      listen: { port: 0 },
      config: 'store',
      store,
      pipeline: CONSOLE_PIPELINE,
      console: PATIENT,
      channels: [{ name: 'main', vendor: 'compatible', url: 'http://127.0.0.1:9/v1', key: '${KEY:-none}' }],
      models: { m: { from: ['main'], free: true } },
    };
    for (const dir of dirs) {
      const file = join(dir, 'gateway.yaml');
      writeFileSync(file, stringify(config));
      gateways = [...gateways, await startProcess(file, { cwd: dir, env })];
    }
  });
  after(async () => {
    for (const gateway of gateways) await gateway.stop();
    server?.remove();
    for (const dir of dirs) rmSync(dir, { recursive: true });
  });

  async function boss(gateway: GatewayProcess): Promise<Visitor> {
    const password = ROOT_ENV.TURNPIKE_ROOT_PASSWORD;
    const person = await visitor(gateway).signIn('root', password);
    await person.data('POST', '/api/verify', { method: 'password', password });
    return person;
  }

  it('let one of two changes win, and both load it', async () => {
    const people = await Promise.all(gateways.map(boss));
    const { text, revision } = await people[0]!.data('GET', '/api/config');
    const answers = await Promise.all(
      people.map((person, i) => person.put('/api/config', { text: `${text}# of ${i}\n`, revision })),
    );
    assert.deepEqual(
      answers.map(said).sort(),
      ['200 ok', '409 configuration_conflict'],
      answers.map((each) => each.text).join(),
    );
    const { revision: won } = answers.find(({ status }) => status === 200)!.body.data;
    for (const person of people) {
      const now = async () => person.data('GET', '/api/config');
      await until('the file is taken over', async () => !(await now()).disk.changed);
      assert.equal((await now()).revision, won);
    }
  });

  it('load a rotated secret that was set at one of them', async () => {
    const people = await Promise.all(gateways.map(boss));
    const generations = async () =>
      Promise.all(people.map(async (person) => (await person.data('GET', '/api/config')).generation as number));
    await people[0]!.data('PUT', '/api/config/secrets/MAIN', { value: 'the first value' });
    const { text, revision } = await people[0]!.data('GET', '/api/config');
    const edits = [{ path: ['channels', 0, 'key'], value: '${secret:MAIN}' }];
    const edited = await people[0]!.data('POST', '/api/config/edit', { text, edits });
    await people[0]!.data('PUT', '/api/config', { text: edited.text, revision });
    await until('the file is taken over', async () => !(await people[1]!.data('GET', '/api/config')).disk.changed);
    const before = await generations();
    await people[0]!.data('PUT', '/api/config/secrets/MAIN', { value: 'the second value' });
    await until('all have loaded it', async () =>
      (await generations()).every((generation, i) => generation > before[i]!),
    );
  });
});
