/** Every client, asked about every scenario, behind every kind of vendor, whole and streamed: they all read the same. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import { toldTo } from '../kit/contracts/told.ts';
import { VENDOR_KEY } from '../kit/gateway/gateway.ts';
import type { Scenario, SpeechName } from '../kit/speech.ts';
import { THOUGHT_SIGNATURE } from '../kit/vendors/gemini-speech.ts';
import { SIGNATURE } from '../kit/vendors/messages-speech.ts';
import { SEALED } from '../kit/vendors/responses-speech.ts';
import { heard, SCENARIOS, SPEECHES } from '../kit/vendors/scenarios.ts';
import { KIND_NAMES, modelOf, openStand, type Stand } from './stand.ts';

/** A client, wired to a gateway. */
export interface Client {
  /** What stands before `asks`: `openai, chat`. */
  readonly name: string;
  /** How it can be asked. */
  readonly ways: readonly string[];
  /** Makes it for a gateway. */
  open(stand: Stand): Asks;
  /** It has words for a refusal. */
  readonly refuses?: boolean;
  /** It refers to what was said; a vendor of the same shape is not told it again. Only asked where something goes on. */
  readonly refers?: boolean;
  /** What it cannot do, and where; everything else it must. */
  readonly blind?: (at: Place) => readonly Blindness[];
}

export interface Place {
  readonly kind: SpeechName;
  readonly way: string;
}

/** `reasoning`, `reasoningTokens`, `cached`, `input`, `output`: not shown. `echo`: it forgets what the vendor sealed or signed. */
export type Blindness = 'reasoning' | 'reasoningTokens' | 'cached' | 'input' | 'output' | 'echo';

export type Asks = (question: Question) => Promise<Turn>;

export interface Question {
  readonly model: string;
  readonly way: string;
  /** The reasoning is wanted. */
  readonly thinks: boolean;
  /** The tools are offered. */
  readonly tools: boolean;
}

/** What the client understood, and how the conversation goes on. */
export interface Turn {
  readonly said: Said;
  /** Sends back what the tools found, in the order of the calls. */
  goOn(results: readonly { readonly id: string; readonly name: string; readonly text: string }[]): Promise<Turn>;
}

export interface Said {
  readonly text: string;
  /** Undefined where the client has no word for it. */
  readonly reasoning: string | undefined;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: Json }[];
  readonly end: Scenario['end'] | (string & {});
  /** The words of a refusal. */
  readonly refusal?: string | undefined;
  /** Undefined where the client does not tell. */
  readonly input: number | undefined;
  readonly cached: number | undefined;
  readonly output: number | undefined;
  readonly reasoningTokens: number | undefined;
}

export const SYSTEM = 'You answer in short.';
export const QUESTION = 'How are things in Zürich? 👋';

