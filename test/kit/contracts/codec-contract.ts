/** What the `vendor` of a style must do, asked without any wire: decoders that accept whatever arrives, and encoders that let nothing vanish. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../../core/bytes/fields.ts';
import { scanAnswer } from '../../../core/bytes/json-body.ts';
import type { Block, Conversation, Reply } from '../../../core/contracts/formats/conversation.ts';
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import type { Origin, Style, StyleVendor, Target } from '../../../core/contracts/formats/style.ts';
import type { Usage } from '../../../core/contracts/formats/usage.ts';
import type { Dialect } from '../../../core/contracts/formats/vendor.ts';
import { GatewayError } from '../../../core/contracts/gateway-error.ts';
import { adapt } from '../../../core/translation/adapt/adapt.ts';
import { foldParts } from '../../../core/translation/conversation/fold.ts';
import { layQuirks } from '../../../core/translation/quirks/quirks.ts';
import { encodeReported } from '../../../core/translation/warnings/unread-fields.ts';
import { collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { checkParts } from '../conversations/parts.ts';
import { ANY_CALL } from '../gateway/calls.ts';
import type { Scenario } from '../speech.ts';
import { CONTRACT_SCENARIOS, eventsOnWire, saysIds, type VendorSpeech } from '../vendors/speech-wire.ts';

const FROM: Origin = { channel: 'main', model: 'vendor-name' };
/** A request that asks to be shown everything. */
const ASKED: JsonObject = { model: 'vendor-name', stream: true };

/** A style of a vendor, and how the vendor answers in it. */
export interface CodecFixtures {
  readonly style: Style;
  readonly dialect: Dialect;
  readonly speech: VendorSpeech;
}

/** Runs the contract. */
export function codecContract({ style, dialect, speech }: CodecFixtures): void {
  const vendor = style.vendor!;
  const scenarios = Object.entries<Scenario>(CONTRACT_SCENARIOS).filter(
    ([, scenario]) => speech.whole(scenario, ASKED) !== undefined,
  );
  const hasIds = saysIds(speech);
  const wholeOf = (scenario: Scenario): JsonObject => speech.whole(scenario, ASKED)!;
  const eventsOf = (scenario: Scenario) =>
    eventsOnWire(dialect, speech.events(scenario, ASKED)).map(({ name, data }) => ({ name, data }));

  describe(`the vendors of the style ${style.name}`, () => {
    it('tell the same in a stream as in one piece, and every part of it in its place', () => {
      for (const [name, scenario] of scenarios) {
        const whole = vendor.decodeReply(wholeOf(scenario), FROM, collectWarnings({}));
        assert.ok(whole !== undefined, `${name}: \`decodeReply\` takes it for no reply`);
        const decoder = vendor.createStreamDecoder(FROM, collectWarnings({}));
        const parts = [...eventsOf(scenario).flatMap((event) => [...decoder.read(event)]), ...decoder.close()];
        checkParts(parts);
        const streamed = foldParts(parts);
        assert.ok(streamed !== undefined, `${name}: the stream lost its end: the decoder gave no \`finish\``);
        assert.deepEqual(
          toldIn(streamed, hasIds),
          toldIn(whole, hasIds),
          `${name}: the stream and the whole reply differ`,
        );
      }
    });

    it('count whole tokens, and the same number wherever usage is read', () => {
      for (const [name, scenario] of scenarios) {
        const body = wholeOf(scenario);
        const facts = style.relay.answer(scanAnswer(Buffer.from(JSON.stringify(body)))!, ANY_CALL);
        assert.ok(facts !== undefined, `${name}: \`relay.answer\` takes it for no reply`);
        const decoded = vendor.decodeReply(body, FROM, collectWarnings({}))?.usage;
        for (const usage of [facts.usage, decoded]) checkWhole(name, usage);
        assert.deepEqual(
          [facts.usage?.input, facts.usage?.output],
          [decoded?.input, decoded?.output],
          `${name}: \`relay.answer\` and \`decodeReply\` count differently`,
        );
        const decoder = vendor.createStreamDecoder(FROM, collectWarnings({}));
        for (const event of eventsOf(scenario))
          for (const part of decoder.read(event)) if (part.type === 'usage') checkWhole(name, part.usage);
      }
    });

    it('are no reply if they say something else', () => {
      for (const body of [{}, { hello: 'world' }]) {
        assert.equal(style.relay.answer(scanAnswer(Buffer.from(JSON.stringify(body)))!, ANY_CALL), undefined);
      }
    });

    it('may say anything: nothing makes a decoder throw', () => {
      for (const [name, scenario] of scenarios) {
        for (const body of damaged(wholeOf(scenario))) {
          if (!isObject(body)) continue;
          survives(`${name}: a whole reply`, body, () => {
            const facts = style.relay.answer(scanAnswer(Buffer.from(JSON.stringify(body)))!, ANY_CALL);
            facts?.textLength();
            if (facts !== undefined) vendor.decodeReply(body, FROM, collectWarnings({}));
          });
        }
        const events = eventsOf(scenario);
        for (const [i, { name: event, data }] of events.entries()) {
          for (const other of [data.slice(0, -1), 'null', '', '{', ...damagedText(data)]) {
            survives(`${name}: a stream`, other, () => {
              const decoder = vendor.createStreamDecoder(FROM, collectWarnings({}));
              for (const before of events.slice(0, i)) decoder.read(before);
              decoder.read({ name: event, data: other });
              for (const behind of events.slice(i + 1)) decoder.read(behind);
              decoder.close();
            });
          }
        }
      }
    });

    it('get everything that a request has, or a warning names it', () => {
      const vanished: string[] = [];
      for (const [what, more] of VARIATIONS) {
        const without = encoded(vendor, style.name, conversation({}));
        const within = encoded(vendor, style.name, more);
        if (without === undefined || within === undefined) continue;
        const isNamed = within.warnings.some((warning) => !without.warnings.includes(warning));
        if (!isNamed && isDeepStrictEqual(within.body, without.body)) vanished.push(what);
      }
      assert.deepEqual(vanished, [], `neither sent nor named as dropped: ${vanished.join(', ')}`);
    });
  });
}

