/**
 * Three gateways behind a balancer are restarted one after the other with a version that changes tables, under load: no call fails that a
 * client library does not retry by itself, no stream is cut, and versions that cannot work side by side never do.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { stringify } from 'yaml';
import { CHAOS_PIPELINE } from '../../../scripts/chaos/pipeline.ts';
import { type Balancer, startBalancer } from '../../../scripts/cluster/balancer.ts';
import { type Cluster, type Member, missingForCluster, openCluster } from '../../../scripts/cluster/cluster.ts';
import { freePort } from '../../../scripts/free-port.ts';
import { CHAT_DELTAS, chatEvents } from '../../kit/gateway/fixtures.ts';
import { ledgerFaults } from '../../kit/gateway/reconcile.ts';
import { readRows } from '../../kit/gateway/rows.ts';
import { until as eventually } from '../../kit/until.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { eventStream, hold, wholeAnswer } from '../../kit/vendors/script.ts';

/** What a plugin outside the checkout has done to its tables from version to version. */
const MIGRATIONS = [
  {
    id: 1,
    title: 'calls',
    sql: ['CREATE TABLE tally (one INTEGER NOT NULL PRIMARY KEY, calls INTEGER NOT NULL DEFAULT 0) STRICT'],
  },
  {
    id: 2,
    title: 'answers, in the place of calls',
    sql: ['ALTER TABLE tally ADD COLUMN answers INTEGER NOT NULL DEFAULT 0'],
    compatibleFrom: 1,
  },
  {
    id: 3,
    title: 'without calls',
    sql: ['UPDATE tally SET answers = answers + calls', 'ALTER TABLE tally DROP COLUMN calls'],
    compatibleFrom: 2,
  },
] as const;
type Version = 1 | 2 | 3;

/** It counts the answers that were served, from its second version on in another column. */
const plugin = (version: Version): string => `
const column = '${version === 1 ? 'calls' : 'answers'}';
const sql = \`INSERT INTO tally (one, \${column}) VALUES (1, 1) ON CONFLICT (one) DO UPDATE SET \${column} = tally.\${column} + 1\`;
export default {
  name: 'tally',
  api: 2,
  migrations: ${JSON.stringify(MIGRATIONS.slice(0, version))},
  create: () => ({ settle: (x) => (x.outcome === 'served' ? [{ sql }] : undefined) }),
};
`;

/** Clients that call without a pause, whole answers through the balancer; what fails in spite of the retries of the library is kept. */
const CLIENTS = 6;
/** So many calls show that the others serve while one does not. */
const ENOUGH = 30;

