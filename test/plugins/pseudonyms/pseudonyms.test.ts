/** The plugin `pseudonyms`: vendors get placeholders, clients get their data back, however a stream is cut. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import { wordFinder } from '../../../core/contracts/matching.ts';
import { createSearch } from '../../../core/sdk.ts';
import { findersOf } from '../../../plugins/pseudonyms/finders.ts';
import { BUILT_IN, builtIn } from '../../../plugins/pseudonyms/section.ts';
import { placeholderFinders, Table } from '../../../plugins/pseudonyms/table.ts';
import { KIND_NAMES, modelOf, openStand, type Stand } from '../../clients/stand.ts';
import { CLIENTS, type ClientName } from '../../e2e/faults/style-clients.ts';
import { toldTo } from '../../kit/contracts/told.ts';
import { COLLECTORS } from '../../kit/conversations/collected.ts';
import fc from '../../kit/fast-check.ts';
import type { Scenario } from '../../kit/speech.ts';
import { SIGNATURE } from '../../kit/vendors/messages-speech.ts';
import { SPEECHES, speechAt } from '../../kit/vendors/scenarios.ts';
import { eventStream, inPieces, jsonAnswer } from '../../kit/vendors/script.ts';

const NAMES = ['Ann Smith', 'Zoë "Z" Müller'];
const VALUES = [...NAMES, 'ann@example.com', '+49 30 1234567', 'DE89 3704 0044 0532 0130 00', '4111 1111 1111 1111'];

function newTable(): Table {
  const listed = [
    { kind: 'NAME', ...wordFinder(NAMES) },
    ...(Object.keys(BUILT_IN) as (keyof typeof BUILT_IN)[]).map((name) => ({
      kind: BUILT_IN[name].kind,
      ...builtIn(name),
    })),
  ];
  return new Table([...listed, ...placeholderFinders(listed.map(({ kind }) => kind))]);
}

/** Texts with values, and with what looks like a placeholder. */
const texts = fc
  .array(
    fc.constantFrom(...VALUES, '[NAME_1]', '[EMAIL_2]', '[', 'NAME_1]', ' ', ', ', 'Ann', '👋', 'ü', '7', '[[NAME_9]'),
    {
      maxLength: 14,
    },
  )
  .map((pieces) => pieces.join(' '));

