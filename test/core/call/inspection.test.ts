/** The phases `inspect` and `revise`, on a whole gateway: every client's style before every vendor's. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Content, ContentPart, Inspection, Revision } from '../../../core/contracts/formats/content.ts';
import type { Part } from '../../../core/contracts/formats/conversation.ts';
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import { type Awaitable, definePlugin, type Exchange, type Known, refuse } from '../../../core/plugin.ts';
import { foldParts } from '../../../core/translation/conversation/fold.ts';
import { KIND_NAMES, modelOf, openStand, type Stand } from '../../clients/stand.ts';
import { CLIENTS, type ClientName } from '../../e2e/faults/style-clients.ts';
import { toldTo } from '../../kit/contracts/told.ts';
import { replyOf } from '../../kit/conversations/conversations.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { breaksOff, heard, SCENARIOS, SPEECHES } from '../../kit/vendors/scenarios.ts';
import { eventStream, hold, jsonAnswer, streamAnswer, wholeAnswer } from '../../kit/vendors/script.ts';

const CLIENT_NAMES = Object.keys(CLIENTS) as readonly ClientName[];

/** What the plugin of a test does, and what it has seen. */
interface Acting {
  inspect?: (x: Known, content: Content) => Awaitable<Inspection | undefined>;
  revise?: (x: Known) => Revision | undefined;
  settled: Exchange[];
  answers: (JsonObject | undefined)[];
}

/** A plugin that does what the test says. */
function acting(name: string) {
  const acts: Acting = { settled: [], answers: [] };
  const plugin = definePlugin({
    name,
    api: 2,
    create: () => ({
      inspect: (x, content) => acts.inspect?.(x, content),
      revise: (x) => acts.revise?.(x),
      settle(x) {
        acts.settled.push(x);
        acts.answers.push(x.answer());
        return undefined;
      },
    }),
  });
  return { acts, plugin };
}

const outer = acting('outer');
const inner = acting('inner');

/** A revision of each delta of a text. */
function deltas(change: (text: string) => string): Revision {
  return {
    part: (part) => [part.type === 'delta' ? { ...part, text: change(part.text) } : part],
    end: () => [],
  };
}

/** Follows the parts, and changes nothing. */
function observer(seen: ContentPart[]): Revision {
  return {
    observes: true,
    part(part) {
      seen.push(part);
      return [];
    },
    end: () => [],
  };
}

/** `map` for the texts of a conversation, when the test asks for it. */
const replacing = (from: string, to: string) => (_x: Known, content: Content) =>
  content.mapTexts((text) => text.replaceAll(from, to));

async function* later(parts: readonly Part[]): AsyncIterable<Part> {
  for (const part of parts) yield part;
}