/** The tools, as JSON Schema. */
export const TOOLS = [
  {
    name: 'get_weather',
    description: 'Tells the weather.',
    schema: {
      type: 'object' as const,
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
      required: ['city', 'days'],
      additionalProperties: false,
    },
  },
  {
    name: 'get_time',
    description: 'Tells the time.',
    schema: {
      type: 'object' as const,
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
];

const RESULTS = ['It rains.', 'It is nine.'];
const SEALS: Readonly<Record<SpeechName, string | undefined>> = {
  chat: undefined,
  responses: SEALED,
  messages: SIGNATURE,
  gemini: THOUGHT_SIGNATURE,
};

/** Declares the tests of these clients; they share one gateway, which other tests of the file may use, too. */
export function matrix(clients: readonly Client[], spares = 0): () => Stand {
  let stand: Stand;
  before(async () => {
    stand = await openStand(spares);
  });
  after(() => stand?.stop());

  for (const client of clients) {
    for (const kind of KIND_NAMES) {
      describe(`${client.name} before a vendor that speaks ${kind}`, () => {
        let asks: Asks;
        before(() => {
          asks = client.open(stand);
        });
        for (const way of client.ways) {
          const place = { kind, way };
          const blind = client.blind?.(place) ?? [];
          /** Asks about one scenario, and checks what comes; undefined where nothing goes on. */
          const ask = async (scenario: Scenario): Promise<Turn> => {
            const tools = scenario.calls !== undefined;
            const thinks = scenario.reasoning !== undefined;
            const turn = await asks({ model: modelOf(kind), way, thinks, tools });
            assert.deepEqual(visible(turn.said, blind), visible(expected(kind, scenario), blind));
            return turn;
          };
          const test = (name: string, run: () => Promise<void>): void => {
            it(`${way}: ${name}`, async () => {
              const known = stand.vendor.requests.length;
              stand.vendor.forget();
              await run().catch((error: unknown) => {
                throw explained(error, stand, known);
              });
            });
          };

          if (!client.refers) {
            test('reads a text', async () => {
              stand.next(SCENARIOS.text);
              await ask(SCENARIOS.text);
              checkTold(stand, kind);
            });
            test('reads reasoning before a text', async () => {
              stand.next(SCENARIOS.reasoning);
              await ask(SCENARIOS.reasoning);
            });
            test('reads a text that stops at its limit', async () => {
              stand.next(SCENARIOS.length);
              await ask(SCENARIOS.length);
            });
          }
          if (client.refuses) {
            test('reads a refusal', async () => {
              stand.next(SCENARIOS.refusal);
              const { said } = await asks({ model: modelOf(kind), way, thinks: false, tools: false });
              assert.equal(said.end, 'refusal');
              // This one gives no words.
              if (kind !== 'gemini') assert.equal(said.refusal, SCENARIOS.refusal.refusal.join(''));
            });
          }
          for (const name of ['call', 'calls'] as const) {
            const scenario: Scenario = SCENARIOS[name];
            test(`reads ${name === 'call' ? 'a tool call' : 'parallel tool calls'} and sends back the result`, async () => {
              stand.next(scenario, SCENARIOS.summary);
              const { said, goOn } = await ask(scenario);
              assert.equal(new Set(said.calls.map(({ id }) => id)).size, said.calls.length, 'each call has an id');
              const second = await goOn(said.calls.map(({ id, name }, i) => ({ id, name, text: RESULTS[i]! })));
              assert.deepEqual(visible(second.said, blind), visible(expected(kind, SCENARIOS.summary), blind));
              if (kind === 'responses' && client.refers) return;
              checkTold(stand, kind, scenario, !blind.includes('echo'));
            });
          }
        }
      });
    }
  }
  return () => stand;
}

/** The usual question of a client to a vendor that has not been asked before. */
export function askFresh(client: Client, stand: Stand, kind: SpeechName, way: string): Promise<Turn> {
  return client.open(stand)({ model: stand.fresh(kind), way, thinks: false, tools: false });
}

/** What a client should understand of a scenario. */
function expected(kind: SpeechName, { reasoning, text, calls, end, usage }: Scenario): Said {
  const ids = (calls ?? []).map((call) => SPEECHES[kind].callId(call));
  return {
    text: text?.join('') ?? '',
    reasoning: reasoning?.join('') ?? '',
    calls: (calls ?? []).map(({ name, pieces }, i) => ({
      id: ids[i] ?? 'made up',
      name,
      input: JSON.parse(pieces.join('')) as Json,
    })),
    end,
    input: usage.input,
    cached: usage.cached,
    output: usage.output,
    reasoningTokens: usage.reasoning,
  };
}

/** Without what the client cannot see. Ids that the vendor did not give may be any. */
function visible(said: Said, blind: readonly Blindness[]): JsonObject {
  // Whoever is told nothing of reasoning or a cache may take it for none.
  const seen = (what: keyof Said & Blindness): Json => (blind.includes(what) ? '-' : ((said[what] ?? 0) as Json));
  const { refusal: _, ...rest } = said;
  return {
    ...rest,
    calls: said.calls.map(({ id, ...call }) => ({ ...call, id: /_w1$|_w2$|_t2$|-w2$|-t2$/.test(id) ? id : 'made up' })),
    output: seen('output'),
    reasoning: seen('reasoning'),
    input: seen('input'),
    cached: seen('cached'),
    reasoningTokens: seen('reasoningTokens'),
  };
}

/** Whether the vendor's last request tells in its own shape what was said. */
function checkTold(stand: Stand, kind: SpeechName, scenario?: Scenario, echoes = false): void {
  const { style, body } = heard(stand.vendor.requests.at(-1)!, VENDOR_KEY);
  assert.equal(style, kind);
  const told = toldTo(style, body);
  assert.equal(told.asked, SYSTEM + QUESTION);
  if (scenario === undefined) return;
  const calls = scenario.calls ?? [];
  const given = calls.map((call) => SPEECHES[kind].callId(call));
  assert.equal(told.said, scenario.text?.join('') ?? '');
  assert.deepEqual(
    told.calls.map(({ name, input }) => [name, input]),
    calls.map(({ name, pieces }) => [name, JSON.parse(pieces.join(''))]),
  );
  assert.deepEqual(
    told.results.map(({ text }) => text),
    calls.map((_, i) => RESULTS[i]),
  );
  const ids = told.calls.map(({ id }) => id);
  assert.deepEqual(
    told.results.map(({ id }) => id),
    ids,
  );
  if (given.every((id) => id !== undefined)) assert.deepEqual(ids, given);
  const seal = SEALS[kind];
  if (echoes && seal !== undefined && (scenario.reasoning !== undefined || kind === 'gemini')) {
    assert.ok(told.opaque.includes(seal), `the vendor's seal does not come back: ${told.opaque}`);
  }
}

/** The error, with what the vendor was asked. */
function explained(error: unknown, stand: Stand, known: number): unknown {
  if (!(error instanceof Error)) return error;
  const asked = stand.vendor.requests.slice(known).map(({ path, body }) => `${path} ${body}`.slice(0, 4_000));
  error.message += `\nThe vendor was asked:\n${asked.join('\n') || 'nothing'}`;
  return error;
}
