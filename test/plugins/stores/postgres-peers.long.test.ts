/** Processes that share one PostgreSQL database: who is there, who leads, what they say to each other, and what becomes of one that is cut off. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { type ClusterPeers, joinPeers } from '../../../core/cluster/peers.ts';
import { requireCompatiblePeers, tellKnownTables } from '../../../core/cluster/tables.ts';
import type { Json, Log, Migration, OpenStore } from '../../../core/plugin.ts';
import { StoreUnavailable } from '../../../core/plugin.ts';
import { systemClock } from '../../../core/runtime/clock.ts';
import driver from '../../../plugins/stores/postgres/index.ts';
import { defaultConfig } from '../../kit/gateway/gateway.ts';
import { startProcess } from '../../kit/gateway/process.ts';
import { noPostgres, type PostgresServer, startPostgres } from '../../kit/stand-ins/postgres.ts';
import { until as eventually } from '../../kit/until.ts';
import { cutBefore } from '../../kit/vendors/cut.ts';

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };
const missing = noPostgres();
if (missing !== undefined) it('PostgreSQL', { skip: missing }, () => {});
else tests();

const until = (look: () => boolean | Promise<boolean>) => eventually('the peers have heard', look);

function tests(): void {
  let server: PostgresServer;
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-peers-'));
  const stores: OpenStore[] = [];
  before(async () => {
    server = await startPostgres();
  });
  after(async () => {
    await Promise.all(stores.map((store) => store.close()));
    server.remove();
    rmSync(folder, { recursive: true });
  });

  /** A process on a database. */
  async function start(
    url: string,
    epoch: string,
  ): Promise<{ store: OpenStore; peers: ClusterPeers; ended: Promise<Error> }> {
    const settings = { url, pool: 2, statementTimeout: '10s' };
    const store = await driver.open({ file: join(folder, epoch), settings, log: silent });
    stores.push(store);
    let end = (_: Error): void => {};
    const ended = new Promise<Error>((resolve) => {
      end = resolve;
    });
    const facts = { epoch, name: epoch, version: '1', config: 'same' };
    const peers = await joinPeers(store.join!, facts, { clock: systemClock, log: silent, ended: end });
    return { store, peers, ended };
  }

  describe('processes that share a database', () => {
    it('know of each other, and the one that came first leads until it leaves', async () => {
      const url = await server.database();
      const first = await start(url, 'first');
      assert.equal(first.peers.leads(), true);
      const second = await start(url, 'second');
      assert.deepEqual(await first.peers.alive(), new Set(['first', 'second']));
      assert.deepEqual([first.peers.count, second.peers.count], [2, 2]);
      assert.deepEqual([first.peers.leads(), second.peers.leads()], [true, false]);
      const left: string[] = [];
      second.peers.onLeft((epoch) => left.push(epoch));
      const last = first.store.run('CREATE TABLE mark (id INTEGER NOT NULL PRIMARY KEY)');
      await first.store.close();
      await last;
      await until(() => left.length > 0);
      assert.deepEqual(left, ['first']);
      assert.equal(second.peers.leads(), true);
      assert.deepEqual(await second.store.all('SELECT id FROM mark'), []);
      assert.deepEqual(await second.peers.alive(), new Set(['second']));
    });

    it('tell each other short and long messages, in their order, and nobody hears itself', async () => {
      const url = await server.database();
      const [here, there] = [await start(url, 'here'), await start(url, 'there')];
      const heard: [Json, string][] = [];
      here.peers.on('news', () => assert.fail('it heard itself'));
      there.peers.on('news', (message, epoch) => void heard.push([message, epoch]));
      const messages = [1, 'ä'.repeat(20_000), { two: 2 }, 'x'.repeat(7_400), null, [3]];
      for (const message of messages) here.peers.tell('news', message);
      await until(() => heard.length === messages.length);
      assert.deepEqual(
        heard,
        messages.map((message) => [message, 'here']),
      );
    });

    it('answer each other, and who does not keeps nobody waiting', async () => {
      const url = await server.database();
      const [asker, ...others] = [await start(url, 'a'), await start(url, 'b'), await start(url, 'c')];
      await asker.peers.alive();
      assert.deepEqual(await asker.peers.ask('nobody listens', 1), []);
      for (const { peers } of others) {
        peers.on('double', async (message, epoch) => `${Number(message) * 2} for ${epoch}`);
        peers.on('fail', () => Promise.reject(new Error('no')));
      }
      assert.deepEqual(await asker.peers.ask('double', 21), ['42 for a', '42 for a']);
      assert.deepEqual(await asker.peers.ask('fail', 1), []);
      const long = (await Promise.all(Array.from({ length: 20 }, (_, i) => asker.peers.ask('double', i)))).flat();
      assert.equal(long.length, 40);
    });

    it('send long answers to the one that asked, and know who gave none', async () => {
      const url = await server.database();
      const [asker, listener, mute] = [await start(url, 'a'), await start(url, 'b'), await start(url, 'c')];
      await asker.peers.alive();
      listener.peers.on('long', () => 'x'.repeat(20_000));
      mute.peers.on('long', () => undefined);
      const { answers, silent: without } = await asker.peers.poll('long', 1, 60_000);
      assert.deepEqual([answers, without], [['x'.repeat(20_000)], ['c']]);
      const processes = await asker.peers.processes();
      assert.deepEqual(
        processes.map(({ joinedMs, ...facts }) => [facts, joinedMs > 0]),
        ['a', 'b', 'c'].map((epoch) => [{ epoch, name: epoch, version: '1', config: 'same' }, true]),
      );
    });

    it('let nobody change tables under one that cannot work with the change, and wait for who does not answer', async () => {
      const url = await server.database();
      const { peers: here } = await start(url, 'here');
      const { peers: there } = await start(url, 'there');
      const owner = (...ids: readonly number[]) => ({ name: 'shells', migrations: ids.map((id) => migration(id)) });
      const migration = (id: number, compatibleFrom?: number): Migration => ({
        id,
        title: 'their colours',
        sql: [],
        ...(compatibleFrom !== undefined && { compatibleFrom }),
      });
      const change = (pending: Migration, upgrade = true): Promise<void> =>
        requireCompatiblePeers(here, [{ owner: 'shells', migration: pending, upgrade }], {
          clock: systemClock,
          log: silent,
        });
      // Nobody has to be asked.
      await change(migration(3, 0));
      await change(migration(3), false);
      const answers = change(migration(3, 2));
      setImmediate(() => tellKnownTables(there, [owner(1, 2)]));
      await answers;
      await change(migration(3, 1));
      await assert.rejects(
        change(migration(3)),
        /migration 3 of "shells" \(their colours\) changes what gateways of an older/,
      );
      await assert.rejects(change(migration(4, 3)), /changes what gateways of an older version/);
      tellKnownTables(there, [owner(1, 2, 3)]);
      await change(migration(3));
      await change(migration(4, 3));
      tellKnownTables(there, []);
      await change(migration(4));
    });

    it('give up who is cut off: it stops by itself before, and whatever it writes afterwards is refused', async () => {
      const url = await server.database();
      const way = await cutBefore(server.port);
      const leader = await start(url, 'leader');
      const victim = await start(url.replace(`:${server.port}/`, `:${way.port}/`), 'victim');
      const left: string[] = [];
      leader.peers.onLeft((epoch) => left.push(epoch));
      await victim.store.run('CREATE TABLE note (id INTEGER NOT NULL PRIMARY KEY)');
      way.close();
      const given = until(() => left.length > 0);
      await until(() => victim.store.pressure().oldestMs === Infinity);
      await given;
      assert.deepEqual(left, ['victim']);
      assert.deepEqual(await leader.peers.alive(), new Set(['leader']));
      assert.equal(victim.peers.leads(), false);
      way.open();
      assert.match((await victim.ended).message, /removed this process/);
      await assert.rejects(victim.store.run('INSERT INTO note (id) VALUES (1)'), StoreUnavailable);
      assert.deepEqual(await server.query(url, 'SELECT id FROM note'), []);
      await victim.store.close();
      await way.remove();
    });

    it('end with an error where they were stopped for too long, and the others go on', async () => {
      const url = await server.database();
      const starting = (name: string) => {
        const file = join(folder, `${name}.yaml`);
        const store = { driver: 'postgres', url, data: `./${name}` };
        writeFileSync(file, stringify({ ...defaultConfig([]), store }));
        return startProcess(file, { env: { TURNPIKE_MASTER_KEY: '0'.repeat(64) } });
      };
      const frozen = await starting('frozen');
      const healthy = await starting('healthy');
      frozen.signal('SIGSTOP');
      await healthy.logged(({ msg }) => msg === 'removed a process that did not renew its lease', 60_000);
      frozen.signal('SIGCONT');
      const { code } = await frozen.ended;
      assert.equal(code, 1);
      assert.ok(frozen.log.some(({ msg }) => msg === 'the gateway cannot continue: start it again'));
      assert.equal((await fetch(`${healthy.url}/readyz`)).status, 200);
      await healthy.stop();
      assert.deepEqual(await server.query(url, 'SELECT epoch FROM store_process'), []);
    });
  });
}
