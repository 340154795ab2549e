/** Three gateways on one database, as an administrator sees them at any of them: how each is doing, and what runs in all of them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { CHAOS_PIPELINE } from '../../../scripts/chaos/pipeline.ts';
import { type Cluster, type Member, missingForCluster, openCluster } from '../../../scripts/cluster/cluster.ts';
import { PATIENT, type Visitor, visitor } from '../../kit/console/console.ts';
import { until as eventually } from '../../kit/until.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { hold, wholeAnswer } from '../../kit/vendors/script.ts';

interface Gateway {
  readonly name: string;
  readonly version: string;
  readonly started_at: number;
  readonly self: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: it is compared as it comes
  readonly report: any;
}
interface Call {
  readonly id: string;
  readonly gateway: string | null;
  readonly username: string;
  readonly phase: string;
}

const PASSWORD = 'a long password';
/** More than fit into one notification of PostgreSQL. */
const MANY = 60;

const missing = missingForCluster();
describe('three gateways on one database', { skip: missing.length > 0 && missing.join('; ') }, () => {
  let folder: string;
  let vendor: FakeVendor;
  let cluster: Cluster;
  let key: string;
  /** Signed in at the first one, and known to all. */
  let admins: readonly Visitor[];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-gateways-'));
    vendor = await fakeVendor();
    cluster = await openCluster({
      gateways: 3,
      folder,
      config: stringify({
        /* biome-ignore-start lint/suspicious/noTemplateCurlyInString: the gateway fills them in */
        listen: { host: '${LISTEN_HOST}', port: '${PORT}' },
        store: { driver: 'postgres', url: '${DATABASE_URL}', data: '${TURNPIKE_DATA}' },
        counters: { driver: 'valkey', url: '${VALKEY_URL}' },
        /* biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above */
        pipeline: CHAOS_PIPELINE,
        console: PATIENT,
        channels: [{ name: 'main', vendor: 'compatible', url: vendor.url, key: 'vendor-key', speaks: ['chat'] }],
        models: { m: { from: ['main'], price: { input: 1, output: 2 } } },
      }),
      env: { TURNPIKE_ROOT_PASSWORD: PASSWORD },
    });
    await Promise.all(cluster.gateways.map((gateway) => gateway.start()));
    key = await cluster.gateways[0]!.command('key create --name load --user root --unlimited');
    const first = await visitor(cluster.gateways[0]!).signIn('root', PASSWORD);
    admins = cluster.gateways.map((gateway) => visitor(gateway, {}, Object.fromEntries(first.cookies)));
  });
  after(async () => {
    vendor.release();
    await cluster.stop();
    await vendor.close();
    rmSync(folder, { recursive: true });
  });

  /** Looks until it sees what it waits for: others are known a moment after they joined, and answers are kept for a second. */
  async function until<T>(look: () => Promise<T>, fits: (seen: T) => boolean): Promise<T> {
    const [seen] = await eventually('others are seen', async () => {
      const now = await look();
      return fits(now) && ([now] as const);
    });
    return seen;
  }
  const system = (i: number) => admins[i]!.data('GET', '/api/system');
  const gatewaysAt = async (i: number): Promise<readonly Gateway[]> => (await system(i)).gateways;
  const live = (i: number, own = false): Promise<{ total: number; items: readonly Call[] }> =>
    admins[i]!.data('GET', own ? '/api/log/self/live' : '/api/log/live');
  const portOf = ({ name }: Pick<Gateway, 'name'>): number => Number(name.split(':').at(-1));
  const member = (i: number): Member => cluster.gateways[i]!;
  const isWhole = (gateways: readonly Gateway[]): boolean =>
    gateways.length === 3 && gateways.every(({ report }) => report !== null);

  /** A call at a gateway that lasts until `end`. Resolves when the vendor has it. */
  async function begin(gateway: Member, name: string): Promise<{ end(): Promise<void> }> {
    vendor.always([hold(name), ...wholeAnswer()]);
    const before = vendor.requests.length;
    const answer = fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello?' }] }),
    });
    await vendor.waitFor(() => vendor.requests.length > before);
    return {
      async end() {
        vendor.release(name);
        const response = await answer;
        await response.text();
        assert.equal(response.status, 200);
      },
    };
  }

  it('are listed by each of them in the same order, with what each reports', async () => {
    for (const i of [0, 1, 2]) {
      const gateways = await until(() => gatewaysAt(i), isWhole);
      const own = gateways.find(({ self }) => self)!;
      assert.deepEqual([portOf(own), gateways.filter(({ self }) => self).length], [member(i).port, 1]);
      const names = gateways.map(({ name }) => name);
      assert.deepEqual(names, [...names].sort());
      assert.deepEqual(gateways.map(portOf).sort(), cluster.gateways.map(({ port }) => port).sort());
      for (const { version, started_at: startedS, report } of gateways) {
        assert.equal(version, own.version);
        assert.ok(Math.abs(startedS - Date.now() / 1_000) < 3_600, `${startedS}`);
        assert.deepEqual([report.readiness, report.configuration], ['ready', own.report.configuration]);
        assert.deepEqual(report.counters, { driver: 'valkey', shared: true });
        assert.equal(report.store.writable, true);
        assert.ok(report.memory.rss > report.memory.heap_used && report.memory.heap_used > 1e6, 'memory');
      }
    }
  });

  it('show the calls of all of them, each with its gateway, and count them together', async () => {
    const calls = [await begin(member(0), 'one'), await begin(member(1), 'two'), await begin(member(1), 'three')];
    const running = await until(
      () => live(2),
      ({ total }) => total === 3,
    );
    assert.deepEqual(
      running.items.map(({ gateway, username, phase }) => [portOf({ name: gateway! }), username, phase]),
      [
        [member(1).port, 'root', 'asking'],
        [member(1).port, 'root', 'asking'],
        [member(0).port, 'root', 'asking'],
      ],
      'newest first',
    );
    const own = await live(2, true);
    assert.equal(own.total, 3);
    assert.ok(!('gateway' in own.items[0]!), 'users are not told which machines there are');
    const seen = await until(
      () => system(2),
      ({ in_flight: inFlight }) => inFlight === 3,
    );
    const report = (port: number) => seen.gateways.find((gateway: Gateway) => portOf(gateway) === port).report;
    const counts = cluster.gateways.map(({ port }) => report(port).in_flight);
    assert.deepEqual(counts, [1, 2, 0]);
    const lately = cluster.gateways.map(({ port }) => report(port).calls);
    assert.deepEqual(lately, [1, 2, 0]);
    for (const call of calls) await call.end();
    await until(
      () => live(2),
      ({ total }) => total === 0,
    );
  });

  it('show all calls of another one, however long the list of them is', async () => {
    const calls: { end(): Promise<void> }[] = [];
    for (let i = 0; i < MANY; i++) calls.push(await begin(member(0), `call ${i}`));
    const { items } = await until(
      () => live(1),
      ({ total }) => total === MANY,
    );
    assert.equal(new Set(items.map(({ id }) => id)).size, MANY);
    for (const call of calls) await call.end();
  });

  it('name one that does not answer, and show the rest of what runs', async () => {
    const frozen = member(2);
    const call = await begin(member(1), 'beside');
    await until(() => gatewaysAt(0), isWhole);
    frozen.process.signal('SIGSTOP');
    try {
      const gateways = await until(
        () => gatewaysAt(0),
        (all) => !isWhole(all),
      );
      const silent = gateways.filter(({ report }) => report === null);
      assert.deepEqual(silent.map(portOf), [frozen.port]);
      assert.equal(silent[0]!.version, gateways[0]!.version);
      assert.ok(silent[0]!.started_at > 0);
      assert.equal((await live(0)).total, 1);
    } finally {
      frozen.process.signal('SIGCONT');
    }
    await until(() => gatewaysAt(0), isWhole);
    await call.end();
  });

  it('do not list one that has stopped, and one alone shows none but itself', async () => {
    await member(2).stop();
    const two = await until(
      () => gatewaysAt(0),
      ({ length }) => length === 2,
    );
    assert.deepEqual(two.map(portOf).sort(), [member(0).port, member(1).port].sort());
    await member(1).stop();
    await until(
      () => gatewaysAt(0),
      ({ length }) => length === 1,
    );
    const call = await begin(member(0), 'alone');
    await until(
      () => live(0),
      ({ items }) => items.length === 1 && items[0]!.gateway === null,
    );
    await call.end();
  });
});
