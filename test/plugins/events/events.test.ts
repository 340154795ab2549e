/** The plugin `events`: each settled call once, signed, again after a failure, and never more in memory than it may have. */
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createDelivery, type Destination, Refused } from '../../../plugins/events/delivery.ts';
import { files } from '../../../plugins/events/destinations.ts';
import events from '../../../plugins/events/index.ts';
import { type Receiver, startReceiver } from '../../kit/clients/receiver.ts';
import { fakeClock, isOfThisRun } from '../../kit/gateway/clock.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

const PIPELINE = [...(defaultConfig([]).pipeline as string[]), 'events'];
const DAY_MS = 86_400_000;

// biome-ignore lint/suspicious/noExplicitAny: events are looked into at single places
type Anything = any;

/** Calls of a gateway that sends its events somewhere; it has stopped afterwards. */
async function call(
  vendor: FakeVendor,
  section: object,
  calls: (gateway: TestGateway) => Promise<void>,
): Promise<TestGateway> {
  const gateway = await startGateway({ vendor, config: { pipeline: PIPELINE, events: section } });
  try {
    await calls(gateway);
  } finally {
    await gateway.stop();
  }
  return gateway;
}

describe('usage events', () => {
  let vendor: FakeVendor;
  let receiver: Receiver;
  let folder: string;
  before(async () => {
    vendor = await fakeVendor();
    receiver = await startReceiver();
    folder = mkdtempSync(join(tmpdir(), 'turnpike-events-'));
  });
  after(async () => {
    await vendor.close();
    await receiver.close();
    rmSync(folder, { recursive: true });
  });
  const received = (): readonly Anything[] =>
    receiver.received.flatMap(
      ({ method, body }) => (method === 'POST' ? JSON.parse(String(body)).events : []) as Anything[],
    );

  it('have what the usage record has, of served and of refused calls, and no content', async () => {
    let units = 0;
    await call(vendor, { webhook: { url: `${receiver.url}/hook`, headers: { 'x-from': 'here' } } }, async (gateway) => {
      await (await gateway.chat({ stream: true })).text();
      await (await gateway.chat({ model: 'nobody-has-it' })).text();
      await (await gateway.chat({}, { key: 'sk-unknown' })).text();
      units = Number(gateway.rows('SELECT charged FROM usage_record WHERE charged > 0')[0]!.charged);
    });
    const [served, refused, unknown] = received();
    const { id, started, duration_ms, first_byte_ms, attempts, ...same } = served;
    assert.match(id, /^\w{26}$/);
    assert.ok(isOfThisRun(Date.parse(started)));
    assert.ok(duration_ms >= 0 && first_byte_ms >= 0 && attempts[0].duration_ms >= 0);
    assert.deepEqual(same, {
      type: 'call',
      version: 1,
      account: { id: 1, name: 'root' },
      key: { id: 1, name: same.key.name },
      ip: '127.0.0.1',
      path: '/v1/chat/completions',
      style: 'chat',
      model: 'test-model',
      stream: true,
      outcome: 'served',
      status: 200,
      channel: 'main',
      upstream_model: 'test-model',
      usage: same.usage,
      charged: { quota: String(units / 1e6), currency: units / 1e6 / 500_000 },
    });
    assert.deepEqual([same.usage.input, same.usage.output], [11, 7]);
    assert.deepEqual(
      [refused.outcome, refused.status, refused.code, refused.charged.quota],
      ['refused', 404, 'model_not_found', '0'],
    );
    assert.deepEqual([unknown.status, unknown.account, unknown.key], [401, undefined, undefined]);
    assert.equal(received().length, 3);
    assert.doesNotMatch(String(receiver.received[0]!.body), /Hello|from the vendor/);
    assert.equal(receiver.received[0]!.headers['x-from'], 'here');
    assert.equal(receiver.received[0]!.headers['x-turnpike-signature'], undefined);
  });

  it('are signed with the secret, their time included', async () => {
    const secret = 'the secret of the webhook';
    await call(vendor, { webhook: { url: receiver.url, secret } }, async (gateway) => {
      await (await gateway.chat({})).text();
    });
    const { headers, body } = receiver.received.at(-1)!;
    const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-turnpike-signature'])) ?? [];
    assert.equal(signature, createHmac('sha256', secret).update(`${time}.${body}`).digest('hex'));
    assert.ok(isOfThisRun(Number(time) * 1_000));
  });

  it('are lines of a file, which belongs to the user of the gateway alone', async () => {
    await call(vendor, { file: { folder } }, async (gateway) => {
      for (let i = 0; i < 3; i++) await (await gateway.chat({})).text();
    });
    const [name = '', ...others] = readdirSync(folder);
    assert.deepEqual(others, []);
    assert.match(name, /^calls-\d{4}-\d{2}-\d{2}\.jsonl$/);
    const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).outcome),
      ['served', 'served', 'served'],
    );
  });

  it('are objects of a bucket, signed as S3 requires', async () => {
    const s3 = {
      url: `${receiver.url}/bucket`,
      region: 'eu-central-1',
      accessKey: 'AKIDEXAMPLE',
      secretKey: 'a secret key of s3',
    };
    await call(vendor, { s3 }, async (gateway) => {
      for (let i = 0; i < 2; i++) await (await gateway.chat({})).text();
    });
    const { method, path, headers, body } = receiver.received.at(-1)!;
    assert.equal(method, 'PUT');
    assert.match(path, /^\/bucket\/turnpike\/\d{4}\/\d{2}\/\d{2}\/\d{2}-\d{2}-\d{2}-[0-9a-f-]{36}\.jsonl$/);
    assert.equal(String(body).trimEnd().split('\n').length, 2);
    assert.equal(headers.authorization, signatureOf(receiver.received.at(-1)!, s3));
  });

  it('are not of calls that were not settled', async () => {
    const parts = (await events.create(
      {
        log: { hide() {} },
        fetch,
        clock: fakeClock(),
        store: { atomic: async () => undefined },
        find: () => undefined,
      } as never,
      { events: { webhook: { url: receiver.url, secret: '', headers: {} }, queue: 100 } } as never,
    )) as Required<Anything>;
    const before = received().length;
    const x = (id: string) => ({ id, startedMs: 0, attempts: [], notes: {}, status: 200, ip: '', path: '/' });
    parts.settle(x('one'));
    parts.settle(x('two'));
    parts.unsettled(x('one'));
    await parts.stop();
    assert.deepEqual(
      received()
        .slice(before)
        .map(({ id }) => id),
      ['two'],
    );
  });

  it('are not made without the section', async () => {
    assert.deepEqual(await events.create({} as never, { events: { queue: 100 } } as never), {});
  });
});

