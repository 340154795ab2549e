/** Three gateways on one database and one Valkey server are exact: a balance, calls at once and calls a minute are those of all together. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, beforeEach, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { CHAOS_PIPELINE } from '../../../scripts/chaos/pipeline.ts';
import { type Cluster, missingForCluster, openCluster } from '../../../scripts/cluster/cluster.ts';
import { ledgerFaults } from '../../kit/gateway/reconcile.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { hold, jsonAnswer } from '../../kit/vendors/script.ts';

/** In currency units, of 500,000 quota each. */
const PRICE = 0.01;
const PRICE_QUOTA = 5_000;

const missing = missingForCluster();
describe('three gateways', { skip: missing.length > 0 && missing.join('; ') }, () => {
  let folder: string;
  let vendor: FakeVendor;
  let cluster: Cluster;
  let agent: Agent;

  const config = (limits: Readonly<Record<string, number>>): string =>
    stringify({
      /* biome-ignore-start lint/suspicious/noTemplateCurlyInString: the gateway fills them in */
      listen: { host: '${LISTEN_HOST}', port: '${PORT}' },
      store: { driver: 'postgres', url: '${DATABASE_URL}', data: '${TURNPIKE_DATA}' },
      counters: { driver: 'valkey', url: '${VALKEY_URL}' },
      /* biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above */
      pipeline: CHAOS_PIPELINE,
      limits,
      channels: [{ name: 'main', vendor: 'compatible', url: vendor.url, key: 'vendor-key', speaks: ['images'] }],
      models: { painter: { from: ['main'], only: ['images'], price: { perImage: PRICE } } },
    });

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-exact-'));
    vendor = await fakeVendor();
    cluster = await openCluster({
      gateways: 3,
      folder,
      config: config({}),
      env: { TURNPIKE_ROOT_PASSWORD: 'a long password' },
    });
    await Promise.all(cluster.gateways.map((gateway) => gateway.start()));
    await cluster.gateways[0]!.command(
      'user create --name buyer --role member --password-stdin',
      'a long enough password',
    );
  });
  after(async () => {
    await cluster.stop();
    await vendor.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  });

  const command = (line: string): Promise<string> => cluster.gateways[0]!.command(line);
  const newKey = (name: string): Promise<string> => command(`key create --name ${name} --user buyer --unlimited`);

  /** So many calls at once, in turns at each gateway; the statuses as they come. */
  function callAtOnce(count: number, key: string, answered: (status: number) => void): Promise<unknown> {
    const body = JSON.stringify({ model: 'painter', prompt: 'a gate', n: 1 });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const once = (port: number): Promise<number> =>
      new Promise((resolve, reject) => {
        request(
          { host: '127.0.0.1', port, agent, method: 'POST', path: '/v1/images/generations', headers },
          (response) => {
            text(response).then(() => resolve(response.statusCode!), reject);
          },
        )
          .on('error', reject)
          .end(body);
      });
    // On a busy machine the store or the counters answer late, and a call gets 503: it is sent again, as clients do.
    const call = async (port: number): Promise<void> => {
      let status = await once(port);
      while (status === 503) status = await once(port);
      answered(status);
    };
    return Promise.all(Array.from({ length: count }, (_, i) => call(cluster.gateways[i % 3]!.port)));
  }

  /** Has the vendor wait until all others are refused: none of the calls that it answers makes room for another one. */
  async function reached(count: number, key: string, name: string): Promise<readonly number[]> {
    vendor.always([hold(name), ...jsonAnswer(200, { created: 1, data: [{ b64_json: 'AAAA' }] })]);
    const before = vendor.requests.length;
    const statuses: number[] = [];
    const all = (): boolean => statuses.length + vendor.requests.length - before === count;
    const over = callAtOnce(count, key, (status) => {
      statuses.push(status);
      if (all()) vendor.release(name);
    });
    // Whichever comes last: a refusal, or a request at the vendor.
    void vendor.waitFor(all, 60_000).then(
      () => vendor.release(name),
      () => vendor.release(name),
    );
    await over;
    assert.equal(vendor.requests.length - before, statuses.filter((status) => status === 200).length);
    return statuses;
  }
  const count = (statuses: readonly number[], status: number): number =>
    statuses.filter((each) => each === status).length;

  /** Waits until every gateway has taken a changed file over. */
  async function reload(limits: Readonly<Record<string, number>>): Promise<void> {
    const reloads = (log: readonly { readonly msg: string }[]): number =>
      log.filter(({ msg }) => msg === 'gateway.yaml was reloaded').length;
    const before = cluster.gateways.map(({ process }) => reloads(process.log));
    writeFileSync(cluster.configFile, config(limits));
    await Promise.all(
      cluster.gateways.map(({ process }, i) => process.logged(() => reloads(process.log) > before[i]!)),
    );
  }

  it('let exactly ten of 2,000 calls at once reach the vendor if the balance pays ten', async () => {
    const key = await newKey('ten');
    await command(`user credit buyer ${10 * PRICE_QUOTA}`);
    const statuses = await reached(2_000, key, 'ten');
    assert.deepEqual([count(statuses, 200), count(statuses, 403)], [10, 1_990]);
    assert.deepEqual(ledgerFaults(cluster.database), []);
  });

  it('let exactly eight of 200 calls at once reach the vendor if the key may make eight', async () => {
    const key = await newKey('eight');
    await command(`user credit buyer ${1_000 * PRICE_QUOTA}`);
    await reload({ concurrent: 8 });
    const statuses = await reached(200, key, 'eight');
    assert.deepEqual([count(statuses, 200), count(statuses, 429)], [8, 192]);
  });

  it('let exactly 30 of 100 calls of one minute reach the vendor if the key may make 30', async () => {
    const key = await newKey('thirty');
    await reload({ requestsPerMinute: 30 });
    const statuses = await reached(100, key, 'thirty');
    assert.deepEqual([count(statuses, 200), count(statuses, 429)], [30, 70]);
    assert.match(await command('reconcile'), /used-is/);
  });
});