describe('the content of a call', () => {
  let stand: Stand;
  before(async () => {
    stand = await openStand(0, { plugins: [outer.plugin, inner.plugin], price: { input: 1_000, output: 2_000 } });
  });
  after(() => stand?.stop());
  afterEach(() => {
    for (const { acts } of [outer, inner]) {
      delete acts.inspect;
      delete acts.revise;
      acts.settled = [];
      acts.answers = [];
    }
    stand.vendor.forget();
  });

  async function send(path: string, body: JsonObject, headers: Readonly<Record<string, string>> = {}) {
    const count = stand.vendor.requests.length;
    const response = await fetch(stand.root + path, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${stand.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await textOf(response);
    return { response, text, requests: stand.vendor.requests.slice(count) };
  }

  async function ask(client: ClientName, kind: (typeof KIND_NAMES)[number], more: JsonObject = {}) {
    const { path, headers, ask: question } = CLIENTS[client];
    return send(path, { ...question(modelOf(kind)), ...more }, headers);
  }

  for (const client of CLIENT_NAMES) {
    const style = CLIENTS[client];
    for (const kind of KIND_NAMES) {
      describe(`of a ${client} client before a ${kind} vendor`, () => {
        it('is replaced before the vendor gets it, and reserved for as it is then', async () => {
          let replaced: Known | undefined;
          outer.acts.inspect = replacing('Hello?', 'Good morning! '.repeat(50));
          inner.acts.inspect = (x) => {
            replaced = x;
            return undefined;
          };
          stand.next(SCENARIOS.text);
          const { response, text, requests } = await ask(client, kind);
          assert.equal(response.status, 200, text);
          assert.equal(style.whole(JSON.parse(text) as JsonObject).text, SCENARIOS.text.text.join(''));
          const { body } = heard(requests[0]!, VENDOR_KEY);
          assert.ok(toldTo(kind, body).asked.includes('Good morning!'), JSON.stringify(body));
          assert.ok(!JSON.stringify(body).includes('Hello?'));
          assert.ok(replaced!.call.bounds.inputBytes > 700);
        });

        it('has its answer revised, whole and streamed, while the usage stays what the vendor counted', async () => {
          outer.acts.revise = () => deltas((text) => text.toUpperCase());
          const expected = SCENARIOS.text.text.join('').toUpperCase();
          stand.next(SCENARIOS.text, SCENARIOS.text);
          const whole = await ask(client, kind);
          assert.equal(style.whole(JSON.parse(whole.text) as JsonObject).text, expected);
          const streamed = await ask(client, kind, style.streamed);
          const understood = style.stream(streamed.text);
          assert.deepEqual([understood.text, understood.ended], [expected, true], streamed.text);
          for (const { usage } of outer.acts.settled) {
            assert.equal(usage?.output, SCENARIOS.text.usage.output);
            assert.equal(usage?.input, SCENARIOS.text.usage.input);
          }
        });

        it('is refused in the client’s own style, and the answer cut off there, without what came last', async () => {
          let pieces = 0;
          outer.acts.revise = () => {
            pieces = 0;
            return deltas((text) => (++pieces === 3 ? refuse(403, 'content_refused', 'No.') : text));
          };
          stand.next(SCENARIOS.text, SCENARIOS.text);
          const whole = await ask(client, kind);
          pieces = 2;
          outer.acts.revise = () => deltas(() => refuse(403, 'content_refused', 'No.'));
          const early = await ask(client, kind);
          assert.equal(early.response.status, 403, early.text);
          assert.equal(
            style.refusal(JSON.parse(early.text) as JsonObject, early.response.headers.get('x-request-id')!).message,
            'No.',
          );
          // A whole answer is one delta for each block.
          assert.equal(whole.response.status, 200);
          const [first] = outer.acts.settled.slice(-1);
          assert.equal(first?.outcome, 'refused');
          assert.equal(first?.usage?.output, SCENARIOS.text.usage.output, 'the vendor made it, and it is paid');

          outer.acts.revise = () => {
            pieces = 0;
            return deltas((text) => (++pieces === 3 ? refuse(403, 'content_refused', 'No.') : text));
          };
          stand.next(SCENARIOS.text);
          const { text } = await ask(client, kind, style.streamed);
          const understood = style.stream(text);
          assert.equal(understood.error?.message, 'No.', text);
          assert.ok(!understood.ended);
          assert.ok(SCENARIOS.text.text.join('').startsWith(understood.text) && understood.text !== '');
          assert.ok(!text.includes('👋'), 'nothing behind the refusal');
          assert.equal(outer.acts.settled.at(-1)?.outcome, 'failed');
          assert.ok((outer.acts.settled.at(-1)?.usage?.output ?? 0) > 0);
        });

        it('is kept as a whole answer of its style for plugins that want it, and costs bytes nothing', async () => {
          outer.acts.inspect = (x) => {
            x.keepAnswer();
            return undefined;
          };
          stand.next(SCENARIOS.text, SCENARIOS.text);
          await ask(client, kind);
          const { text } = await ask(client, kind, style.streamed);
          assert.equal(style.stream(text).text, SCENARIOS.text.text.join(''));
          for (const answer of outer.acts.answers) {
            assert.equal(style.whole(answer!).text, SCENARIOS.text.text.join(''));
            assert.ok(style.whole(answer!).ended);
            assert.equal(style.whole(answer!).output, SCENARIOS.text.usage.output);
          }
          assert.equal(outer.acts.answers.length, 2);
        });
      });
    }

    it(`of a ${client} client is forwarded as bytes by a vendor of its style while plugins only look`, async () => {
      const seen: ContentPart[] = [];
      outer.acts.inspect = async (_x, content) => void (await content.conversation());
      outer.acts.revise = () => observer(seen);
      const events = SPEECHES[client].events(SCENARIOS.call, style.streamed).join('');
      const body = SPEECHES[client].whole(SCENARIOS.call, {});
      stand.vendor.next(eventStream([events]), jsonAnswer(200, body));
      const streamed = await ask(client, client, style.streamed);
      assert.equal(streamed.text, events);
      const reply = foldParts(seen)!;
      assert.deepEqual(
        reply.blocks.map(({ type }) => type),
        ['text', 'toolCall'],
      );
      seen.length = 0;
      const whole = await ask(client, client);
      assert.equal(whole.text, JSON.stringify(body));
      assert.deepEqual(foldParts(seen)!.blocks, reply.blocks);
    });

    it(`of a ${client} client can be answered by a plugin, whole or in parts, and no vendor is asked`, async () => {
      const reply = { ...replyOf([{ type: 'text', text: 'From the cache.' }]), usage: usage(7, 3) };
      const parts: readonly Part[] = [
        { type: 'start', id: 'a', model: 'their-model' },
        { type: 'blockStart', key: 0, block: { type: 'text', text: '' } },
        { type: 'delta', key: 0, text: 'From the ' },
        { type: 'delta', key: 0, text: 'cache.' },
        { type: 'blockEnd', key: 0 },
        { type: 'usage', usage: usage(7, 3) },
        { type: 'finish', finish: { reason: 'stop' } },
      ];
      const unexpected = () => assert.fail('plugins behind it are not asked');
      for (const given of [() => reply, () => later(parts)]) {
        for (const charge of ['usage', 'nothing'] as const) {
          outer.acts.inspect = (x) => {
            x.keepAnswer();
            return { answer: given(), charge };
          };
          inner.acts.inspect = unexpected;
          inner.acts.revise = unexpected;
          for (const more of [{}, style.streamed]) {
            const { response, text, requests } = await ask(client, 'chat', more);
            assert.equal(response.status, 200, text);
            const understood = more === style.streamed ? style.stream(text) : style.whole(JSON.parse(text));
            assert.deepEqual([understood.text, understood.ended], ['From the cache.', true], text);
            assert.deepEqual([understood.input, understood.output], [7, 3], text);
            assert.equal(requests.length, 0);
            const settled = outer.acts.settled.at(-1)!;
            assert.equal(settled.outcome, 'served');
            assert.deepEqual(settled.attempts, []);
            assert.equal(settled.notes.answeredBy, 'outer');
            assert.equal(style.whole(outer.acts.answers.at(-1)!).text, 'From the cache.');
            const cost = response.headers.get('x-turnpike-cost');
            if (more !== style.streamed) assert.equal(cost, charge === 'usage' ? '6500' : '0');
          }
        }
      }
    });

    it(`of a ${client} client ends with an error in its own style if a plugin throws, and the log names the plugin`, async () => {
      const broken = (): never => {
        throw new Error('a bug');
      };
      const named = () => stand.gateway.log.filter((line) => line.includes('a bug') && line.includes('"outer"'));
      const count = named().length;
      outer.acts.inspect = broken;
      const inspected = await ask(client, client);
      outer.acts.inspect = () => undefined;
      outer.acts.revise = broken;
      const begun = await ask(client, client);
      outer.acts.revise = () => deltas(broken);
      stand.next(SCENARIOS.text, SCENARIOS.text);
      const whole = await ask(client, client);
      for (const { response, text } of [inspected, begun, whole]) {
        assert.equal(response.status, 500, text);
        const { code } = style.refusal(JSON.parse(text) as JsonObject, response.headers.get('x-request-id')!);
        assert.equal(code, 'internal_error');
      }
      let pieces = 0;
      outer.acts.revise = () => deltas((text) => (++pieces < 3 ? text : broken()));
      const streamed = await ask(client, client, style.streamed);
      assert.ok(style.stream(streamed.text).error !== undefined, streamed.text);
      assert.equal(named().length - count, 4);
      assert.equal(outer.acts.settled.length, 4, 'the ledger knows of each');
    });

    it(`of a ${client} client ends well if a plugin ends its answer, and the vendor is cut off`, async () => {
      const ending = (): Revision => {
        let length = 0;
        return {
          part(part) {
            if (part.type === 'delta') length += part.text.length;
            if (length <= 5) return [part];
            return [{ type: 'finish', finish: { reason: 'content_filter' } }];
          },
          end: () => [],
        };
      };
      outer.acts.revise = ending;
      stand.vendor.next((request) => {
        const events = SPEECHES[client].events(SCENARIOS.text, request.json);
        const third = 1 + events.findIndex((event) => event.includes(' from Zü'));
        return eventStream([...events.slice(0, third), hold('never'), ...events.slice(third)]);
      });
      const { text } = await ask(client, client, style.streamed);
      const understood = style.stream(text);
      assert.deepEqual([understood.text, understood.error], ['Hello', undefined], text);
      const { outcome, usage: used } = outer.acts.settled[0]!;
      assert.equal(outcome, 'served');
      // Hello from Zü: 13 characters, four to a token.
      assert.equal(used?.output, 4, 'what the vendor made counts, not what was sent');
    });

    it(`of a ${client} client is not complete if its vendor breaks off, whatever is held back`, async () => {
      let held = '';
      outer.acts.revise = () => ({
        part(part) {
          if (part.type !== 'delta') return [part];
          held += part.text;
          return [];
        },
        end: () => assert.fail('it did not come to its end'),
      });
      stand.vendor.next(breaksOff(SCENARIOS.text, 3));
      const { text, response } = await ask(client, client, style.streamed);
      assert.ok(held.startsWith('Hello from'));
      assert.ok(response.status >= 500 || style.stream(text).error !== undefined, text);
      assert.ok(!text.includes('Hello'));
    });
  }

  it('is revised by the last plugin first, and inspected by the first', async () => {
    const order: string[] = [];
    for (const [name, { acts }] of Object.entries({ outer, inner })) {
      acts.inspect = () => void order.push(name);
      acts.revise = () => deltas((text) => `${text}<${name}>`);
    }
    stand.next({ ...SCENARIOS.text, text: ['Hi'] });
    const { text } = await ask('chat', 'chat');
    assert.deepEqual(order, ['outer', 'inner']);
    assert.equal(CLIENTS.chat.whole(JSON.parse(text)).text, 'Hi<inner><outer>');
  });

  it('ends when its vendor has ended it, though a plugin would swallow that, and the others release what they hold', async () => {
    const swallowing = (): Revision => ({ part: (part) => (part.type === 'finish' ? [] : [part]), end: () => [] });
    const holding = (): Revision => {
      let held: ContentPart[] = [];
      return {
        part(part) {
          if (part.type === 'finish' || part.type === 'start') return [part];
          held.push(part);
          return [];
        },
        end() {
          const all = held;
          held = [];
          return all;
        },
      };
    };
    inner.acts.revise = swallowing;
    outer.acts.revise = holding;
    for (const client of CLIENT_NAMES) {
      stand.next(SCENARIOS.text);
      const { text } = await ask(client, client, CLIENTS[client].streamed);
      const understood = CLIENTS[client].stream(text);
      assert.deepEqual([understood.text, understood.ended], [SCENARIOS.text.text.join(''), true], text);
    }
  });

  it('is revised by the plugins before the one that answers', async () => {
    outer.acts.revise = () => deltas((text) => text.toUpperCase());
    inner.acts.revise = () => assert.fail('it would revise its own answer');
    inner.acts.inspect = () => ({ answer: replyOf([{ type: 'text', text: 'cached' }]), charge: 'nothing' });
    const { text } = await ask('chat', 'chat');
    assert.equal(CLIENTS.chat.whole(JSON.parse(text)).text, 'CACHED');
  });

  it('lets others have their turn while a plugin maps the texts of a large body', async () => {
    const messages = Array.from({ length: 40 }, (_, i) => ({ role: 'user', content: `${i} secret `.repeat(4_000) }));
    let turns = 0;
    let mapping = false;
    const count = (): void => {
      turns++;
      if (mapping) setImmediate(count);
    };
    outer.acts.inspect = async (_x, content) => {
      // Decoding has turns of its own.
      await content.conversation();
      mapping = true;
      setImmediate(count);
      const inspection = await content.mapTexts((text) => text.replaceAll('secret', 'x'));
      mapping = false;
      return inspection;
    };
    stand.next(SCENARIOS.text);
    const { response, requests, text } = await ask('chat', 'chat', { messages });
    assert.equal(response.status, 200, text);
    assert.ok(!requests[0]!.body.includes('secret') && requests[0]!.body.includes('39 x '));
    assert.ok(turns >= 8, `${turns} turns`);
  });

  it('with several answers is forwarded if plugins only look, and refused if one changes it', async () => {
    const two = (body: JsonObject): JsonObject => {
      const whole = SPEECHES.chat.whole(SCENARIOS.text, body) as { readonly choices: readonly JsonObject[] };
      return { ...whole, choices: [0, 1].map((index) => ({ ...whole.choices[0]!, index })) } as JsonObject;
    };
    outer.acts.inspect = async (_x, content) => {
      assert.ok((await content.conversation()) !== undefined);
      return undefined;
    };
    stand.vendor.next((request) => jsonAnswer(200, two(request.json)));
    const looked = await ask('chat', 'chat', { n: 2 });
    assert.equal(looked.response.status, 200, looked.text);
    outer.acts.inspect = replacing('Hello?', 'Good morning!');
    const replaced = await ask('chat', 'chat', { n: 2 });
    outer.acts.inspect = () => undefined;
    outer.acts.revise = () => deltas((text) => text);
    const revised = await ask('chat', 'chat', { n: 2 });
    for (const { response, text, requests } of [replaced, revised]) {
      assert.deepEqual([response.status, requests.length], [400, 0], text);
      assert.equal(((JSON.parse(text) as JsonObject).error as JsonObject).code, 'unsupported_parameter');
    }
  });

  it('of a kept turn is inspected with the turns before it, and the vendor gets no id that it knows otherwise', async () => {
    const first = await (async () => {
      stand.next(SCENARIOS.text);
      return ask('responses', 'responses', { input: 'My secret is Hello?' });
    })();
    const { id } = JSON.parse(first.text) as { readonly id: string };
    outer.acts.inspect = replacing('Hello?', 'nothing');
    stand.next(SCENARIOS.text);
    const { response, text, requests } = await ask('responses', 'responses', {
      input: 'What is it?',
      previous_response_id: id,
    });
    assert.equal(response.status, 200, text);
    assert.equal(requests.length, 1);
    const body = JSON.stringify(requests[0]!.json);
    assert.ok(body.includes('My secret is nothing') && body.includes('What is it?'), body);
    assert.ok(!body.includes('Hello?') && !body.includes(id));
    outer.acts.inspect = () => undefined;
    const kept = await fetch(`${stand.v1}/responses/${id}/input_items`, {
      headers: { authorization: `Bearer ${stand.key}` },
    });
    assert.ok((await kept.text()).includes('My secret is Hello?'), 'what the client said is kept as it said it');
  });

  it('is inspected of a request whose tokens are only counted', async () => {
    const body = { model: modelOf('messages'), messages: [{ role: 'user', content: 'Hello?' }] };
    const headers = CLIENTS.messages.headers!;
    let purpose = '';
    outer.acts.inspect = (x, content) => {
      purpose = content.purpose;
      return replacing('Hello?', 'Good morning!')(x, content);
    };
    stand.vendor.next(jsonAnswer(200, { input_tokens: 5 }));
    const { text, requests } = await send('/v1/messages/count_tokens', body, headers);
    assert.deepEqual([text, purpose], ['{"input_tokens":5}', 'count']);
    const asked = requests[0]!.json;
    assert.ok(JSON.stringify(asked).includes('Good morning!') && !JSON.stringify(asked).includes('Hello?'));
    assert.deepEqual(Object.keys(asked).sort(), ['messages', 'model']);
    outer.acts.inspect = () => refuse(403, 'content_refused', 'No.');
    const refused = await send('/v1/messages/count_tokens', body, headers);
    assert.deepEqual([refused.response.status, refused.requests.length], [403, 0], refused.text);
  });

  it('loses its log probabilities if a plugin changes the text, and reports that', async () => {
    outer.acts.revise = () => ({
      part: (part) => [part.type === 'delta' ? { type: 'delta', key: part.key, text: 'other' } : part],
      end: () => [],
    });
    const logprobs = { content: [{ token: 'Hi', logprob: -1, bytes: null, top_logprobs: [] }], refusal: null };
    const answer: JsonObject = {
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, logprobs, finish_reason: 'stop' }],
    };
    const chunk = { ...answer, object: 'chat.completion.chunk' };
    const choice = { index: 0, delta: { role: 'assistant', content: 'Hi' }, logprobs, finish_reason: 'stop' };
    stand.vendor.next(
      jsonAnswer(200, answer),
      eventStream([`data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\n`, 'data: [DONE]\n\n']),
    );
    const whole = await ask('chat', 'chat', { logprobs: true });
    assert.match(whole.response.headers.get('x-turnpike-translation') ?? '', /logprobs:omitted/);
    const streamed = await ask('chat', 'chat', { logprobs: true, ...CLIENTS.chat.streamed });
    for (const { text } of [whole, streamed]) assert.ok(text.includes('other') && !text.includes('"Hi"'), text);
    assert.deepEqual(
      outer.acts.settled.map(({ notes }) => notes.translation),
      [['logprobs:omitted'], ['logprobs:omitted']],
    );
  });

  it('is replaced in a large body, whose media arrive as they were', async () => {
    const image = Buffer.alloc(2 * 1_024 * 1_024, 'Turnpike').toString('base64');
    const content = [
      { type: 'text', text: 'A secret' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } },
    ];
    outer.acts.inspect = replacing('secret', 'picture');
    for (const kind of ['chat', 'messages'] as const) {
      stand.vendor.next((request) => jsonAnswer(200, SPEECHES[kind].whole(SCENARIOS.text, request.json)));
      const { response, text, requests } = await ask('chat', kind, { messages: [{ role: 'user', content }] });
      assert.equal(response.status, 200, text);
      const body = requests[0]!.body.toString();
      assert.ok(body.includes('A picture') && !body.includes('A secret'));
      assert.ok(body.includes(image), kind);
    }
  });

  it('is refused if a plugin looks at it and it cannot be decoded', async () => {
    outer.acts.inspect = async (_x, content) => void (await content.conversation());
    const { response, requests } = await send('/v1/chat/completions', {
      model: modelOf('chat'),
      messages: [{ role: 'user', content: [{ type: 'text', text: 7 }] }],
    });
    assert.deepEqual([response.status, requests.length], [400, 0]);
  });

  it('is aborted if its client disconnects, whatever the plugin that answers waits for', async () => {
    let left = false;
    const answer: AsyncIterable<Part> = {
      async *[Symbol.asyncIterator]() {
        yield { type: 'start', id: 'a', model: 'm' };
        yield { type: 'blockStart', key: 0, block: { type: 'text', text: '' } };
        yield { type: 'delta', key: 0, text: 'Hello' };
        await new Promise(() => {});
      },
    };
    outer.acts.inspect = (x) => {
      x.defer(() => {
        left = true;
      });
      return { answer, charge: 'nothing' };
    };
    const { path, ask: question } = CLIENTS.chat;
    const leaving = new AbortController();
    const response = await fetch(stand.root + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${stand.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...question(modelOf('chat')), stream: true }),
      signal: leaving.signal,
    });
    const reader = response.body!.getReader();
    await reader.read();
    leaving.abort();
    await assert.rejects(reader.read());
    while (outer.acts.settled.length === 0) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(outer.acts.settled[0]?.outcome, 'aborted');
    assert.ok(left);
  });

  it('ends with an error if the plugin that answers breaks off in the middle', async () => {
    const parts: readonly Part[] = [
      { type: 'start', id: 'a', model: 'm' },
      { type: 'blockStart', key: 0, block: { type: 'text', text: '' } },
      { type: 'delta', key: 0, text: 'Hello' },
    ];
    for (const client of CLIENT_NAMES) {
      const style = CLIENTS[client];
      outer.acts.inspect = () => ({ answer: later(parts), charge: 'usage' });
      const streamed = await ask(client, client, style.streamed);
      const understood = style.stream(streamed.text);
      assert.deepEqual([understood.text, understood.ended], ['Hello', false], streamed.text);
      assert.ok(understood.error !== undefined, streamed.text);
      const whole = await ask(client, client);
      assert.equal(whole.response.status, 500, whole.text);
    }
    assert.deepEqual(
      outer.acts.settled.map(({ outcome }) => outcome),
      Array(6).fill('failed'),
    );
  });

  it('tells plugins nothing of a call that no plugin looks at', async () => {
    stand.next(SCENARIOS.text);
    await ask('chat', 'chat', CLIENTS.chat.streamed);
    assert.deepEqual(outer.acts.answers, [undefined], 'a stream of chat is not collected');
  });
});