/** The signature of a request (AWS Signature Version 4), made from its documentation. */
function signatureOf(
  { method, path, headers, body }: Receiver['received'][number],
  { accessKey, secretKey, region }: { readonly accessKey: string; readonly secretKey: string; readonly region: string },
): string {
  const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
  const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();
  const time = String(headers['x-amz-date']);
  const day = time.slice(0, 8);
  const [, names = ''] = /SignedHeaders=([^,]+)/.exec(String(headers.authorization)) ?? [];
  assert.ok(names.split(';').includes('host') && names.split(';').includes('x-amz-date'), names);
  const hash = String(headers['x-amz-content-sha256']);
  assert.ok(hash === 'UNSIGNED-PAYLOAD' || hash === sha256(body), hash);
  const signed = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, path, '', signed.join(''), names, hash].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = ['s3', 'aws4_request'].reduce(hmac, hmac(hmac(`AWS4${secretKey}`, day), region));
  const signature = hmac(key, text).toString('hex');
  return `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
}

describe('the delivery of events', () => {
  /** A destination whose answers a test decides. */
  function opened(most = 10) {
    const clock = fakeClock();
    const warnings: Anything[] = [];
    const log = { warn: (_: string, facts: object) => void warnings.push(facts) };
    const batches: (readonly string[])[] = [];
    const failures: (Error | undefined)[] = [];
    const destination: Destination = {
      name: 'test',
      atOnce: 3,
      waitMs: 1_000,
      async deliver(batch) {
        batches.push(batch);
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
      },
    };
    const delivery = createDelivery(destination, most, { clock, log } as never);
    const advance = async (ms: number): Promise<void> => {
      clock.advance(ms);
      await setImmediate();
    };
    return { delivery, batches, failures, warnings, advance };
  }

  it('waits for other events, but not if there are enough', async () => {
    const { delivery, batches, advance } = opened();
    delivery.add('1');
    await advance(999);
    assert.deepEqual(batches, []);
    await advance(1);
    assert.deepEqual(batches, [['1']]);
    for (const event of ['2', '3', '4']) delivery.add(event);
    await setImmediate();
    assert.deepEqual(batches, [['1'], ['2', '3', '4']]);
  });

  it('tries again after 1 s, 2 s, 4 s …, in the order of the events', async () => {
    const { delivery, batches, failures, warnings, advance } = opened();
    failures.push(new Error('away'), new Error('away'), new Error('away'));
    for (const event of ['1', '2', '3']) delivery.add(event);
    await setImmediate();
    delivery.add('4');
    for (const ms of [999, 1_999, 3_999]) {
      const { length } = batches;
      await advance(ms);
      assert.equal(batches.length, length);
      await advance(1);
      assert.equal(batches.length, length + (ms === 3_999 ? 2 : 1));
    }
    assert.deepEqual(batches.slice(-2), [['1', '2', '3'], ['4']]);
    assert.equal(warnings.length, 1);
  });

  it('drops a batch that is refused, and goes on', async () => {
    const { delivery, batches, failures, warnings } = opened();
    failures.push(new Refused('too large'));
    for (const event of ['1', '2', '3', '4', '5', '6']) delivery.add(event);
    await setImmediate();
    assert.deepEqual(batches, [
      ['1', '2', '3'],
      ['4', '5', '6'],
    ]);
    assert.deepEqual([warnings[0].dropped, warnings.length], [3, 1]);
  });

  it('has at most so many events in memory, and counts what it drops', async () => {
    const { delivery, batches, failures, warnings, advance } = opened(4);
    failures.push(...Array(6).fill(new Error('away')));
    for (const event of ['1', '2', '3', '4', '5', '6']) delivery.add(event);
    await advance(0);
    for (let i = 0; i < 7; i++) await advance(32_000);
    assert.deepEqual(batches.slice(-2), [['1', '2', '3'], ['4']]);
    assert.equal(
      warnings.reduce((sum, { dropped }) => sum + dropped, 0),
      2,
    );
  });

  it('delivers what waits when it stops, and says what it could not deliver', async () => {
    const { delivery, batches } = opened();
    delivery.add('1');
    await delivery.stop();
    assert.deepEqual(batches, [['1']]);
    const away = opened();
    away.failures.push(new Error('away'));
    away.delivery.add('1');
    await away.delivery.stop();
    assert.equal(away.warnings.at(-1).lost, 1);
  });
});

describe('files of events', () => {
  it('are followed by new ones at their size and with each day, and are deleted when they are old', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'turnpike-events-'));
    try {
      const clock = fakeClock(Date.UTC(2026, 10, 26, 23));
      for (const name of ['calls-2026-11-23.jsonl', 'calls-2026-11-24.jsonl', 'calls-2026-11-23.note'])
        writeFileSync(join(folder, name), '');
      const { deliver } = files({ folder, maxBytes: '10b', keepDays: 2 }, clock);
      for (const event of ['{"n":1}', '{"n":2}', '{"n":3}']) await deliver([event]);
      clock.advance(DAY_MS);
      await deliver(['{"n":4}']);
      const contents = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
      assert.deepEqual(contents, [
        ['calls-2026-11-23.note', ''],
        ['calls-2026-11-26.1.jsonl', '{"n":3}\n'],
        ['calls-2026-11-26.jsonl', '{"n":1}\n{"n":2}\n'],
        ['calls-2026-11-27.jsonl', '{"n":4}\n'],
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
