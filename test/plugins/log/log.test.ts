/** The plugin `log`: what a usage record says, and how long it stays. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scanJson, UNLIMITED } from '../../../core/bytes/json-body.ts';
import { Ledger } from '../../../core/contracts/ledger.ts';
import { Records } from '../../../core/contracts/records.ts';
import type { Attempt, Exchange, Known, Usage } from '../../../core/plugin.ts';
import log from '../../../plugins/log/index.ts';
import { type Driven, exchange } from '../../kit/gateway/drive.ts';
import { idAt, usageRecord } from '../../kit/gateway/usage-records.ts';
import { driveWithLedger } from '../with-ledger.ts';

const DAY_MS = 86_400_000;

/** The plugin, with a ledger that has charged every exchange the same. */
function logHost(charged = 0n, keep = '90d'): Promise<Driven> {
  return driveWithLedger([log], {
    sections: { log: { keep } },
    services: () => [[Ledger, { charged: () => charged, isIncluded: () => false }]],
  });
}

async function settle(host: Driven, x: Exchange): Promise<void> {
  const steps = await host.parts[0]!.settle!(x);
  await host.store.atomic(steps ?? []);
}

const rows = (host: Driven): Record<string, unknown>[] =>
  host.store.db.prepare('SELECT *, CAST(charged AS TEXT) AS charged FROM usage_record').all() as never;

const usage: Usage = {
  input: 100,
  cacheRead: 40,
  cacheWrite: 30,
  cacheWriteLong: 20,
  inputAudio: 10,
  output: 50,
  reasoning: 5,
  outputAudio: 4,
  estimated: true,
};
const offer = (channel: string) =>
  ({ channel: { name: channel }, model: 'upstream-m', priced: 'm' }) as Attempt['offer'];
const attempt = (channel: string, facts: Partial<Attempt>): Attempt => ({
  offer: offer(channel),
  startedMs: 0,
  endedMs: undefined,
  firstByteMs: undefined,
  status: undefined,
  failure: undefined,
  reason: undefined,
  retryAfterMs: undefined,
  cut: false,
  ...facts,
});
const ID = idAt(0);
const identity = { key: { id: 7 }, account: { id: 3 } } as Known['identity'];

describe('a usage record', () => {
  it('tells everything about a call that was served', async () => {
    const host = await logHost(2n ** 60n);
    const startedMs = host.clock.now();
    const id = idAt(startedMs);
    host.clock.advance(900);
    await settle(
      host,
      exchange({
        id,
        startedMs,
        identity,
        style: { name: 'chat' } as never,
        call: { model: 'm', stream: true, body: scanJson(Buffer.from('{}'), UNLIMITED) } as never,
        attempts: [
          attempt('a', { startedMs, endedMs: startedMs + 120, status: 503, failure: 'status', reason: 'status 503' }),
          attempt('b', { startedMs: startedMs + 130, endedMs: startedMs + 880, firstByteMs: 70, status: 200 }),
        ],
        served: offer('b'),
        usage,
        outcome: 'served',
        headers: { 'x-request-id': 'mine' },
        notes: { rows: 2 },
      }),
    );
    const { other, place, run_id, ...row } = rows(host)[0]!;
    assert.deepEqual(row, {
      id,
      account_id: 3,
      department_id: 0,
      // It is in the id.
      at_ms: null,
      key_id: 7,
      style: 'chat',
      model: 'm',
      channel: 'b',
      stream: 1,
      outcome: 'served',
      status: 200,
      input: 100,
      cache_read: 40,
      cache_write: 30,
      cache_write_long: 20,
      input_audio: 10,
      output: 50,
      reasoning: 5,
      output_audio: 4,
      input_image: null,
      output_image: null,
      characters: null,
      seconds: null,
      images: null,
      image_size: null,
      image_quality: null,
      uses: null,
      service: null,
      included: 0,
      estimated: 1,
      charged: '1152921504606846976',
      duration_ms: 900,
      first_byte_ms: 200,
      ip: '192.0.2.1',
      repeats: 0,
      route: '',
    });
    assert.deepEqual(JSON.parse(other as string), {
      rows: 2,
      attempts: [
        { channel: 'a', model: 'upstream-m', status: 503, failure: 'status', reason: 'status 503', ms: 120 },
        { channel: 'b', model: 'upstream-m', status: 200, ms: 750 },
      ],
      clientRequestId: 'mine',
    });
  });

  it('tells what is not counted in tokens, and which tokens are images', async () => {
    const host = await logHost();
    const images = { count: 2, size: '1024x1792', quality: 'hd' };
    const used = { ...usage, inputImage: 7, outputImage: 30, characters: 4_096, seconds: 8.47, images };
    await settle(host, exchange({ id: ID, identity, usage: used, outcome: 'served' }));
    const [row] = rows(host);
    assert.deepEqual([row!.input_image, row!.output_image, row!.characters, row!.seconds], [7, 30, 4_096, 8.47]);
    assert.deepEqual([row!.images, row!.image_size, row!.image_quality], [2, '1024x1792', 'hd']);
  });

  it('is kept of a call that was refused before its body had been read', async () => {
    const host = await logHost();
    const x = exchange({ id: ID, identity, outcome: 'refused', status: 413 });
    Object.defineProperty(x, 'call', {
      get() {
        throw new Error('an exchange has no call before `admit`');
      },
    });
    await settle(host, x);
    const row = rows(host)[0]!;
    assert.deepEqual([row.outcome, row.status, row.model, row.channel, row.input], ['refused', 413, '', '', null]);
    assert.equal(row.first_byte_ms, null);
    assert.equal(row.other, '{}');
  });

  it('names the channel that was tried last where none served, and the prefix of bytes that were only carried', async () => {
    const host = await logHost();
    const passthrough = { prefix: '/v1/files' } as never;
    const attempts = [attempt('a', {}), attempt('b', {})];
    await settle(host, exchange({ id: ID, identity, passthrough, attempts, outcome: 'failed', status: 502 }));
    const row = rows(host)[0]!;
    assert.deepEqual([row.channel, row.style, row.outcome], ['b', '/v1/files', 'failed']);
  });

  it('is not made of a stranger', async () => {
    const host = await logHost();
    const x = { ...exchange({ outcome: 'refused', status: 401 }), identity: undefined };
    assert.equal(await host.parts[0]!.settle!(x), undefined);
  });

  it('takes only so much of what a client calls its request, and no time that runs backwards', async () => {
    const host = await logHost();
    const startedMs = host.clock.now() + 5_000;
    await settle(host, exchange({ id: ID, startedMs, identity, headers: { 'x-request-id': 'x'.repeat(10_000) } }));
    const row = rows(host)[0]!;
    assert.equal(JSON.parse(row.other as string).clientRequestId.length, 128);
    assert.equal(row.duration_ms, 0);
  });

  it('is written once: a list that would write it again leaves no trace', async () => {
    const host = await logHost();
    await settle(host, exchange({ id: ID, identity, usage, outcome: 'served' }));
    const again = host.use(Records).steps(usageRecord({ id: ID, accountId: 3, outcome: 'recovered' }));
    await assert.rejects(host.store.atomic(again), /UNIQUE/);
    assert.deepEqual(
      rows(host).map((row) => row.outcome),
      ['served'],
    );
    assert.deepEqual(host.store.db.prepare('SELECT lines, input FROM usage_hour').raw().all(), [[1, 100]]);
  });
});

