/**
 * The hard cases of translation that lie in the stream itself and in its transport, numbers 62 to 80 and 115; and those for which
 * a gateway has to keep or to count something, 105 to 107.
 */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { JsonObject } from '../../core/contracts/formats/json.ts';
import { messages } from '../../plugins/styles/messages/index.ts';
import { type Bench, openBench } from '../e2e/operations/bench.ts';
import { type RawResponse, rawConnection, requestText } from '../kit/clients/raw-client.ts';
import { chatEvents, DONE } from '../kit/gateway/fixtures.ts';
import { defaultConfig, VENDOR_KEY } from '../kit/gateway/gateway.ts';
import type { SpeechName } from '../kit/speech.ts';
import { fakeVendor } from '../kit/vendors/fake-vendor.ts';
import { SCENARIOS, SPEECHES, says } from '../kit/vendors/scenarios.ts';
import { errorAnswer, eventStream, fin, hold, jsonAnswer, rst, sized, wholeAnswer } from '../kit/vendors/script.ts';
import {
  askStream,
  type Body,
  CLIENTS,
  type ClientEvent,
  type ClientName,
  data,
  eventsIn,
  HEADERS,
  type Meeting,
  named,
  pieces,
  question,
  readBy,
  type Streamed,
  textIn,
  VENDORS,
} from './kit-wire.ts';

const TEXT = SCENARIOS.text.text.join('');

/** Everybody who is translated for somebody else. */
const PAIRS: readonly Meeting[] = CLIENTS.flatMap((from) =>
  VENDORS.filter((to) => to !== from).map((to) => ({ from, to })),
);
/** What passes byte for byte as well. */
const ALL_PAIRS: readonly Meeting[] = [...PAIRS, ...CLIENTS.map((style) => ({ from: style, to: style }))];

const pairName = ({ from, to }: Meeting): string => `${from} before ${to}`;

/** The events of a vendor's stream that says a text. */
const eventsOf = (to: SpeechName): readonly string[] =>
  SPEECHES[to].events(SCENARIOS.text, { ...question('chat'), stream: true });

/** The client's stream where the vendor's comes in these pieces. */
async function heard(meeting: Meeting, chunks: readonly (string | Buffer)[]): Promise<Streamed> {
  return (await askStream(meeting)).stream(chunks);
}

/** Between every two events of a stream, and before the first. */
const between = (events: readonly string[], more: string): readonly string[] =>
  events.flatMap((event) => [more, event]);

const typesOf = ({ events }: Pick<Streamed, 'events'>): readonly string[] => events.map(({ data }) => data?.type);