const missing = missingForCluster();
describe('three gateways that are restarted one after the other', {
  skip: missing.length > 0 && missing.join('; '),
}, () => {
  let folder: string;
  let vendor: FakeVendor;
  let cluster: Cluster;
  let balancer: Balancer;
  let key: string;
  /** Answers that were complete at their client. */
  let served = 0;
  const failures: unknown[] = [];
  let isLoaded = false;
  let load: Promise<unknown> = Promise.resolve();
  let rounds = 0;

  const config = (more: object = {}): string =>
    stringify({
      /* biome-ignore-start lint/suspicious/noTemplateCurlyInString: the gateway fills them in */
      listen: { host: '${LISTEN_HOST}', port: '${PORT}', drain: '2m' },
      store: { driver: 'postgres', url: '${DATABASE_URL}', data: '${TURNPIKE_DATA}' },
      /* biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above */
      pipeline: [...CHAOS_PIPELINE, './tally.mjs'],
      channels: [{ name: 'main', vendor: 'compatible', url: vendor.url, key: 'vendor-key', speaks: ['chat'] }],
      models: { m: { from: ['main'], price: { input: 1, output: 2 } } },
      ...more,
    });
  /** What the next start takes; a gateway that runs has its version in memory. */
  const install = (version: Version): void => writeFileSync(join(folder, 'tally.mjs'), plugin(version));

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-rolling-'));
    vendor = await fakeVendor();
    cluster = await openCluster({
      gateways: 3,
      folder,
      config: config(),
      env: { TURNPIKE_ROOT_PASSWORD: 'a long password' },
    });
    install(1);
    await Promise.all(cluster.gateways.map((gateway) => gateway.start()));
    key = await cluster.gateways[0]!.command('key create --name load --user root --unlimited');
    mkdirSync(join(folder, 'balancer'));
    const gateways = cluster.gateways.map(({ port }) => port);
    balancer = await startBalancer({ port: await freePort(), gateways, folder: join(folder, 'balancer') }, 'node');
  });
  after(async () => {
    await cluster.stop();
    await balancer.stop();
    await vendor.close();
    rmSync(folder, { recursive: true });
  });
  afterEach(async () => {
    vendor.release(round());
    rounds++;
    isLoaded = false;
    await load;
  });

  const round = (): string => `round ${rounds}`;
  // More retries than usual: on a busy machine, the balancer's health checks are late.
  const client = (url: string): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 6 });

  async function until(condition: () => boolean): Promise<void> {
    await eventually(`${round()} goes on`, condition);
  }

  /** Has the clients begin. They end with the test. */
  function beginLoad(): void {
    isLoaded = true;
    vendor.always(({ json }) => {
      if (json.stream !== true) return wholeAnswer();
      const events = chatEvents();
      return eventStream([...events.slice(0, 3), hold(round()), ...events.slice(3)]);
    });
    const openai = client(balancer.url);
    const loop = async (): Promise<void> => {
      while (isLoaded) {
        await openai.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'Hello?' }] }).then(
          () => served++,
          (error: unknown) => failures.push(error),
        );
      }
    };
    load = Promise.all(Array.from({ length: CLIENTS }, loop));
  }

  async function moreCalls(): Promise<void> {
    const enough = served + ENOUGH;
    await until(() => served >= enough || failures.length > 0);
  }

  /** A stream that goes on until its round is over. Resolves when it has begun, with what it will have said. */
  async function openStream(url: string): Promise<{ readonly text: Promise<string> }> {
    const stream = await client(url).chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: 'Hello?' }],
      stream: true,
    });
    const read = async (): Promise<string> => {
      let text = '';
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
      served++;
      return text;
    };
    const text = read();
    text.catch((error: unknown) => failures.push(error));
    return { text };
  }

  /** Restarts a gateway with another version, as its supervisor would: streams run on it, and calls go on meanwhile. */
  async function restart(gateway: Member, version: Version): Promise<void> {
    const urls = [gateway.url, gateway.url, balancer.url, balancer.url];
    const streams = await Promise.all(urls.map(openStream));
    const stopped = gateway.stop();
    await gateway.process.logged(({ msg }) => msg === 'waiting for running calls');
    await moreCalls();
    vendor.release(round());
    for (const { text } of streams) assert.equal(await text, CHAT_DELTAS.join(''));
    await stopped;
    rounds++;
    install(version);
    await gateway.start();
    await moreCalls();
  }

  async function restartAll(version: Version): Promise<void> {
    for (const gateway of cluster.gateways) await restart(gateway, version);
  }

  /** Ends the load, and counts everything again. */
  async function verify(): Promise<void> {
    isLoaded = false;
    await load;
    assert.deepEqual(failures, []);
    const [tally, records] = readRows(
      cluster.database,
      'SELECT * FROM tally',
      "SELECT COUNT(*) AS calls, COUNT(DISTINCT id) AS ids FROM usage_record WHERE outcome = 'served' AND charged > 0",
    );
    const { calls = 0, answers = 0 } = tally![0]!;
    assert.equal(Number(calls) + Number(answers), served);
    assert.deepEqual(records, [{ calls: served, ids: served }]);
    assert.equal(vendor.requests.length, served, 'no vendor was asked twice');
    assert.deepEqual(ledgerFaults(cluster.database), []);
    assert.match(await cluster.gateways[0]!.command('reconcile'), /used-is/);
    for (const { process } of cluster.gateways) {
      assert.deepEqual(process.complaints, []);
      assert.ok(!process.log.some(({ msg }) => msg === 'a request could not be settled'));
      // All have one file, and those that run have taken it over.
      assert.ok(!process.log.some(({ msg }) => msg.includes('run with a different gateway.yaml')));
    }
  }

  it('serve every call and every stream while a new version expands the tables', async () => {
    beginLoad();
    await restartAll(2);
    await verify();
  });

  it('may be of the version before on expanded tables: it starts, serves and takes its configuration over', async () => {
    const last = cluster.gateways[2]!;
    beginLoad();
    await restart(last, 1);
    writeFileSync(cluster.configFile, config({ limits: { concurrent: 1_000 } }));
    await Promise.all(
      cluster.gateways.map(({ process }) => process.logged(({ msg }) => msg === 'gateway.yaml was reloaded')),
    );
    await moreCalls();
    await verify();
  });

  it('do not take away what the version before still uses, and go on', async () => {
    const [first, , last] = cluster.gateways as readonly [Member, Member, Member];
    beginLoad();
    await first.stop();
    install(3);
    await assert.rejects(
      first.start(),
      /migration 3 of \\?"tally\\?" \(without calls\) changes what gateways of an older version on this database still use/,
    );
    await moreCalls();
    install(2);
    await first.start();
    await restart(last, 2);
    await verify();
  });

  it('serve every call and every stream while a new version takes away what nobody uses any more', async () => {
    beginLoad();
    await restartAll(3);
    await verify();
    assert.deepEqual(
      readRows(cluster.database, 'SELECT * FROM tally')[0]!.map((row) => Object.keys(row)),
      [['one', 'answers']],
    );
    const [first] = cluster.gateways as readonly [Member];
    await first.stop();
    install(1);
    await assert.rejects(first.start(), /the tables of \\?"tally\\?" were created by a newer version \(migration 3\)/);
  });
});