/** What both forms of an answer must tell alike; ids that the style made up are others each time. */
function toldIn({ blocks, finish, usage }: Reply, hasIds: boolean): object {
  const texts = (type: Block['type']) =>
    blocks.flatMap((block) => (block.type === type && 'text' in block ? [block.text] : [])).join('');
  return {
    text: texts('text'),
    refusal: texts('refusal'),
    calls: blocks.flatMap((block) =>
      block.type === 'toolCall' ? [{ id: hasIds && block.id, name: block.name, input: jsonOf(block.input) }] : [],
    ),
    reason: finish.reason,
    usage,
  };
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function checkWhole(name: string, usage: Usage | undefined): void {
  for (const [kind, count] of Object.entries(usage ?? {})) {
    if (typeof count !== 'number' || kind === 'seconds') continue;
    assert.ok(Number.isSafeInteger(count) && count >= 0, `${name}: usage.${kind} is ${count}, and no number of tokens`);
  }
}

/** Runs it; a throw is shown with what caused it. */
function survives(what: string, cause: Json, run: () => unknown): void {
  try {
    run();
  } catch (error) {
    assert.fail(`${what} makes it throw "${(error as Error).message}" for ${JSON.stringify(cause).slice(0, 500)}`);
  }
}

const OTHERS: readonly Json[] = [null, 7, 'x', [], {}];

/** The value with each of its members, in turn, of another type or left out. */
function* damaged(value: Json): Generator<Json> {
  yield* OTHERS;
  if (Array.isArray(value)) {
    const list = value as readonly Json[];
    for (const [i, item] of list.entries()) for (const other of damaged(item)) yield list.with(i, other);
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      const { [name]: _, ...rest } = value;
      yield rest;
      for (const other of damaged(member)) yield { ...value, [name]: other };
    }
  }
}

function damagedText(data: string): readonly string[] {
  try {
    return [...damaged(JSON.parse(data) as Json)].map((value) => JSON.stringify(value));
  } catch {
    return [];
  }
}