describe('bytes on their way', () => {
  it('case 62: a letter cut in two by the network arrives whole, in every style', async () => {
    for (const meeting of ALL_PAIRS) {
      const stream = await heard(meeting, pieces(eventsOf(meeting.to), 1));
      assert.equal(textIn(meeting.from, stream), TEXT, pairName(meeting));
      assert.doesNotMatch(stream.text, /\uFFFD/, pairName(meeting));
      assert.equal(stream.end, 'last', pairName(meeting));
    }
  });

  it('case 63: wherever the vendor’s bytes are cut, the client gets the same', async () => {
    for (const to of VENDORS) {
      const meeting: Meeting = { from: to === 'messages' ? 'chat' : 'messages', to };
      const talk = await askStream(meeting);
      const whole = Buffer.from(eventsOf(to).join(''));
      const { text } = talk.stream([whole]);
      for (let at = 1; at < whole.length; at += 11) {
        const cut = talk.stream([whole.subarray(0, at), whole.subarray(at)]);
        assert.equal(cut.text, text, `${pairName(meeting)}, cut at byte ${at}`);
      }
      const crlf = whole.toString().replaceAll('\n', '\r\n');
      assert.equal(talk.stream(pieces(crlf, 5)).text, text, `${pairName(meeting)}, with lines that end in CRLF`);
    }
  });

  it('case 64: a comment of the vendor’s is never told as data', async () => {
    const comment = ': OPENROUTER PROCESSING\n\n';
    for (const meeting of PAIRS) {
      const plain = await heard(meeting, eventsOf(meeting.to));
      const commented = await heard(meeting, between(eventsOf(meeting.to), comment));
      assert.equal(commented.text, plain.text, pairName(meeting));
    }
    const passed = between(eventsOf('chat'), comment);
    assert.equal((await heard({ from: 'chat', to: 'chat' }, passed)).text, passed.join(''), 'as it was');
  });

  it('case 65: no stream that we write has ids, so that a comment in it is no event to anybody', async () => {
    for (const meeting of PAIRS) {
      const { text } = await heard(
        meeting,
        eventsOf(meeting.to).map((event, i) => `id: ${i}\n${event}`),
      );
      const kept = text.replaceAll('\n\n', '\n\n: keep-alive\n\n');
      const read = pythonEvents(kept);
      assert.ok(read.length > 3, pairName(meeting));
      for (const each of read) assert.notEqual(each, '', `${pairName(meeting)}: an event without data`);
    }
    // So that this says something: with an id, this client takes the comment for an event.
    assert.deepEqual(pythonEvents('id: 1\ndata: {}\n\n: keep-alive\n\n'), ['{}', '']);
  });

  it('case 66: a comment in the middle ends nothing', async () => {
    for (const meeting of ALL_PAIRS) {
      const stream = await heard(meeting, between(eventsOf(meeting.to), ':\n\n'));
      assert.equal(textIn(meeting.from, stream), TEXT, pairName(meeting));
      assert.equal(stream.end, 'last', pairName(meeting));
    }
  });

  it('case 67: with what a vendor keeps its connections alive, it says nothing to clients of other styles', async () => {
    const signs: Readonly<Partial<Record<SpeechName, string>>> = {
      responses: named({ type: 'keepalive', sequence_number: 7 }),
      messages: named({ type: 'ping' }),
    };
    for (const meeting of PAIRS) {
      const sign = signs[meeting.to];
      if (sign === undefined) continue;
      const plain = await heard(meeting, eventsOf(meeting.to));
      const { text } = await heard(meeting, between(eventsOf(meeting.to), sign));
      assert.equal(text, plain.text, pairName(meeting));
    }
  });
});