describe('placeholders', () => {
  it('of large texts are found in a thread, the same as at once', async () => {
    const section = {
      find: Object.keys(BUILT_IN) as (keyof typeof BUILT_IN)[],
      lists: [{ kind: 'NAME', words: NAMES }],
      patterns: [],
    };
    const finders = findersOf(section);
    const all = finders.map((_, i) => i);
    const search = createSearch(new URL('../../../plugins/pseudonyms/pseudonyms-thread.ts', import.meta.url), section);
    const [atOnce, inThread] = [new Table(finders), new Table(finders)];
    const long = Array.from({ length: 300 }, (_, i) => `${VALUES.join(' and ')} or person${i}@example.com`).join('\n');
    // The short one does not wait for the long one.
    const found = await Promise.all([search.find(long, all, 10_000), search.find('ann@example.com', all, 10_000)]);
    assert.deepEqual(found[1].length, 3);
    assert.equal(await inThread.hideMatches(long, found[0]), atOnce.hide(long));
    assert.deepEqual(inThread.counts, atOnce.counts);
    assert.equal((await search.find(long, all, 5)).length, 15, 'no more than were asked for');
    assert.equal(await inThread.hideMatches('nothing', await search.find('nothing', all, 5)), 'nothing');
    await search.close();
  });

  it('of card numbers are found in time that grows with the text alone', () => {
    const card = builtIn('card');
    const cards = '4111 1111 1111 1111 '.repeat(10_000);
    const before = process.cpuUsage().user;
    let count = 0;
    for (let match = card.find(cards, 0); match !== undefined; match = card.find(cards, match.end)) count++;
    assert.equal(count, 10_000);
    assert.equal(card.find('1234567 '.repeat(30_000), 0), undefined);
    assert.equal(card.find(`${'1'.repeat(200_000)}a`, 0), undefined);
    // It is 0.1 s; a match of the whole row of digits for each card would take minutes.
    assert.ok(process.cpuUsage().user - before < 10_000_000);
  });

  it('of card numbers are those of whole groups with a check digit, the longest from the first group on', () => {
    const { find } = builtIn('card');
    const found = (text: string): string | undefined => {
      const match = find(text, 0);
      return match && text.slice(match.start, match.end);
    };
    assert.equal(found('id 12 4111-1111-1111-1111, 7'), '4111-1111-1111-1111');
    assert.equal(found('x4111111111111111'), undefined);
    assert.equal(found('4111111111111111x'), undefined);
    assert.equal(found('4111 1111 1111 1112'), undefined);
    assert.equal(found('4111  1111 1111 1111'), undefined);
    assert.equal(found('4111 1111 1111 1111x 4111111111111111'), '4111111111111111');
  });

  it('stand for every value, and are put back as it was, wherever the text is cut', () => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 20 }), (text, sizes) => {
        const table = newTable();
        const hidden = table.hide(text);
        for (const value of VALUES) assert.ok(!hidden.includes(value), `${value} in ${hidden}`);
        assert.equal(table.restore(hidden), text);
        const flow = table.flow();
        let sent = '';
        for (let at = 0, i = 0; at < hidden.length; i++) {
          const size = 1 + sizes[i % sizes.length]!;
          sent += flow.push(hidden.slice(at, at + size));
          at += size;
        }
        assert.equal(sent + flow.end(), text);
      }),
    );
  });

  it('are the same for the same value, and for the beginning of a conversation whatever follows', () => {
    fc.assert(
      fc.property(texts, texts, (first, second) => {
        const table = newTable();
        const before = table.hide(first);
        table.hide(second);
        assert.equal(table.hide(first), before);
        const later = newTable();
        later.hide(second);
        assert.equal(newTable().hide(first), before);
      }),
    );
  });

  it('are given to whole values, whatever white space is in them and whatever follows', () => {
    const hidden = (text: string): string => newTable().hide(text);
    assert.equal(
      hidden("Write to Ann.O'Hara+x@example.com, or 'bob@example.com'."),
      "Write to [EMAIL_1], or '[EMAIL_2]'.",
    );
    assert.equal(hidden('DE89 3704 0044 0532 0130 00 10.1.2.3'), '[IBAN_1] [IP_1]');
    assert.equal(hidden('DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000.'), '[IBAN_1].');
    assert.equal(hidden('GB82 WEST 1234 5698 7654 32 and'), '[IBAN_1] and');
    assert.equal(hidden('+49\u00a030\u00a01234567'), '[PHONE_1]');
    const words = new Table([{ kind: 'NAME', ...wordFinder(['Ann Smith']) }]);
    assert.equal(
      words.hide('Ann\nSmith, Ann  Smith, ann\u00a0smith; AnnSmith'),
      '[NAME_1], [NAME_2], [NAME_3]; AnnSmith',
    );
  });

  it('are given to numbers only if these can be what they look like', () => {
    const hidden = (text: string): string => newTable().hide(text);
    assert.equal(hidden('4111 1111 1111 1111'), '[CARD_1]');
    assert.equal(hidden('4111 1111 1111 1112 is no card'), '4111 1111 1111 1112 is no card');
    assert.equal(hidden('10.0.0.1 and ann@example.com and Ann'), '[IP_1] and [EMAIL_1] and Ann');
  });

  it('say where in the restored text a place of the text is', () => {
    const table = newTable();
    table.hide('Ann Smith');
    const flow = table.flow();
    const sent = flow.push('To [NAM') + flow.push('E_1], now') + flow.end();
    assert.equal(sent, 'To Ann Smith, now');
    assert.equal(sent.slice(flow.moved(3), flow.moved(11)), 'Ann Smith');
    assert.equal(sent.slice(flow.moved(13)), 'now');
  });
});

