/** A background response whose stream broke off, and is resumed by the official client. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import type { Json } from '../../core/contracts/formats/json.ts';
import { until } from '../kit/until.ts';
import { errorAnswer, eventStream, hold, jsonAnswer, type Move } from '../kit/vendors/script.ts';
import { openStand, type Stand } from './stand.ts';

const ID = 'resp_background1';
const response = { id: ID, object: 'response', status: 'in_progress', background: true, output: [], model: 'gpt-5.1' };

/** An event of the vendor, as the client has it. */
const numbered = (sequence_number: number, type: string, more: Record<string, Json>): Record<string, Json> => ({
  type,
  sequence_number,
  ...more,
});
const EVENTS = [
  numbered(0, 'response.created', { response }),
  ...['One ', 'two ', 'thr\u00e9e'].map((delta, i) =>
    numbered(i + 1, 'response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta }),
  ),
  numbered(4, 'response.completed', { response: { ...response, status: 'completed' } }),
];
const written = (events: readonly Record<string, Json>[]): string[] =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

describe('a background response', () => {
  let stand: Stand;
  let client: OpenAI;
  before(async () => {
    stand = await openStand(1);
    client = new OpenAI({ baseURL: stand.v1, apiKey: stand.key, maxRetries: 0 });
  });
  after(() => stand.stop());

  /** Begins it, and leaves after its first event. */
  async function begun(): Promise<void> {
    stand.vendor.forget();
    stand.vendor.next(eventStream([...written(EVENTS.slice(0, 2)), hold('for ever')]));
    const stream = await client.responses.create({
      model: 'responses-0',
      input: 'Count.',
      background: true,
      stream: true,
    });
    for await (const { type } of stream) if (type === 'response.created') break;
    await until('it is stored', () => stand.gateway.rows('SELECT id FROM response_turn').length > 0 || undefined);
  }
  const resume = (after: number) => client.responses.retrieve(ID, { stream: true, starting_after: after });

  it('is streamed on from where its client was, with the vendor’s own events', async () => {
    await begun();
    stand.vendor.next(eventStream(written(EVENTS.slice(2))));
    const events: unknown[] = [];
    for await (const event of await resume(1)) events.push(event);
    assert.deepEqual(events, EVENTS.slice(2));
    const { method, path, headers } = stand.vendor.requests.at(-1)!;
    assert.deepEqual([method, path], ['GET', `/v1/responses/${ID}?stream=true&starting_after=1`]);
    assert.equal(headers.accept, 'text/event-stream');
  });

  it('ends the request to the vendor if its client leaves', async () => {
    const held: readonly (string | Move)[] = [...written(EVENTS.slice(2, 3)), hold('for ever')];
    stand.vendor.next(eventStream(held));
    for await (const _ of await resume(1)) break;
    await stand.vendor.waitFor(() => stand.vendor.requests.at(-1)?.state === 'aborted');
  });

  it('holds no more streams of one account than eight, and none for HEAD', async () => {
    await begun();
    const held: readonly (string | Move)[] = [...written(EVENTS.slice(2, 3)), hold('for ever')];
    stand.vendor.next(...Array.from({ length: 9 }, () => eventStream(held)));
    const url = `${stand.v1}/responses/${ID}?stream=true&starting_after=1`;
    const authorization = `Bearer ${stand.key}`;
    const looked = await fetch(url, { method: 'HEAD', headers: { authorization } });
    assert.equal(looked.status, 200);
    await stand.vendor.waitFor(() => stand.vendor.requests.at(-1)?.state === 'aborted');
    const gone = new AbortController();
    const streams = Array.from({ length: 8 }, () => fetch(url, { headers: { authorization }, signal: gone.signal }));
    for (const { status } of await Promise.all(streams)) assert.equal(status, 200);
    const asked = stand.vendor.requests.length;
    await assert.rejects(resume(1), { status: 429, code: 'concurrency_limit_exceeded' });
    assert.equal(stand.vendor.requests.length, asked);
    gone.abort();
    const all = stand.vendor.requests.slice(-8);
    await stand.vendor.waitFor(() => all.every(({ state }) => state === 'aborted'));
    stand.vendor.next(eventStream(written(EVENTS.slice(2))));
    await until('a place is free', async () => {
      const again = await fetch(url, { headers: { authorization } });
      await again.text();
      return again.status === 200 || undefined;
    });
  });

  it('asks the vendor for its state once, however many ask at the same time', async () => {
    await begun();
    const asked = stand.vendor.requests.length;
    stand.vendor.always(() => [hold('state'), ...jsonAnswer(200, response)]);
    const polls = Array.from({ length: 20 }, () => client.responses.retrieve(ID));
    await stand.vendor.waitFor(() => stand.vendor.requests.length > asked);
    stand.vendor.release('state');
    for (const { status } of await Promise.all(polls)) assert.equal(status, 'in_progress');
    const { length } = stand.vendor.requests;
    // One that arrives when the first was just answered asks again.
    assert.ok(length - asked < 20, `${length - asked}`);
    stand.vendor.always(() => [hold('cancel'), ...jsonAnswer(200, response)]);
    const cancels = Array.from({ length: 20 }, () => client.responses.cancel(ID));
    await stand.vendor.waitFor(() => stand.vendor.requests.length > length);
    stand.vendor.release('cancel');
    await Promise.all(cancels);
    assert.ok(stand.vendor.requests.length - length < 20);
  });

  it('is no stream if the vendor refuses, and none from a place that is no number', async () => {
    stand.vendor.next(errorAnswer(404));
    await assert.rejects(resume(1), { status: 502, code: 'upstream_error' });
    await assert.rejects(resume(-1), { status: 400, param: 'starting_after' });
  });
});