/** How the official client for Python cuts a stream: at a blank line there is an event if any id has come so far. */
function pythonEvents(text: string): readonly string[] {
  const read: string[] = [];
  let id = '';
  let name = '';
  let lines: string[] = [];
  for (const line of text.split('\n')) {
    const [, field, value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (line === '') {
      if (name !== '' || lines.length > 0 || id !== '') read.push(lines.join('\n'));
      name = '';
      lines = [];
    } else if (field === 'id') id = value;
    else if (field === 'event') name = value;
    else if (field === 'data') lines.push(value);
  }
  // What stands behind the last blank line of a text is no line.
  return text.endsWith('\n\n') && id !== '' ? read.slice(0, -1) : read;
}

describe('the form of a stream', () => {
  it('case 69: [DONE] stands in streams of chat alone, and is nothing where a Gemini server adds it', async () => {
    for (const meeting of PAIRS) {
      const { text, end } = await heard(meeting, [...eventsOf(meeting.to), ...(meeting.to === 'gemini' ? [DONE] : [])]);
      assert.equal(end, 'last', pairName(meeting));
      assert.equal(text.includes('[DONE]'), meeting.from === 'chat', pairName(meeting));
    }
  });

  it('case 70: every event for a messages client has its name, and a vendor may leave the names out', async () => {
    for (const to of VENDORS) {
      const { events } = await heard({ from: 'messages', to }, eventsOf(to));
      for (const { name, data, raw } of events) assert.equal(name, data.type, `${to}: ${raw}`);
    }
    const nameless = eventsOf('messages').map((event) => event.replace(/^event: .*\n/, ''));
    for (const from of ['chat', 'responses'] as const) {
      assert.equal(textIn(from, await heard({ from, to: 'messages' }, nameless)), TEXT, from);
    }
    const read = await readBy('messages', (await heard({ from: 'messages', to: 'chat' }, eventsOf('chat'))).text);
    assert.equal(read.content[0].text, TEXT);
  });

  it('case 71: an error in the middle is an error to the client, in the form that its library looks for', async () => {
    const message = 'The vendor gives up.';
    for (const meeting of PAIRS) {
      const begun = eventsOf(meeting.to).slice(0, meeting.to === 'responses' ? 5 : 3);
      const { text, events, end } = await heard(meeting, [...begun, SPEECHES[meeting.to].errorEvent(message)]);
      assert.equal(end, 'error', pairName(meeting));
      const last = events.at(-1);
      if (meeting.from === 'messages') assert.equal(last?.name, 'error', pairName(meeting));
      if (meeting.from === 'responses') assert.equal(last?.name, 'response.failed', pairName(meeting));
      const told = await readBy(meeting.from, text).then(
        ({ error }: Body) => error.message,
        (error: Error) => error.message,
      );
      assert.match(told, /The vendor gives up\./, pairName(meeting));
    }
  });

  it('case 73: a stream without its end is broken, unless what it said was whole', async () => {
    const noReason = chatEvents({ finish: null, usage: null });
    for (const from of ['responses', 'messages'] as const) {
      const cut = await heard({ from, to: 'chat' }, noReason.slice(0, -1));
      assert.equal(cut.end, 'broken', `${from}: neither a reason nor [DONE]`);
      assert.ok(!/message_stop|response\.completed/.test(cut.text), `${from}: a part is taken for the whole`);
      assert.equal((await heard({ from, to: 'chat' }, noReason)).end, 'last', `${from}: [DONE] ends it`);
      const silent = chatEvents().slice(0, -1);
      assert.equal((await heard({ from, to: 'chat' }, silent)).end, 'last', `${from}: a reason, and no [DONE]`);
    }
    const withoutEnd = {
      // Its last event tells why it ends.
      gemini: eventsOf('gemini').slice(0, -1),
      messages: eventsOf('messages').slice(0, -2),
      responses: eventsOf('responses').slice(0, -1),
    };
    for (const [to, events] of Object.entries(withoutEnd) as readonly [SpeechName, readonly string[]][]) {
      assert.equal((await heard({ from: 'chat', to }, events)).end, 'broken', to);
    }
    // What was said was whole: only the sign that nothing follows is missing.
    assert.equal((await heard({ from: 'chat', to: 'messages' }, eventsOf('messages').slice(0, -1))).end, 'last');
    for (const to of VENDORS) {
      const { choices } = await readBy('chat', (await heard({ from: 'chat', to }, eventsOf(to))).text);
      assert.equal(choices[0].finish_reason, 'stop', `${to}: the helper wants a reason`);
    }
  });
});

describe('a stream for a responses client', () => {
  const NUMBERED: readonly Meeting[] = [
    { from: 'responses', to: 'chat' },
    { from: 'responses', to: 'messages' },
    { from: 'responses', to: 'gemini' },
    // Written anew because something is wrong with it.
    { from: 'responses', to: 'responses', quirks: { stream: { rewrite: true } } },
  ];
  /** Without what some servers leave out. */
  const bare = (without: (event: Body) => boolean, ...members: readonly string[]): readonly string[] =>
    eventsIn(eventsOf('responses').join(''))
      .filter(({ data }) => !without(data))
      .map(({ data }) =>
        named(Object.fromEntries(Object.entries(data).filter(([name]) => !members.includes(name))) as JsonObject),
      );

  it('case 74: counts its events without a gap, whatever the vendor’s numbers were', async () => {
    const gaps = eventsIn(eventsOf('responses').join('')).map(({ data }) =>
      named({ ...data, sequence_number: 3 * data.sequence_number + 2 }),
    );
    for (const meeting of NUMBERED) {
      const { events } = await heard(meeting, meeting.to === 'responses' ? gaps : eventsOf(meeting.to));
      assert.ok(events.length > 6, pairName(meeting));
      assert.deepEqual(
        events.map(({ data }) => data.sequence_number),
        events.map((_, i) => i),
        pairName(meeting),
      );
    }
  });

  it('case 75: tells the parts of a message, and does so where the vendor left them out', async () => {
    const partless = bare(({ type }) => type.startsWith('response.content_part.'));
    for (const meeting of NUMBERED) {
      const stream = await heard(meeting, meeting.to === 'responses' ? partless : eventsOf(meeting.to));
      const types = typesOf(stream);
      assert.ok(types.indexOf('response.content_part.added') < types.indexOf('response.output_text.delta'));
      assert.ok(types.indexOf('response.content_part.done') > types.lastIndexOf('response.output_text.delta'));
      assert.equal((await readBy('responses', stream.text)).output_text, TEXT, pairName(meeting));
    }
    for (const from of ['chat', 'messages'] as const) {
      assert.equal(textIn(from, await heard({ from, to: 'responses' }, partless)), TEXT, from);
    }
  });

  it('case 76: has in every event what strict clients read, and does so where the vendor left it out', async () => {
    const poor = bare(() => false, 'sequence_number', 'output_index', 'content_index', 'item_id');
    for (const meeting of NUMBERED) {
      const stream = await heard(meeting, meeting.to === 'responses' ? poor : eventsOf(meeting.to));
      for (const { data } of stream.events as readonly ClientEvent[]) {
        const { type } = data;
        const needs = {
          sequence_number: 'number',
          ...(/^response\.(output_item|content_part|output_text)\./.test(type) && { output_index: 'number' }),
          ...(/^response\.(content_part|output_text)\./.test(type) && { content_index: 'number', item_id: 'string' }),
        };
        for (const [name, kind] of Object.entries(needs)) {
          assert.equal(typeof data[name], kind, `${pairName(meeting)}: ${name} of ${type}`);
        }
        if (data.response !== undefined) {
          assert.match(data.response.status, /^(in_progress|completed)$/, type);
          assert.ok(Array.isArray(data.response.output), `${type} has no output`);
        }
        if (data.item !== undefined) assert.ok(data.item.id && data.item.status, `an item of ${type} lacks something`);
      }
      assert.equal((await readBy('responses', stream.text)).status, 'completed', pairName(meeting));
    }
  });
});

describe('a whole gateway', () => {
  const KINDS = {
    chat: { vendor: 'compatible' },
    responses: { vendor: 'compatible', speaks: ['responses'] },
    messages: { vendor: 'anthropic' },
    gemini: { vendor: 'gemini' },
  } as const;
  /** What is remembered against a channel after a failure reaches no other test: each asks a channel of its own. */
  const COPIES = 20;
  const PATHS = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' } as const;
  const used: Record<SpeechName, number> = { chat: 0, responses: 0, messages: 0, gemini: 0 };
  let stand: Bench;

  before(async () => {
    const vendor = await fakeVendor();
    const each = VENDORS.flatMap((kind) =>
      Array.from({ length: COPIES }, (_, i) => ({ kind, channel: `${kind}-${i}`, model: `claude-${kind}-${i}` })),
    );
    const pipeline = defaultConfig([]).pipeline as readonly string[];
    stand = await openBench({
      vendors: [vendor],
      config: {
        listen: { port: 0, onDisconnect: { stream: 'cancel', whole: 'cancel' } },
        pipeline: [...pipeline, 'vendors/anthropic', 'vendors/gemini'],
        channels: each.map(({ kind, channel }) => ({
          name: channel,
          ...KINDS[kind],
          url: vendor.url,
          key: VENDOR_KEY,
        })),
        models: {
          ...Object.fromEntries(each.map(({ channel, model }) => [model, { from: [channel], free: true }])),
          several: { from: ['chat-0', 'messages-0', 'gemini-0'], free: true },
        },
      },
    });
  });
  after(() => stand.stop());

  const fresh = (kind: SpeechName): string => {
    const i = ++used[kind];
    assert.ok(i < COPIES, `there are not enough channels of the kind ${kind}`);
    return `claude-${kind}-${i}`;
  };
  const headers = (): Readonly<Record<string, string>> => ({
    authorization: `Bearer ${stand.gateway.key}`,
    'content-type': 'application/json',
    ...HEADERS,
  });
  const request = (from: ClientName, model: string, more: JsonObject = {}): Buffer => {
    return requestText('POST', PATHS[from], headers(), JSON.stringify(question(from, { ...more, model })));
  };
  /** Sends it, does what is to be done once the vendor has it, and reads the answer. */
  async function send(
    from: ClientName,
    model: string,
    more: JsonObject = {},
    meanwhile: () => Promise<void> = async () => {},
  ): Promise<RawResponse> {
    const client = await rawConnection(stand.gateway.port);
    await client.write(request(from, model, more));
    const coming = client.response();
    await meanwhile();
    const answer = await coming;
    client.abort();
    return answer;
  }
  const STREAM = { stream: true };
  const vendorHolds = (name: string) => stand.vendor.waitFor(() => stand.vendor.requests.at(-1)?.holding === name);
  const vendorIsLetGo = () => stand.vendor.waitFor(() => stand.vendor.requests.at(-1)?.state === 'aborted');

  it('case 68: nothing of what comes behind the end reaches the client', async () => {
    const late = 'This is too late.';
    for (const [from, kind] of [
      ['chat', 'chat'],
      ['messages', 'chat'],
      ['chat', 'messages'],
    ] as const) {
      const behind = kind === 'chat' ? chatEvents({ deltas: [late] }) : eventsOf('messages').slice(1);
      stand.vendor.next(eventStream([[...eventsOf(kind), ...behind].join('')]));
      const { status, text } = await send(from, fresh(kind), STREAM);
      assert.equal(status, 200);
      assert.equal(textIn(from, { events: eventsIn(text) }), TEXT, `${from} before ${kind}`);
      assert.ok(!text.includes(late), text);
      assert.equal(text.match(/\[DONE\]|"type":"message_stop"/g)?.length, 1, 'it ends once');
    }
  });

  it('case 72: an answer that never begins is an error with its status, not an empty 200', async () => {
    for (const from of CLIENTS) {
      stand.vendor.next(eventStream([]));
      const { status, headers, text } = await send(from, fresh(from === 'chat' ? 'messages' : 'chat'), STREAM);
      assert.equal(status, 502, from);
      assert.match(headers['content-type'] ?? '', /json/);
      assert.ok(JSON.parse(text).error.message.length > 0, text);
    }
  });

  it('case 72: an answer that breaks off in the middle is cut, or ends with an event that says so', async () => {
    const ends = { chat: undefined, responses: 'response.failed', messages: 'error' } as const;
    for (const [how, moves] of [
      ['the connection breaks', [rst()]],
      ['the stream ends too early', []],
    ] as const) {
      for (const from of CLIENTS) {
        const kind = from === 'chat' ? 'messages' : 'chat';
        stand.vendor.next(eventStream([...eventsOf(kind).slice(0, 4), ...moves]));
        const { status, text, complete } = await send(from, fresh(kind), STREAM);
        const what = `${from}, ${how}: ${text}`;
        assert.equal(status, 200, what);
        assert.equal(complete, false, 'nobody takes a part for the whole');
        const last = eventsIn(text).at(-1);
        const { error = last?.data.response?.error } = last?.data ?? {};
        // Clients of these two repeat the request after a cut, and not after an event.
        if (from !== 'responses' && moves.length > 0) {
          assert.equal(error, undefined, what);
          assert.doesNotMatch(text, /\[DONE\]|message_stop/, what);
          continue;
        }
        assert.equal(last?.name, ends[from], what);
        assert.match(error.message, /broke off|ended/, what);
      }
    }
  });

  it('case 77: a client that leaves stops the vendor: before the first byte, in the middle, and of a whole answer', async () => {
    const begun = eventsOf('chat').slice(0, 3);
    const moments = [
      { more: STREAM, script: (name: string) => [hold(name)] },
      { more: STREAM, script: (name: string) => eventStream([...begun, hold(name)]), until: 'content_block_delta' },
      { more: {}, script: (name: string) => [hold(name)] },
    ];
    for (const [i, { more, script, until }] of moments.entries()) {
      const name = `case-77-${i}`;
      stand.vendor.next(script(name));
      const client = await rawConnection(stand.gateway.port);
      await client.write(request('messages', fresh('chat'), more));
      await vendorHolds(name);
      if (until !== undefined) await client.until(until);
      client.abort();
      await vendorIsLetGo();
    }
  });

  it('case 78: nobody else is asked for an answer that nobody waits for', async () => {
    stand.vendor.next([hold('case-78'), ...errorAnswer(500)], says(SCENARIOS.text, { key: VENDOR_KEY }));
    const known = stand.vendor.requests.length;
    const client = await rawConnection(stand.gateway.port);
    await client.write(request('responses', 'several', STREAM));
    await vendorHolds('case-78');
    client.abort();
    await vendorIsLetGo();
    stand.vendor.release('case-78');
    const { status } = await send('chat', fresh('gemini'));
    assert.equal(status, 200);
    assert.equal(stand.vendor.requests.length, known + 2, 'the one that was left, and this one');
  });

  it('case 79: no vendor is asked to compress its answer, and one that does so all the same is not passed on', async () => {
    for (const coding of ['gzip', 'gzip, br']) {
      const body = gzipSync(JSON.stringify(SPEECHES.chat.whole(SCENARIOS.text, question('chat'))));
      stand.vendor.next(sized(200, 'application/json', body, { 'content-encoding': coding }));
      const { status, text } = await send('messages', fresh('chat'));
      assert.equal(status, 502, coding);
      assert.equal(JSON.parse(text).type, 'error');
      assert.equal(stand.vendor.requests.at(-1)?.headers['accept-encoding'], 'identity');
      assert.match(stand.gateway.log.at(-1) ?? '', /compressed/, 'nobody tries to read it');
    }
  });

  it('case 80: an error that Gemini wraps into a list is understood, whole and in a stream', async () => {
    const error = { code: 400, message: 'The schema is too deep.', status: 'INVALID_ARGUMENT' };
    for (const from of CLIENTS) {
      stand.vendor.next(jsonAnswer(400, [{ error }]));
      const { status, text } = await send(from, fresh('gemini'));
      assert.equal(status, 400, from);
      assert.equal(JSON.parse(text).error.message, error.message);
    }
    const { events, end } = await heard({ from: 'messages', to: 'gemini' }, [
      eventsOf('gemini')[0]!,
      data([{ error }] as unknown as JsonObject),
    ]);
    assert.equal(end, 'error');
    assert.equal(events.at(-1)?.data.error.message, error.message);
  });

  /** A whole answer as JSON. */
  async function sendJson(
    from: ClientName,
    model: string,
    more: JsonObject = {},
  ): Promise<readonly [status: number, body: Body]> {
    const { status, text } = await send(from, model, more);
    return [status, JSON.parse(text)];
  }

  it('case 105: an earlier answer is said again in full, and one that nobody knows is an error that names the field', async () => {
    const model = fresh('chat');
    const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];
    const input = [{ type: 'function_call_output', call_id: 'call_1', output: 'Waves.' }];
    stand.vendor.next(wholeAnswer({ toolCalls: [{ id: 'call_1', name: 'look', arguments: '{}' }] }));
    const [, first] = await sendJson('responses', model, { tools });
    const [status] = await sendJson('responses', model, { tools, input, previous_response_id: first.id });
    assert.equal(status, 200);
    const { messages: told } = stand.vendor.requests.at(-1)!.json as Body;
    assert.deepEqual(
      told.map(({ role }: Body) => role),
      ['user', 'assistant', 'tool'],
    );
    assert.equal(told[1].tool_calls[0].id, told[2].tool_call_id, 'no result without its call');

    const known = stand.vendor.requests.length;
    const [refused, { error }] = await sendJson('responses', model, { input, previous_response_id: 'resp_nobody' });
    assert.deepEqual([refused, error.code, error.param], [404, 'previous_response_not_found', 'previous_response_id']);
    assert.equal(stand.vendor.requests.length, known, 'and no vendor hears of it');
  });

  it('case 106: a vendor that kept nothing is not told the id of what it said', async () => {
    const model = fresh('responses');
    const answer = { ...SPEECHES.responses.whole(SCENARIOS.text, question('responses')), store: true };
    const kept = ['resp_kept', 'resp_unkept', 'resp_private', 'resp_4', 'resp_5'].map((id) =>
      jsonAnswer(200, { ...answer, id, store: id !== 'resp_unkept' }),
    );
    stand.vendor.next(...kept);
    await sendJson('responses', model);
    await sendJson('responses', model);
    await sendJson('responses', model, { store: false });

    const goesOn = { input: 'And?', previous_response_id: 'resp_unkept' };
    assert.equal((await sendJson('responses', model, goesOn))[0], 200);
    const { previous_response_id: id, input } = stand.vendor.requests.at(-1)!.json;
    assert.equal(id, undefined);
    assert.match(JSON.stringify(input), /Hello\?.*Hello from Zürich.*And\?/);
    assert.equal((await sendJson('responses', model, { ...goesOn, previous_response_id: 'resp_kept' }))[0], 200);
    assert.equal(stand.vendor.requests.at(-1)!.json.previous_response_id, 'resp_kept', 'one that keeps it is told');

    stand.vendor.next(errorAnswer(400, 'previous_response_not_found'), jsonAnswer(200, { ...answer, id: 'resp_6' }));
    assert.equal((await sendJson('responses', model, { ...goesOn, previous_response_id: 'resp_kept' }))[0], 200);
    const [byId, inFull] = stand.vendor.requests.slice(-2).map(({ json }) => json);
    assert.equal(byId?.previous_response_id, 'resp_kept');
    assert.equal(inFull?.previous_response_id, undefined, 'one that has forgotten it is told all of it');

    const [refused, { error }] = await sendJson('responses', model, {
      ...goesOn,
      previous_response_id: 'resp_private',
    });
    assert.deepEqual([refused, error.param], [404, 'previous_response_id'], 'the client itself wanted nothing kept');
  });

  it('case 107: tokens are counted for any vendor, the system prompt and the tools too, and for many who ask at once', async () => {
    const known = stand.vendor.requests.length;
    const model = fresh('chat');
    const count = async (more: JsonObject = {}): Promise<number> => {
      const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Fix the bug.' }], ...more });
      const url = `${stand.gateway.url}/v1/messages/count_tokens?beta=true`;
      const answer = await fetch(url, { method: 'POST', headers: headers(), body });
      assert.equal(answer.status, 200);
      return ((await answer.json()) as Body).input_tokens;
    };
    const words = await count();
    const long = 'You write code. '.repeat(1_000);
    const schema = { type: 'object', properties: { path: { type: 'string', description: long } } };
    assert.ok((await count({ system: long })) > words + 3_000, 'the system prompt');
    assert.ok((await count({ tools: [{ name: 'read', input_schema: schema }] })) > words + 3_000, 'the tools');
    const many = await Promise.all(Array.from({ length: 50 }, () => count()));
    assert.deepEqual(new Set(many), new Set([words]));
    assert.equal(stand.vendor.requests.length, known, 'a vendor that cannot count is not asked');
  });

  it('case 115: a whole answer that takes long is JSON and nothing else', async () => {
    for (const from of CLIENTS) {
      const kind = from === 'responses' ? 'messages' : 'responses';
      stand.vendor.next((asked) => [
        hold(`case-115-${from}`),
        ...jsonAnswer(200, SPEECHES[kind].whole(SCENARIOS.text, asked.json)),
      ]);
      const { text, headers, complete } = await send(from, fresh(kind), {}, async () => {
        await vendorHolds(`case-115-${from}`);
        stand.clock.advance(40_000);
        stand.vendor.release(`case-115-${from}`);
      });
      assert.equal(text, JSON.stringify(JSON.parse(text)), 'as it was written, without a byte before or behind');
      assert.ok(text.includes(TEXT));
      assert.match(headers['content-type'] ?? '', /^application\/json/);
      assert.equal(complete, true);
    }
    // So that this says something: a stream is kept alive by then, in the words of its style.
    stand.vendor.next([hold('case-115'), ...eventStream([...eventsOf('chat'), fin()])]);
    const { text } = await send('messages', fresh('chat'), STREAM, async () => {
      await vendorHolds('case-115');
      stand.clock.advance(40_000);
      stand.vendor.release('case-115');
    });
    assert.ok(text.startsWith(messages.ingress!.keepAlive!), text);
  });
});

/*
 * What no test can state:
 * 65: a vendor of the client's own style that gives its events ids keeps them, and a comment behind one is an event to the client
 * for Python, whoever wrote the comment.
 */