describe('the plugin pseudonyms', () => {
  let stand: Stand;
  before(async () => {
    stand = await openStand(0, {
      ship: ['pseudonyms'],
      config: { pseudonyms: { find: ['email'], lists: [{ kind: 'NAME', words: NAMES }] } },
    });
  });
  after(() => stand?.stop());

  const SAID = `I am ${NAMES[1]}, ann@example.com. [NAME_1] is only a word.`;

  async function ask(client: ClientName, kind: (typeof KIND_NAMES)[number], more: JsonObject = {}) {
    const { path, headers, ask: question } = CLIENTS[client];
    const said = client === 'responses' ? { input: SAID } : { messages: [{ role: 'user', content: SAID }] };
    const count = stand.vendor.requests.length;
    const response = await fetch(stand.root + path, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${stand.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...question(modelOf(kind)), ...said, ...more }),
    });
    return { response, text: await response.text(), requests: stand.vendor.requests.slice(count) };
  }

  /** A vendor whose stream comes in pieces of so many bytes. */
  function says(scenario: Scenario, size = 1): void {
    stand.vendor.next((request) => {
      const speech = SPEECHES[speechAt(request.path)];
      const isStream = request.path.includes(':stream') || request.json.stream === true;
      if (!isStream) return jsonAnswer(200, speech.whole(scenario, request.json));
      return inPieces(eventStream(speech.events(scenario, request.json)), size);
    });
  }

  const ANSWER = 'Hello [NAME_1], is [EMAIL_1] yours? [NAME_2] [NAME_3]';
  const RESTORED = `Hello ${NAMES[1]}, is ann@example.com yours? [NAME_1] [NAME_3]`;
  const usage = { input: 10, cached: 0, output: 5, reasoning: 0 };

  for (const client of Object.keys(CLIENTS) as ClientName[]) {
    for (const kind of KIND_NAMES) {
      it(`puts back what a ${client} client said in the answer of a ${kind} vendor, which never got it`, async () => {
        for (const more of [{}, CLIENTS[client].streamed]) {
          // Every byte by itself, and cuts that fall elsewhere each time.
          says({ text: [...ANSWER], end: 'stop', usage }, kind === client ? 1 : 7);
          const { text, requests, response } = await ask(client, kind, more);
          assert.equal(response.status, 200, text);
          const body = requests[0]!.body.toString();
          assert.ok(body.includes('I am [NAME_1], [EMAIL_1]. [NAME_2] is only a word.'), body);
          assert.ok(!/Zo|ann@/.test(body), body);
          const { stream, whole } = CLIENTS[client];
          const understood = more === CLIENTS[client].streamed ? stream(text) : whole(JSON.parse(text));
          assert.equal(understood.text, RESTORED);
        }
      });

      it(`puts it back in reasoning and arguments of tools, from ${kind} to ${client}`, async () => {
        const args = '{"to":"[NAME_1] <[EMAIL_1]>","n":[1.50,"\\u005bNAME_1]"]}';
        const calls = [{ id: 'w1', name: 'get_weather', pieces: [...args] }];
        says({ reasoning: [...'For [NAME_1].'], calls, end: 'tools', usage }, kind === client ? 1 : 7);
        const { text } = await ask(client, kind, { ...CLIENTS[client].streamed, ...TOOLS[client] });
        const answer = await COLLECTORS[client](text);
        const input = inputIn(answer);
        assert.deepEqual(input, { to: `${NAMES[1]} <ann@example.com>`, n: [1.5, NAMES[1]] }, JSON.stringify(answer));
        assert.ok(!JSON.stringify(answer).includes('[NAME_1]'), JSON.stringify(answer));
      });
    }
  }

  for (const client of Object.keys(CLIENTS) as ClientName[]) {
    for (const kind of KIND_NAMES) {
      it(`hides what tools were called with and what they found, from ${client} to ${kind}`, async () => {
        says({ text: ['Done.'], end: 'stop', usage });
        const { response, text, requests } = await ask(client, kind, { ...HISTORY[client], ...TOOLS[client] });
        assert.equal(response.status, 200, text);
        const { calls, results } = toldTo(kind, requests[0]!.json);
        assert.deepEqual(calls[0]?.input, { to: '[NAME_1]', n: 1.5 });
        assert.match(results[0]!.text, /Sent to \[NAME_1\] at \[EMAIL_1\]/);
        assert.ok(!/Zo|ann@/.test(requests[0]!.body.toString()));
      });
    }
  }

  it('sends a signed thought back as its vendor has signed it', async () => {
    says({ reasoning: ['They are [NAME_1].'], text: [ANSWER], end: 'stop', usage });
    const thinking = { max_tokens: 2_000, thinking: { type: 'enabled', budget_tokens: 1_024 } };
    const first = await ask('messages', 'messages', thinking);
    const { content } = JSON.parse(first.text) as { readonly content: readonly JsonObject[] };
    assert.equal(content[0]?.thinking, `They are ${NAMES[1]}.`);
    says({ text: ['Bye.'], end: 'stop', usage });
    const messages = [
      { role: 'user', content: SAID },
      { role: 'assistant', content },
      { role: 'user', content: 'And [EMAIL_1]?' },
    ] as unknown as Json;
    const { requests } = await ask('messages', 'messages', { ...thinking, messages });
    const told = (requests[0]!.json.messages as readonly JsonObject[])[1]!.content as readonly JsonObject[];
    assert.deepEqual(told[0], { type: 'thinking', thinking: 'They are [NAME_1].', signature: SIGNATURE });
    assert.equal(told[1]?.text, ANSWER);
  });

  it('knows what comes again as the client says it, and as it was kept', async () => {
    says({ text: [ANSWER], end: 'stop', usage });
    const first = await ask('responses', 'responses');
    const { id } = JSON.parse(first.text) as { readonly id: string };
    says({ text: ['It is [EMAIL_1].'], end: 'stop', usage });
    const { text, requests } = await ask('responses', 'responses', {
      previous_response_id: id,
      input: 'Write to ann@example.com and bob@example.com',
    });
    const body = requests[0]!.body.toString();
    assert.ok(body.includes('Write to [EMAIL_1] and [EMAIL_2]') && body.includes('Hello [NAME_1], is [EMAIL_1]'), body);
    assert.equal(CLIENTS.responses.whole(JSON.parse(text)).text, 'It is ann@example.com.');
  });

  it('leaves a call in which it finds nothing as it is', async () => {
    const hello = { messages: [{ role: 'user', content: 'Hello?' }] };
    says({ text: [...ANSWER], end: 'stop', usage });
    const { text, requests } = await ask('chat', 'chat', { ...CLIENTS.chat.streamed, ...hello });
    const events = SPEECHES.chat.events({ text: [...ANSWER], end: 'stop', usage }, requests[0]!.json);
    assert.equal(text, events.join(''));
  });
});

