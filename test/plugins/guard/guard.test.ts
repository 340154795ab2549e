/** The plugin `guard`: what a rule finds reaches neither a vendor nor a client, however a stream is cut. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import { GatewayError, refuse } from '../../../core/plugin.ts';
import { createSearch } from '../../../core/sdk.ts';
import { type Applied, applyRules, applyToLarge, createFlow } from '../../../plugins/guard/flow.ts';
import type { RuleEntry } from '../../../plugins/guard/section.ts';
import { createRule } from '../../../plugins/guard/section.ts';
import { KIND_NAMES, modelOf, openStand, type Stand } from '../../clients/stand.ts';
import { CLIENTS, type ClientName } from '../../e2e/faults/style-clients.ts';
import fc from '../../kit/fast-check.ts';
import { startGateway } from '../../kit/gateway/gateway.ts';
import type { Scenario } from '../../kit/speech.ts';
import { SPEECHES, speechAt } from '../../kit/vendors/scenarios.ts';
import { eventStream, inPieces, jsonAnswer } from '../../kit/vendors/script.ts';

const RULE = { where: 'both', action: 'refuse', replacement: '[redacted]' } as const;

/** Rules, as they are applied to one text. */
function applied(...entries: readonly (Partial<RuleEntry> & Pick<RuleEntry, 'name'>)[]): Applied {
  const rules = entries.map((entry) => createRule({ ...RULE, ...entry }));
  return {
    refusing: rules.filter(({ action }) => action === 'refuse'),
    redacting: rules.filter(({ action }) => action === 'redact'),
    matched: ({ name, action }) => {
      if (action === 'refuse') refuse(403, 'content_refused', name);
    },
  };
}

/** What a stream cut into these pieces sends, and whether it came to its end. */
function streamed(rules: Applied, window: number, pieces: readonly string[]) {
  const flow = createFlow(rules, window);
  let sent = '';
  try {
    for (const piece of pieces) sent += flow.push(piece);
    sent += flow.end();
    return { sent, refused: false };
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return { sent, refused: true };
  }
}

const WORDS = ['Blue Heron', 'Müller', 'secret'];
/** Texts in which the words are not rare, whole and as parts of others. */
const texts = fc
  .array(fc.constantFrom(...WORDS, 'secretly', 'blue', ' ', ', ', 'ünd', '👋', 'no SECRET', '4711', '_'), {
    maxLength: 12,
  })
  .map((pieces) => pieces.join(''));
const cuts = fc.array(fc.nat({ max: 7 }), { minLength: 1, maxLength: 20 });

