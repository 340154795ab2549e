/** What a vendor quotes of a request in its errors: the client gets it; log, spans, events and the records of calls do not. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { type Receiver, startReceiver } from '../../kit/clients/receiver.ts';
import { chatError, chatEvent, chatEvents } from '../../kit/gateway/fixtures.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import type { Answer, FakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, eventStream, jsonAnswer } from '../../kit/vendors/script.ts';

const SECRET = 'The password of the vault\nis "Blue Heron" today';
/** What must be nowhere, whatever its case. */
const TRACES = /password of|vault|blue ?heron/i;

const quoting = (status: number): Answer => errorAnswer(status, `Cannot process "${SECRET}": see the manual.`);
const chatBody = { model: 'test-model', messages: [{ role: 'user', content: SECRET }] };
const messagesBody = { ...chatBody, max_tokens: 9 };
/** Large bodies are compared in turns. */
const large = { ...chatBody, messages: [{ role: 'user', content: `${'plain prose, '.repeat(90_000)}${SECRET}` }] };

interface Case {
  readonly answer: Answer;
  readonly path?: string;
  readonly body?: object;
  /** What the record has of the vendor's words. */
  readonly reason: string;
  /** Whether the client gets them. */
  readonly isTold?: true;
}

const CASES: Readonly<Record<string, Case>> = {
  'a failure of the vendor': { answer: quoting(500), reason: 'status 500: Cannot process "[…]": see the manual.' },
  'a key that the vendor refuses': {
    answer: quoting(401),
    reason: 'status 401: Cannot process "[…]": see the manual.',
  },
  'a request that the vendor refuses': {
    answer: quoting(400),
    reason: 'status 400: Cannot process "[…]": see the manual.',
    isTold: true,
  },
  'a prompt that is too long': {
    answer: errorAnswer(400, `The prompt is too long: ${JSON.stringify(SECRET).slice(0, -9)}...`),
    reason: 'status 400: The prompt is too long: "[…]...',
    isTold: true,
  },
  'a refusal of another style': {
    answer: quoting(422),
    path: '/v1/messages',
    body: messagesBody,
    reason: 'status 422: Cannot process "[…]": see the manual.',
    isTold: true,
  },
  'an error in a success': {
    answer: jsonAnswer(200, { error: { message: `Failed at: ${SECRET.toUpperCase()}` } }),
    reason: 'an error in a success: Failed at: […]',
    isTold: true,
  },
  'an error event before the first part': {
    answer: eventStream([chatEvent(chatError(`Failed at: ${SECRET}`, 'oops'))]),
    body: { ...chatBody, stream: true },
    reason: 'an error in a success: Failed at: […]',
    isTold: true,
  },
  'an error event in the answer': {
    answer: eventStream([...chatEvents().slice(0, 2), chatEvent(chatError(`Failed at: ${SECRET}`, 'oops'))]),
    body: { ...chatBody, stream: true },
    reason: 'Failed at: […]',
    isTold: true,
  },
  'an error event in the answer of a large request': {
    answer: eventStream([...chatEvents().slice(0, 2), chatEvent(chatError(`Failed at: ${SECRET}`, 'oops'))]),
    body: { ...large, stream: true },
    reason: 'Failed at: […]',
    isTold: true,
  },
  'a large request': {
    answer: quoting(400),
    body: large,
    reason: 'status 400: Cannot process "[…]": see the manual.',
    isTold: true,
  },
  'a large request, translated': {
    answer: quoting(503),
    path: '/v1/messages',
    body: { ...large, max_tokens: 9 },
    reason: 'status 503: Cannot process "[…]": see the manual.',
  },
};

describe('what a vendor quotes of a request', () => {
  let vendor: FakeVendor;
  let collector: Receiver;
  let gateway: TestGateway;
  let isStopped = false;
  before(async () => {
    [vendor, collector] = await Promise.all([fakeVendor(), startReceiver()]);
    const config = defaultConfig([vendor]);
    gateway = await startGateway({
      vendor,
      config: {
        pipeline: [...(config.pipeline as string[]), 'events', 'telemetry', 'metrics'],
        telemetry: { endpoint: `${collector.url}/otlp/` },
        events: { webhook: { url: `${collector.url}/events` } },
        // Calls of one test do not close the circuit for the next one.
        models: { 'test-model': { from: ['main'], free: true } },
        listen: { host: '127.0.0.1', port: 0, attempts: { max: 1 } },
      },
    });
  });
  after(async () => {
    if (!isStopped) await gateway.stop();
    await Promise.all([vendor.close(), collector.close()]);
  });

  const call = (path: string, body: object): Promise<Response> =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
      },
      body: JSON.stringify(body),
    });

  for (const [what, { answer, path = '/v1/chat/completions', body = chatBody, reason, isTold }] of Object.entries(
    CASES,
  )) {
    it(`stays with the client: ${what}`, async () => {
      vendor.next(answer);
      const response = await call(path, body);
      const told = await response.text();
      assert.equal(TRACES.test(told), isTold === true, told);
      const all = usageRecords(gateway.storeFile);
      const record = all.find(({ id }) => id === response.headers.get('x-request-id'));
      assert.equal(record?.attempts[0]?.reason, reason);
      assert.doesNotMatch(inspect(all, { depth: 9 }), TRACES);
    });
  }

  it('stays with the client if it is the code of the error', async () => {
    const strange = { error: { message: 'No.', type: 'x', code: SECRET } };
    vendor.next(eventStream([': wait\n\n', chatEvent(strange)]), jsonAnswer(400, strange));
    await (await call('/v1/chat/completions', { ...chatBody, stream: true })).text();
    await (await call('/v1/chat/completions', chatBody)).text();
    assert.doesNotMatch(inspect(usageRecords(gateway.storeFile), { depth: 9 }), TRACES);
  });

  it('is in no line of the log, no metric, no span and no event', async () => {
    const metrics = await fetch(`${gateway.url}/metrics`);
    assert.equal(metrics.status, 200);
    assert.doesNotMatch(await metrics.text(), TRACES);
    await gateway.stop();
    isStopped = true;
    assert(gateway.log.some((line) => line.includes('see the manual')));
    assert.doesNotMatch(gateway.log.join('\n'), TRACES);
    const sent = collector.received.map(({ body }) => String(body)).join('\n');
    assert.match(sent, /see the manual/);
    assert.match(sent, /"type":"call"/);
    assert.doesNotMatch(sent, TRACES);
  });
});
