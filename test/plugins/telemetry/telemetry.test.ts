/** The plugin `telemetry`: spans and metrics as a collector gets them, trace contexts, and a collector that is away. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { globalErrorHandler } from '@opentelemetry/core';
import { logFailures } from '../../../plugins/telemetry/exporters.ts';
import telemetry from '../../../plugins/telemetry/index.ts';
import { freePort } from '../../../scripts/free-port.ts';
import { type Receiver, startReceiver } from '../../kit/clients/receiver.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer } from '../../kit/vendors/script.ts';

const PIPELINE = [...(defaultConfig([]).pipeline as string[]), 'telemetry'];

/** A span as the collector gets it. */
interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** 2: server, 3: client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
  /** 2: error. */
  readonly status: number;
  readonly durationNs: bigint;
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of OTLP
type Anything = any;

function plainOf({ stringValue, intValue, doubleValue, boolValue }: Anything): unknown {
  return stringValue ?? doubleValue ?? boolValue ?? Number(intValue);
}

const attributesOf = (list: readonly Anything[] = []): Record<string, unknown> =>
  Object.fromEntries(list.map(({ key, value }) => [key, plainOf(value)]));

function spansAt({ received }: Receiver): readonly Span[] {
  return received
    .filter(({ path }) => path === '/otlp/v1/traces')
    .flatMap(({ body }) => JSON.parse(String(body)).resourceSpans)
    .flatMap(({ scopeSpans }: Anything) => scopeSpans.flatMap(({ spans }: Anything) => spans))
    .map((span: Anything) => ({
      traceId: span.traceId,
      spanId: span.spanId,
      parentSpanId: span.parentSpanId,
      name: span.name,
      kind: span.kind,
      attributes: attributesOf(span.attributes),
      events: (span.events ?? []).map(({ name }: Anything) => name),
      status: span.status?.code ?? 0,
      durationNs: BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano),
    }));
}

/** The metrics of the last export: by name, the attributes and sums of their points. */
function metricsAt({
  received,
}: Receiver): ReadonlyMap<string, readonly { attributes: Anything; sum: number; count: number }[]> {
  const last = received.findLast(({ path }) => path === '/otlp/v1/metrics');
  const metrics = JSON.parse(String(last!.body)).resourceMetrics[0].scopeMetrics[0].metrics;
  return new Map(
    metrics.map(({ name, histogram }: Anything) => [
      name,
      histogram.dataPoints.map(({ attributes, sum, count }: Anything) => ({
        attributes: attributesOf(attributes),
        sum,
        count: Number(count),
      })),
    ]),
  );
}

/** Calls of a gateway with these settings; what the collector has got when it has stopped. */
async function traced(
  collector: Receiver,
  vendors: FakeVendor | readonly FakeVendor[],
  settings: object,
  calls: (gateway: TestGateway) => Promise<void>,
): Promise<readonly Span[]> {
  const endpoint = `${collector.url}/otlp/`;
  const config = { pipeline: PIPELINE, telemetry: { endpoint, ...settings } };
  const gateway = await startGateway({ vendor: vendors, config });
  try {
    await calls(gateway);
  } finally {
    await gateway.stop();
  }
  return spansAt(collector);
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

async function chat(gateway: TestGateway, body: object = {}, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'test-model', messages: [{ role: 'user', content: 'a question of mine' }], ...body }),
  });
  await response.text();
  return response.status;
}

