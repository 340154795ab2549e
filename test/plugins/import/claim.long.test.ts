/** Imports that begin at once, of several processes on one store: one of them runs, and one that is silent is given up. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Log, Store } from '../../../core/plugin.ts';
import { claimImport } from '../../../plugins/import/claim.ts';
import driver from '../../../plugins/stores/postgres/index.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { defaultConfig, startGateway, type TestGateway, testStore } from '../../kit/gateway/gateway.ts';
import { isOnPostgres } from '../../kit/stand-ins/postgres.ts';
import { until } from '../../kit/until.ts';

let gateway: TestGateway;
/** One for each process; SQLite has one process that writes. */
let stores: readonly Store[];
let close = async (): Promise<void> => {};

before(async () => {
  const { pipeline } = defaultConfig([]);
  gateway = await startGateway({ config: { pipeline: [...(pipeline as string[]), 'departments', 'import'] } });
  stores = [gateway.host.store, gateway.host.store];
  if (!isOnPostgres()) return;
  const { address } = await testStore(gateway.dir);
  const log: Log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };
  const settings = { url: address, pool: 2, statementTimeout: '10s' };
  const other = await driver.open({ file: join(gateway.dir, 'other'), settings, log });
  stores = [gateway.host.store, other];
  close = () => other.close();
});
after(async () => {
  await close();
  await gateway.stop();
});

/** An import of a process: its clock moves its signs. */
interface Importer {
  readonly clock: FakeClock;
  readonly errors: string[];
  readonly begun: Promise<{ readonly end?: () => Promise<void>; readonly code?: string }>;
}

/** Begins one. */
function begin(i: number): Importer {
  const clock = fakeClock();
  const errors: string[] = [];
  const log: Log = { debug() {}, info() {}, warn() {}, error: (message) => void errors.push(message), hide() {} };
  const begun = claimImport({ store: stores[i % stores.length]!, clock, log }).then(
    (end) => ({ end }),
    (error: { readonly code: string }) => ({ code: error.code }),
  );
  return { clock, errors, begun };
}

/** All of them, once each runs or is refused. Those in `living` give signs until then. */
async function settled(importers: readonly Importer[], living: readonly Importer[] = importers) {
  let all: readonly Awaited<Importer['begun']>[] | undefined;
  const done = Promise.all(importers.map(({ begun }) => begun)).then((each) => {
    all = each;
  });
  await until('each import runs or is refused', () => {
    for (const { clock } of living) clock.advance(1_000);
    return all !== undefined;
  });
  await done;
  return all!;
}

const refused = (all: readonly { readonly code?: string }[]) => all.filter(({ code }) => code === 'import_running');

describe('imports that begin at once', () => {
  it('are one: all others are refused, and the next one begins when it has ended', async () => {
    const all = await settled([0, 1, 2, 3].map(begin));
    assert.equal(refused(all).length, 3);
    await all.find(({ end }) => end !== undefined)!.end!();
    const [next] = await settled([begin(1)]);
    await next!.end!();
    assert.deepEqual(await gateway.host.store.all('SELECT id FROM import_claim'), []);
  });

  it('take the place of a silent one only once, and it does not end theirs', async () => {
    const silent = begin(0);
    const { end } = await silent.begun;
    const waiting = [1, 0].map(begin);
    const all = await settled(waiting);
    assert.equal(refused(all).length, 1);
    const taken = all.findIndex((each) => each.end !== undefined);
    silent.clock.advance(1_000);
    await until('the silent one has noticed it', () => silent.errors.length > 0);
    assert.match(silent.errors[0]!, /another import was begun/);
    await end!();
    const late = begin(1);
    assert.equal(refused(await settled([late], [waiting[taken]!])).length, 1);
    await all[taken]!.end!();
    assert.deepEqual(await gateway.host.store.all('SELECT id FROM import_claim'), []);
  });
});