/** Body and warnings of a request; undefined if it is refused. Core has fitted it before, as for every call. */
function encoded(
  vendor: StyleVendor,
  style: string,
  asked: Conversation,
): { readonly body: Json; readonly warnings: readonly string[] } | undefined {
  const to: Target = { ...FROM, stream: false, askUsage: false, quirks: layQuirks(vendor.quirks) };
  const warnings = collectWarnings({});
  try {
    const fitted = adapt(asked, style, to, warnings).conversation;
    const body = JSON.parse(JSON.stringify(encodeReported(vendor, fitted, to, warnings))) as Json;
    return { body, warnings: warnings.all };
  } catch (error) {
    if (error instanceof GatewayError && error.status === 400) return undefined;
    throw error;
  }
}

const HELLO: Block = { type: 'text', text: 'Hello' };
const LOOK = { type: 'function', name: 'look', description: 'Looks.', schema: { type: 'object' } } as const;

/** A conversation with two tools, to which a variation adds something. */
function conversation(more: Partial<Conversation>, blocks: readonly Block[] = []): Conversation {
  return {
    turns: [{ role: 'user', blocks: [HELLO, ...blocks] }],
    tools: [LOOK, { ...LOOK, name: 'listen' }],
    toolChoice: undefined,
    parallelToolCalls: undefined,
    maxTokens: undefined,
    sampling: {},
    stop: [],
    reasoning: undefined,
    output: {},
    labels: {},
    truncation: undefined,
    extras: {},
    ...more,
  };
}

/** What a request may have beside a text, each alone. */
const VARIATIONS: readonly (readonly [what: string, more: Conversation])[] = [
  ['a system text', conversation({ turns: [{ role: 'system', blocks: [HELLO] }, ...conversation({}).turns] })],
  ['an image by its address', conversation({}, [imageOf({ kind: 'url', url: 'https://images.example/a.png' })])],
  ['an image in base64', conversation({}, [imageOf({ kind: 'base64', mediaType: 'image/png', data: 'aGVsbG8=' })])],
  [
    'a PDF',
    conversation({}, [
      { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'JVBERi0=' }, name: 'a.pdf' },
    ]),
  ],
  ['audio', conversation({}, [{ type: 'audio', data: 'aGVsbG8=', format: 'wav' }])],
  ['a third tool', conversation({ tools: [LOOK, { ...LOOK, name: 'listen' }, { ...LOOK, name: 'smell' }] })],
  ['a tool that must be called', conversation({ toolChoice: { mode: 'required' } })],
  ['the name of the tool that must be called', conversation({ toolChoice: { mode: 'required', only: ['look'] } })],
  ['that no tool may be called', conversation({ toolChoice: { mode: 'none' } })],
  ['that tools are called one at a time', conversation({ parallelToolCalls: false })],
  ['max_tokens', conversation({ maxTokens: 321 })],
  ['temperature', conversation({ sampling: { temperature: 0.37 } })],
  ['top_p', conversation({ sampling: { topP: 0.83 } })],
  ['top_k', conversation({ sampling: { topK: 17 } })],
  ['seed', conversation({ sampling: { seed: 4_711 } })],
  ['presence_penalty', conversation({ sampling: { presencePenalty: 0.5 } })],
  ['frequency_penalty', conversation({ sampling: { frequencyPenalty: 0.5 } })],
  ['stop sequences', conversation({ stop: ['HALT-7'] })],
  ['reasoning', conversation({ reasoning: { mode: 'on', effort: 'high' } })],
  ['JSON as the format of the answer', conversation({ output: { format: { type: 'json' } } })],
  [
    'the schema of the answer',
    conversation({ output: { format: { type: 'schema', name: 'answer', schema: { type: 'object' } } } }),
  ],
  ['the user', conversation({ labels: { user: 'ann' } })],
  ['metadata', conversation({ labels: { metadata: { team: 'red' } } })],
  ['a field that only the client knows', conversation({ extras: { some_field_of_a_client: 1 } })],
];

function imageOf(source: Extract<Block, { type: 'image' }>['source']): Block {
  return { type: 'image', source };
}