const parameters: JsonObject = { type: 'object', properties: { to: { type: 'string' } } };
const TOOLS: Readonly<Record<ClientName, JsonObject>> = {
  chat: { tools: [{ type: 'function', function: { name: 'get_weather', parameters } }] },
  responses: { tools: [{ type: 'function', name: 'get_weather', parameters }] },
  messages: { tools: [{ name: 'get_weather', input_schema: parameters }] },
};

const CALLED = JSON.stringify({ to: NAMES[1], n: 1.5 });
const FOUND = `Sent to ${NAMES[1]} at ann@example.com`;
/** A conversation in which a tool was called. */
const HISTORY: Readonly<Record<ClientName, JsonObject>> = {
  chat: {
    messages: [
      { role: 'user', content: 'Send it.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: CALLED } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: FOUND },
    ],
  },
  responses: {
    input: [
      { role: 'user', content: 'Send it.' },
      { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: CALLED },
      { type: 'function_call_output', call_id: 'call_1', output: FOUND },
    ],
  },
  messages: {
    messages: [
      { role: 'user', content: 'Send it.' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'call_1', name: 'get_weather', input: JSON.parse(CALLED) as Json }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: FOUND }] },
    ],
  },
};

/** The input of the only tool call in an answer, whatever its style. */
function inputIn(answer: Json): Json | undefined {
  if (Array.isArray(answer)) return (answer as readonly Json[]).map(inputIn).find((found) => found !== undefined);
  if (typeof answer !== 'object' || answer === null) return undefined;
  const { arguments: text, input, type } = answer as JsonObject;
  if (typeof text === 'string') return JSON.parse(text) as Json;
  if (type === 'tool_use') return input;
  return inputIn(Object.values(answer) as readonly Json[] as Json);
}