describe('telemetry', () => {
  let collector: Receiver;
  let main: FakeVendor;
  let spare: FakeVendor;
  before(async () => {
    [main, spare] = await Promise.all([fakeVendor(), fakeVendor()]);
  });
  after(() => Promise.all([main.close(), spare.close()]));
  const collecting = (name: string, run: () => Promise<void>) =>
    it(name, async () => {
      collector = await startReceiver();
      try {
        await run();
      } finally {
        await collector.close();
      }
    });

  collecting(
    'sends a span for each call and, below it, for each upstream attempt, by the GenAI conventions',
    async () => {
      main.next(errorAnswer(503));
      const spans = await traced(collector, [main, spare], { headers: { 'x-tenant': 'research' } }, async (gateway) => {
        assert.equal(await chat(gateway, { stream: true }), 200);
      });
      const [call, failed, served] = ['chat test-model', 'attempt main', 'attempt spare'].map(
        (name) => spans.find((span) => span.name === name)!,
      ) as [Span, Span, Span];
      assert.equal(spans.length, 3);
      assert.deepEqual([call.kind, failed.kind, served.kind], [2, 3, 3]);
      assert.equal(call.parentSpanId, undefined);
      for (const attempt of [failed, served])
        assert.deepEqual([attempt.traceId, attempt.parentSpanId], [call.traceId, call.spanId]);
      const port = Number(new URL(spare.url).port);
      const { 'turnpike.request.id': id, 'turnpike.cost': cost, ...attributes } = call.attributes;
      assert.match(String(id), /^\w{26}$/);
      assert.ok(Number(cost) > 0);
      assert.deepEqual(attributes, {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'compatible',
        'gen_ai.request.model': 'test-model',
        'gen_ai.response.model': 'test-model',
        'gen_ai.usage.input_tokens': 11,
        'gen_ai.usage.output_tokens': 7,
        'gen_ai.usage.cache_read.input_tokens': 0,
        'gen_ai.usage.cache_creation.input_tokens': 0,
        'server.address': '127.0.0.1',
        'server.port': port,
        'http.request.method': 'POST',
        'http.response.status_code': 200,
        'url.path': '/v1/chat/completions',
        'user.id': '1',
        'turnpike.key.id': 1,
        'turnpike.style': 'chat',
        'turnpike.outcome': 'served',
        'turnpike.channel': 'spare',
      });
      assert.deepEqual(
        [failed.attributes['error.type'], failed.attributes['http.response.status_code']],
        ['status', 503],
      );
      assert.deepEqual([failed.status, served.status, call.status], [2, 0, 0]);
      assert.deepEqual(served.events, ['gen_ai.first_token']);
      assert.equal(served.attributes['gen_ai.usage.input_tokens'], undefined);
      for (const { durationNs } of spans) assert.ok(durationNs >= 0n);
      for (const { headers } of collector.received) assert.equal(headers['x-tenant'], 'research');
    },
  );

  collecting('says why a call failed, also one that no vendor got', async () => {
    const spans = await traced(collector, main, {}, async (gateway) => {
      assert.equal(await chat(gateway, { model: 'nobody-has-it' }), 404);
    });
    assert.deepEqual(
      spans.map(({ name, status, attributes }) => [
        name,
        status,
        attributes['error.type'],
        attributes['gen_ai.provider.name'],
      ]),
      [['chat nobody-has-it', 2, 'model_not_found', 'turnpike']],
    );
  });

  collecting('sends metrics of tokens, durations and the time to first token', async () => {
    await traced(collector, main, { traces: false }, async (gateway) => {
      await chat(gateway);
      await chat(gateway, { stream: true });
    });
    const metrics = metricsAt(collector);
    const tokens = metrics.get('gen_ai.client.token.usage')!;
    assert.deepEqual(
      tokens.map(({ attributes, sum, count }) => [
        attributes['gen_ai.token.type'],
        attributes['gen_ai.request.model'],
        sum,
        count,
      ]),
      [
        ['input', 'test-model', 22, 2],
        ['output', 'test-model', 14, 2],
      ],
    );
    assert.equal(metrics.get('gen_ai.client.operation.duration')![0]!.count, 2);
    assert.equal(metrics.get('gen_ai.server.time_to_first_token')![0]!.count, 1);
    assert.deepEqual(spansAt(collector), []);
  });

  collecting('continues the trace of a client, and passes it on to the vendor if it is told to', async () => {
    const traceparent = `00-${TRACE}-${PARENT}-01`;
    const sent = main.requests.length;
    const spans = await traced(collector, main, { sample: 0, context: { forward: true } }, async (gateway) => {
      await chat(gateway, {}, { traceparent, tracestate: 'vendor=1' });
    });
    const [attempt, call] = [...spans].sort((a, b) => b.kind - a.kind) as [Span, Span];
    assert.deepEqual([call.traceId, call.parentSpanId], [TRACE, PARENT]);
    const { headers } = main.requests[sent]!;
    assert.equal(headers.traceparent, `00-${TRACE}-${attempt.spanId}-01`);
    assert.equal(headers.tracestate, 'vendor=1');
  });

  collecting(
    'sends vendors no trace context unless it is told to, and ignores that of clients if it is told to',
    async () => {
      const sent = main.requests.length;
      const spans = await traced(collector, main, { context: { accept: false } }, async (gateway) => {
        await chat(gateway, {}, { traceparent: `00-${TRACE}-${PARENT}-01` });
      });
      assert.equal(main.requests[sent]!.headers.traceparent, undefined);
      assert.ok(spans.length > 0 && spans.every(({ traceId }) => traceId !== TRACE));
    },
  );

  collecting('samples: none of 0, and none that a client does not sample', async () => {
    const unsampled = await traced(collector, main, { sample: 0 }, async (gateway) => {
      await chat(gateway);
    });
    assert.deepEqual(unsampled, []);
    const byClient = await traced(collector, main, { context: { forward: true } }, async (gateway) => {
      await chat(gateway, {}, { traceparent: `00-${TRACE}-${PARENT}-00` });
    });
    assert.deepEqual(byClient, []);
    assert.match(main.requests.at(-1)!.headers.traceparent!, new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
  });

  collecting('sends no content unless it is told to', async () => {
    await traced(collector, main, {}, async (gateway) => {
      await chat(gateway);
      await chat(gateway, { stream: true });
    });
    const all = collector.received.map(({ body }) => String(body)).join('');
    assert.ok(all.length > 1_000);
    assert.doesNotMatch(all, /a question of mine|from the vendor|Hello/);
  });

  collecting('sends prompts and answers, streamed or not, with `content`', async () => {
    const spans = await traced(collector, main, { content: true }, async (gateway) => {
      await chat(gateway);
      await chat(gateway, { stream: true });
    });
    const calls = spans.filter(({ kind }) => kind === 2);
    assert.equal(calls.length, 2);
    for (const { attributes } of calls) {
      assert.deepEqual(JSON.parse(String(attributes['gen_ai.input.messages'])), [
        { role: 'user', parts: [{ type: 'text', content: 'a question of mine' }] },
      ]);
      assert.deepEqual(JSON.parse(String(attributes['gen_ai.output.messages'])), [
        { role: 'assistant', parts: [{ type: 'text', content: 'Hello from the vendor.' }], finish_reason: 'stop' },
      ]);
    }
  });

  for (const [what, endpoint] of [
    ['hangs', async () => collector.url],
    ['refuses connections', async () => `http://127.0.0.1:${await freePort()}`],
  ] as const)
    collecting(`serves calls while the collector ${what}, and stops in time`, async () => {
      collector.always('hang');
      const config = { pipeline: PIPELINE, telemetry: { endpoint: await endpoint(), interval: '1s' } };
      const gateway = await startGateway({ vendor: main, config });
      try {
        for (let i = 0; i < 20; i++) assert.equal(await chat(gateway, { stream: i % 2 === 0 }), 200);
      } finally {
        await gateway.stop();
      }
    });

  it('says at most once a minute that something was not delivered', () => {
    const clock = fakeClock();
    const reasons: unknown[] = [];
    const log = { warn: (_: string, { reason }: { reason: string }) => void reasons.push(reason) };
    logFailures({ clock, log } as never);
    globalErrorHandler(new Error('away'));
    clock.advance(59_999);
    globalErrorHandler('dropped 3 spans');
    clock.advance(1);
    globalErrorHandler('dropped 4 spans');
    globalErrorHandler(new Error('away'));
    assert.deepEqual(reasons, ['away', 'dropped 4 spans']);
  });

  it('has no part in calls, and loads nothing, without its section', async () => {
    const parts = await telemetry.create(
      {} as never,
      { telemetry: { endpoint: '', headers: {}, context: {} } } as never,
    );
    assert.deepEqual(parts, {});
  });
});