function piecesOf(text: string, sizes: readonly number[]): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0, i = 0; at < text.length; i++) {
    const size = 1 + sizes[i % sizes.length]!;
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

describe('a rule', () => {
  it('finds whole words whatever their case, and no parts of words', () => {
    const rules = applied({ name: 'words', words: ['secret', 'Müller'], action: 'redact' });
    assert.equal(applyRules(rules, 'Secret, secretly MÜLLER_ müller.'), '[redacted], secretly MÜLLER_ [redacted].');
    assert.equal(applyRules(rules, 'secret secret'), '[redacted] [redacted]');
  });

  it('finds patterns in time that grows with the text alone', () => {
    const rules = applied({ name: 'pattern', pattern: '(a+)+b', action: 'redact', replacement: '-' });
    assert.equal(applyRules(rules, `${'a'.repeat(20_000)}c aab`), `${'a'.repeat(20_000)}c -`);
  });

  it('redacts a stream as it redacts the whole text, wherever that is cut', () => {
    const rules = applied(
      { name: 'words', words: WORDS, action: 'redact' },
      { name: 'number', pattern: '\\b\\d{4}\\b', action: 'redact', replacement: '#' },
    );
    fc.assert(
      fc.property(texts, cuts, fc.integer({ min: 11, max: 30 }), (text, sizes, window) => {
        assert.equal(streamed(rules, window, piecesOf(text, sizes)).sent, applyRules(rules, text));
      }),
    );
  });

  it('sends nothing of what it refuses, and everything of what it does not', () => {
    const rules = applied({ name: 'words', words: WORDS });
    const whole = /(?<![\p{L}\p{N}_])(blue heron|müller|secret)(?![\p{L}\p{N}_])/iu;
    fc.assert(
      fc.property(texts, cuts, fc.integer({ min: 11, max: 30 }), (text, sizes, window) => {
        const { sent, refused } = streamed(rules, window, piecesOf(text, sizes));
        const at = text.search(whole);
        assert.equal(refused, at !== -1);
        if (refused) assert.ok(text.slice(0, at).startsWith(sent), `${sent} of ${text}`);
        else assert.equal(sent, text);
      }),
    );
  });

  it('of a large text does the same in a thread', async () => {
    const entries = [
      { ...RULE, name: 'refused', words: ['Blue Heron'] },
      { ...RULE, name: 'number', pattern: '\\b\\d{4}\\b', action: 'redact' as const, replacement: '#' },
      { ...RULE, name: 'names', words: ['Müller'], action: 'redact' as const },
    ];
    const rules = entries.map(createRule);
    const names: string[] = [];
    const own: Applied = {
      refusing: rules.slice(0, 1),
      redacting: rules.slice(1),
      matched: ({ name, action }) => {
        names.push(name);
        if (action === 'refuse') refuse(403, 'content_refused', name);
      },
    };
    const search = createSearch(new URL('../../../plugins/guard/guard-thread.ts', import.meta.url), entries);
    const text = 'Herr Müller has 4711 and 47111. '.repeat(400);
    const atOnce = applyRules(own, text);
    names.length = 0;
    assert.equal(await applyToLarge(own, rules, search, text), atOnce);
    assert.deepEqual(names.toSorted(), ['names', 'number']);
    await assert.rejects(applyToLarge(own, rules, search, `${text} blue heron`), /refused/);
    await search.close();
  });

  it('says where in the redacted text a place of the text is', () => {
    const flow = createFlow(applied({ name: 'words', words: ['secret'], action: 'redact', replacement: '-' }), 10);
    const sent = flow.push('My secret is ') + flow.push('here.') + flow.end();
    assert.equal(sent, 'My - is here.');
    assert.equal(sent.slice(flow.moved(13), flow.moved(17)), 'here');
  });
});

describe('the plugin guard', () => {
  let stand: Stand;
  before(async () => {
    stand = await openStand(0, {
      ship: ['guard'],
      config: {
        guard: {
          window: 20,
          rules: [
            { name: 'project', words: ['Blue Heron'] },
            { name: 'names', words: ['Müller'], action: 'redact', replacement: 'X' },
            { name: 'elsewhere', words: ['Hello'], models: ['other-*'] },
            { name: 'no key', words: ['Hello'], keys: ['nobody'] },
          ],
        },
      },
    });
  });
  after(() => stand?.stop());

  async function ask(client: ClientName, model: string, more: JsonObject = {}) {
    const { path, headers, ask: question } = CLIENTS[client];
    const count = stand.vendor.requests.length;
    const response = await fetch(stand.root + path, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${stand.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...question(model), ...more }),
    });
    return { response, text: await textOf(response), requests: stand.vendor.requests.slice(count) };
  }
  /** The client's question in other words. */
  const saying = (client: ClientName, text: string): JsonObject =>
    client === 'responses' ? { input: text } : { messages: [{ role: 'user', content: text }] };

  /** A vendor whose stream comes in pieces of so many bytes. */
  function says(scenario: Scenario, size = 1): void {
    stand.vendor.next((request) => {
      const speech = SPEECHES[speechAt(request.path)];
      const isStream = request.path.includes(':stream') || request.json.stream === true;
      if (!isStream) return jsonAnswer(200, speech.whole(scenario, request.json));
      return inPieces(eventStream(speech.events(scenario, request.json)), size);
    });
  }
  const scenario = (text: string): Scenario => ({
    text: [...text],
    end: 'stop',
    usage: { input: 10, cached: 0, output: 5, reasoning: 0 },
  });

  for (const client of Object.keys(CLIENTS) as ClientName[]) {
    const style = CLIENTS[client];
    for (const kind of KIND_NAMES) {
      it(`lets nothing through between a ${client} client and a ${kind} vendor`, async () => {
        const asked = await ask(client, modelOf(kind), saying(client, 'About BLUE heron.'));
        assert.deepEqual([asked.response.status, asked.requests.length], [403, 0], asked.text);
        const told = style.refusal(JSON.parse(asked.text), asked.response.headers.get('x-request-id')!);
        assert.equal(told.code, 'content_refused');
        assert.match(String(told.message), /'project'/);
        assert.ok(!/blue/i.test(asked.text));

        // Every byte by itself, and cuts that fall elsewhere each time.
        const size = kind === client ? 1 : 7;
        says(scenario('Herr Müller says hello to Blue Herons and Müller.'), size);
        const redacted = await ask(client, modelOf(kind), { ...saying(client, 'Who is Müller?'), ...style.streamed });
        assert.equal(style.stream(redacted.text).text, 'Herr X says hello to Blue Herons and X.', redacted.text);
        assert.ok(JSON.stringify(redacted.requests[0]!.json).includes('Who is X?'));

        says(scenario('It is said, and this is no lie, that Blue Heron is a project.'), size);
        const cut = await ask(client, modelOf(kind), style.streamed);
        const understood = style.stream(cut.text);
        // Its style has few codes for responses that fail.
        assert.equal(understood.error?.code, client === 'responses' ? 'server_error' : 'content_refused', cut.text);
        assert.match(String(understood.error?.message), /'project'/);
        assert.ok('It is said, and this is no lie, that '.startsWith(understood.text), understood.text);
        assert.ok(understood.text.length > 10, 'what came before it was sent');

        says(scenario('It is Blue Heron.'));
        const whole = await ask(client, modelOf(kind));
        assert.equal(whole.response.status, 403);
      });
    }
  }

  const HERON = 'Blue Heron';
  const said = (content: unknown): JsonObject => ({ messages: [{ role: 'user', content }] as never });
  const tool = (parameters: JsonObject): JsonObject => ({
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', ...parameters } } }],
  });
  const HIDDEN: Readonly<Record<string, readonly [ClientName, JsonObject]>> = {
    'an unknown member of a message': ['chat', { messages: [{ role: 'user', content: 'x', foo: HERON }] }],
    'a member that only differs in case': ['chat', { messages: [{ role: 'user', content: 'x', Content: HERON }] }],
    'the name of an unknown member': ['chat', { messages: [{ role: 'user', content: 'x', [HERON]: 1 }] }],
    'an unknown member deep in a part': ['chat', said([{ type: 'text', text: 'x', foo: [{ bar: HERON }] }])],
    'an unknown member of the body': ['chat', { foo: { bar: [HERON] } }],
    'an unknown member of an item': ['responses', { input: [{ role: 'user', content: 'x', foo: HERON }] }],
    'an unknown member of a block': ['messages', said([{ type: 'text', text: 'x', foo: HERON }])],
    'a cache mark': ['messages', said([{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', foo: HERON } }])],
    'a container': ['messages', { container: { skills: [{ title: HERON }] } }],
    'context management': ['messages', { context_management: { edits: [{ type: 'x', foo: HERON }] } }],
    'the name of a property': ['chat', tool({ properties: { [HERON]: { type: 'string' } } })],
    'the name of a required property': ['chat', tool({ required: [HERON] })],
    'the name of a property that is named like a keyword': [
      'chat',
      tool({ properties: { properties: { type: 'object', properties: { [HERON]: {} } } } }),
    ],
    'a name in metadata': ['chat', { metadata: { [HERON]: 'x' } }],
    'two texts': [
      'chat',
      said([
        { type: 'text', text: 'Blue ' },
        { type: 'text', text: 'Heron' },
      ]),
    ],
    'two texts without a space': [
      'chat',
      said([
        { type: 'text', text: 'Blue' },
        { type: 'text', text: 'Heron' },
      ]),
    ],
    'two texts that part a word': [
      'chat',
      said([
        { type: 'text', text: 'Blue He' },
        { type: 'text', text: 'ron' },
      ]),
    ],
    'three texts': ['messages', said(['My Bl', 'ue He', 'ron.'].map((text) => ({ type: 'text', text })))],
    'two spaces': ['chat', said('Blue  Heron')],
    'a no-break space': ['chat', said('Blue\u00a0Heron')],
    'a line break': ['chat', said('Blue\r\n\tHeron')],
    'a space without width': ['chat', said('Blue\u200b Heron')],
  };
  for (const [where, [client, more]] of Object.entries(HIDDEN)) {
    it(`finds words in ${where}, before a vendor of the same API gets them`, async () => {
      const { response, text, requests } = await ask(client, modelOf(client as 'chat'), more);
      assert.deepEqual([response.status, requests.length], [403, 0], text);
    });
  }

  it('lets no text through that it redacts and the gateway does not know', async () => {
    says(scenario('Yes.'));
    const more = { messages: [{ role: 'user', content: 'x', foo: 'Müller', Content: 'Müller' }] };
    const { response, requests } = await ask('chat', modelOf('chat'), more);
    assert.equal(response.status, 200);
    assert.ok(!requests[0]!.body.includes('ller'), requests[0]!.body.toString());
    assert.match(response.headers.get('x-turnpike-translation') ?? '', /foo:dropped/);
  });

  it('forwards unknown members as they are if no rule finds anything', async () => {
    says(scenario('Yes.'));
    const more = { messages: [{ role: 'user', content: 'x', foo: 'fine' }] };
    const { requests } = await ask('chat', modelOf('chat'), more);
    assert.deepEqual(requests[0]!.json.messages, more.messages);
  });

  it('looks at turns that were kept, and at requests whose tokens are only counted', async () => {
    says(scenario('Hello.'));
    const first = await ask('responses', modelOf('responses'), { input: 'Who is Müller?' });
    const { id } = JSON.parse(first.text) as { readonly id: string };
    says(scenario('He is.'));
    const { requests } = await ask('responses', modelOf('responses'), { previous_response_id: id, input: 'And now?' });
    assert.ok(requests[0]!.body.includes('Who is X?') && !requests[0]!.body.includes('ller?'));

    const count = (text: string) =>
      fetch(`${stand.v1}/messages/count_tokens`, {
        method: 'POST',
        headers: {
          ...CLIENTS.messages.headers,
          authorization: `Bearer ${stand.key}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ model: modelOf('messages'), messages: [{ role: 'user', content: text }] }),
      });
    stand.vendor.next(jsonAnswer(200, { input_tokens: 9 }));
    const asked = stand.vendor.requests.length;
    assert.deepEqual(await (await count('Who is Müller?')).json(), { input_tokens: 9 });
    assert.ok(stand.vendor.requests[asked]!.body.includes('Who is X?'));
    const refused = await count('Blue Heron');
    assert.equal(refused.status, 403);
    assert.match(await refused.text(), /content_refused/);
    assert.equal(stand.vendor.requests.length, asked + 1);
  });

  it('tells its rules, and what it would refuse, to who has a call explained', async () => {
    const explain = (content: string) =>
      stand.gateway.tryCommand(
        `explain --key ${stand.key} --style chat --body -`,
        JSON.stringify({ model: modelOf('chat'), messages: [{ role: 'user', content }] }),
      );
    const { stdout } = await explain('Hello');
    assert.match(stdout, /input: project \(refuse\), names \(redact\)/);
    assert.match((await explain('Blue Heron')).stdout, /content_refused/);
  });

  it('reads the arguments of tools as what they mean', async () => {
    const calls = [{ id: 'w1', name: 'search', pieces: ['{"q":"M\\u00fc', 'ller","n":1.50}'] }];
    for (const more of [{}, CLIENTS.chat.streamed]) {
      says({ ...scenario(''), text: [], calls, end: 'tools' });
      const { text } = await ask('chat', modelOf('chat'), more);
      assert.ok(text.includes(JSON.stringify('{"q":"X","n":1.50}').slice(1, -1)), text);
    }
  });

  it('names its rules in the usage record, without the text', async () => {
    says(scenario('Müller'));
    const { response } = await ask('chat', modelOf('chat'));
    const id = response.headers.get('x-request-id');
    const rows = JSON.stringify(stand.gateway.rows('SELECT * FROM usage_record'));
    assert.ok(rows.includes('names') && !rows.includes('Müller'), `${id}: ${rows.slice(0, 2_000)}`);
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

describe('a section guard that is wrong', () => {
  it('is refused with the rule that is', async () => {
    const rules = [
      { name: 'one', pattern: '(a)\\1' },
      { name: 'one', words: ['a'] },
    ];
    const config = {
      guard: { rules },
      pipeline: ['accounts', 'auth', 'counters', 'keys', 'guard', 'models', 'styles'],
    };
    await assert.rejects(startGateway({ config }), (error: Error) => {
      assert.match(error.message, /guard\.rules\[0\]\.pattern.*RE2/);
      assert.match(error.message, /guard\.rules\[1\]\.name/);
      return true;
    });
  });
});