describe('retention', () => {
  /** Writes `count` records of an account, one millisecond apart. */
  async function write(host: Driven, accountId: number, fromMs: number, count: number): Promise<void> {
    const { steps } = host.use(Records);
    const times = Array.from({ length: count }, (_, i) => fromMs + i);
    await host.store.atomic(times.flatMap((atMs) => steps(usageRecord({ id: idAt(atMs), atMs, accountId }))));
  }
  const counts = (host: Driven): unknown =>
    host.store.db
      .prepare('SELECT account_id, COUNT(*) AS n FROM usage_record GROUP BY account_id ORDER BY account_id')
      .raw()
      .all();

  it('forgets what is older than it says, of every account, every hour', async () => {
    const host = await logHost(0n, '2d');
    const nowMs = host.clock.now();
    await write(host, 0, nowMs, 3);
    await write(host, 2, nowMs, 1_200);
    await write(host, 2, nowMs + DAY_MS, 10);
    await write(host, 9, nowMs, 500);
    await host.start();
    host.clock.advance(2 * DAY_MS);
    await host.stop();
    assert.deepEqual(counts(host), [
      [0, 3],
      [2, 1_210],
      [9, 500],
    ]);
    await host.start();
    host.clock.advance(3_600_000);
    while (host.store.db.prepare('SELECT 1 FROM usage_record WHERE account_id = 9').get() !== undefined) await turn();
    assert.deepEqual(counts(host), [[2, 10]]);
    await host.stop();
  });

  it('stops between two bites', async () => {
    const host = await logHost(0n, '1d');
    await write(host, 1, host.clock.now(), 1_600);
    host.clock.advance(2 * DAY_MS);
    await host.start();
    const { run } = host.store;
    let stopped: Promise<void> | undefined;
    Object.assign(host.store, {
      run: (...statement: Parameters<typeof run>) => {
        stopped ??= host.stop();
        return run(...statement);
      },
    });
    host.clock.advance(3_600_000);
    while (stopped === undefined) await turn();
    await stopped;
    assert.deepEqual(counts(host), [[1, 1_100]]);
  });

  it('goes on at the next hour after the store has failed', async () => {
    const host = await logHost(0n, '1d');
    await write(host, 1, host.clock.now(), 1);
    host.clock.advance(2 * DAY_MS);
    await host.start();
    host.store.db.exec('ALTER TABLE usage_row RENAME TO elsewhere');
    host.clock.advance(3_600_000);
    for (let i = 0; i < 10; i++) await turn();
    host.store.db.exec('ALTER TABLE elsewhere RENAME TO usage_row');
    assert.deepEqual(counts(host), [[1, 1]]);
    host.clock.advance(3_600_000);
    for (let i = 0; i < 10; i++) await turn();
    assert.deepEqual(counts(host), []);
    await host.stop();
  });
});

/** Lets everything that is ready run. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