describe('the texts of a call that is no conversation', () => {
  let gateway: TestGateway;
  let vendor: FakeVendor;
  const { acts, plugin } = acting('texts');
  before(async () => {
    vendor = await fakeVendor();
    const speaks = ['chat', 'completions', 'embeddings', 'images', 'speech'];
    gateway = await startGateway({
      plugins: [plugin],
      config: {
        channels: [
          { name: 'main', vendor: 'compatible', url: vendor.url, key: VENDOR_KEY, speaks },
          { name: 'chatty', vendor: 'compatible', url: vendor.url, key: VENDOR_KEY, speaks: ['chat'] },
        ],
        models: { m: { from: ['main'], free: true }, chatty: { from: ['chatty'], free: true } },
      },
    });
  });
  after(async () => {
    await gateway?.stop();
    await vendor?.close();
  });
  afterEach(() => {
    delete acts.inspect;
    delete acts.revise;
    acts.answers = [];
    vendor.forget();
  });

  async function send(path: string, body: JsonObject) {
    const count = vendor.requests.length;
    const response = await fetch(`${gateway.url}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', ...body }),
    });
    return { response, text: await textOf(response), requests: vendor.requests.slice(count) };
  }

  const embedding = {
    object: 'list',
    data: [0, 1].map((index) => ({ object: 'embedding', index, embedding: [0.5] })),
    model: 'e',
  };
  const images = { created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }] };
  const completion = (text: string): JsonObject => ({
    ...{ id: 'cmpl-1', object: 'text_completion', created: 1, model: 'm' },
    choices: [{ text, index: 0, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
  });
  const CALLS = {
    embeddings: {
      body: { input: ['a secret', 'another'] },
      sent: { input: ['a public', 'another'] },
      answer: embedding,
    },
    'images/generations': {
      body: { prompt: 'a secret', n: 1 },
      sent: { prompt: 'a public', n: 1 },
      answer: images,
    },
    completions: { body: { prompt: 'a secret' }, sent: { prompt: 'a public' }, answer: completion('So be it.') },
  } as const satisfies Readonly<Record<string, { body: JsonObject; sent: JsonObject; answer: JsonObject }>>;

  for (const [path, { body, sent, answer }] of Object.entries(CALLS)) {
    it(`are seen and replaced on /v1/${path}`, async () => {
      let texts: readonly string[] = [];
      acts.inspect = async (_x, content) => {
        assert.equal(await content.conversation(), undefined);
        texts = content.texts();
        return content.mapTexts((text) => text.replaceAll('secret', 'public'));
      };
      vendor.next(jsonAnswer(200, answer));
      const { response, text, requests } = await send(path, body);
      assert.equal(response.status, 200, text);
      assert.equal(texts[0], 'a secret');
      const json = requests[0]!.json;
      for (const [name, value] of Object.entries(sent)) assert.deepEqual(json[name], value as Json);
    });
  }

  it('are refused if they are token ids, which the gateway cannot read', async () => {
    acts.inspect = (_x, content) => content.mapTexts((text) => text);
    for (const [path, body] of [
      ['embeddings', { input: [1, 2, 3] }],
      ['embeddings', { input: [[1], [2]] }],
      ['completions', { prompt: [1, 2] }],
    ] as const) {
      const { response, text, requests } = await send(path, body);
      assert.deepEqual([response.status, requests.length], [400, 0], text);
    }
    acts.inspect = () => undefined;
    vendor.next(jsonAnswer(200, embedding));
    assert.equal((await send('embeddings', { input: [[1], [2]] })).response.status, 200);
  });

  it('have answers on completions that are revised and kept, whole and streamed, by vendors of either style', async () => {
    const events = ['So ', 'be it.'].map((text) => ({ ...completion(text), usage: null })) as JsonObject[];
    const stream = eventStream([...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n']);
    for (const model of ['m', 'chatty']) {
      for (const revises of [false, true]) {
        acts.inspect = (x) => x.keepAnswer() as undefined;
        if (revises) acts.revise = () => deltas((text) => text.toUpperCase());
        else delete acts.revise;
        const chat = { deltas: ['So ', 'be it.'] };
        vendor.next(
          model === 'm' ? jsonAnswer(200, completion('So be it.')) : wholeAnswer(chat),
          model === 'm' ? stream : streamAnswer(chat),
        );
        const whole = await send('completions', { model, prompt: 'Amen' });
        const streamed = await send('completions', { model, prompt: 'Amen', stream: true });
        const expected = revises ? 'SO BE IT.' : 'So be it.';
        const { choices } = JSON.parse(whole.text) as { readonly choices: readonly { readonly text: string }[] };
        assert.equal(choices[0]!.text, expected);
        const texts = [...streamed.text.matchAll(/"text":"([^"]*)"/g)].map(([, text]) => text);
        assert.equal(texts.join(''), expected, streamed.text);
        assert.ok(streamed.text.endsWith('data: [DONE]\n\n'));
        for (const answer of acts.answers.splice(0)) {
          const kept = answer as { readonly choices: readonly { readonly text: string }[] };
          assert.equal(kept.choices[0]!.text, expected);
        }
      }
    }
    acts.revise = () => deltas((text) => text);
    const two = await send('completions', { prompt: ['One', 'Two'] });
    assert.deepEqual([two.response.status, two.requests.length], [400, 0], two.text);
  });
});

/** Everything that came, also if the connection broke off then. */
async function textOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of body ?? []) text += decoder.decode(chunk, { stream: true });
  } catch {
    // A stream without a good end is torn down.
  }
  return text;
}

function usage(input: number, output: number) {
  return {
    ...{ input, output, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0, inputAudio: 0, reasoning: 0, outputAudio: 0 },
    estimated: false,
  };
}
