/** What conversations within the means of a style are made of, whichever style it is. */

import type {
  Block,
  CacheHint,
  Conversation,
  Opaque,
  Source,
  Tool,
  ToolCallBlock,
  ToolChoice,
  ToolResultBlock,
  Turn,
} from '../../core/contracts/formats/conversation.ts';
import type { JsonObject } from '../../core/contracts/formats/json.ts';
import type { SomeQuirks } from '../../core/contracts/formats/quirks.ts';
import fc from '../kit/fast-check.ts';

/** Always the same. */
export const just = fc.constant;

/** A record of which members other than those named may be missing. */
export function some<T>(members: Readonly<Record<string, fc.Arbitrary<unknown>>>, ...needed: readonly string[]) {
  return fc.record(members, { requiredKeys: [...needed], noNullPrototype: true }) as unknown as fc.Arbitrary<T>;
}
/** A value, or none. */
export const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });

/** Says something: no style sends empty texts, or blanks at both ends, to every vendor. */
export const words = fc.oneof(
  fc.constantFrom('Hello', 'two\n\nlines', 'é€😀', '{"a":1}', 'data: [DONE]', 'Error: none', '</system-reminder>'),
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => `x${text}x`),
);
/** A text; with a mark now and then, where there are any. */
export const text = (cache?: fc.Arbitrary<CacheHint>): fc.Arbitrary<Block> =>
  some({ type: just('text'), text: words, ...(cache && { cache }) }, 'type', 'text');

/** Images and documents of every kind. */
export const PNG: Source = { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgoAAAAN' };
export const PDF: Source = { kind: 'base64', mediaType: 'application/pdf', data: 'JVBERi0xLjQK' };
export const PAGE: Source = { kind: 'url', url: 'https://example.com/a?b=1#c' };
export const TEXT: Source = { kind: 'text', text: 'A plain text.' };

/** The arguments of every tool. */
export const SCHEMA: JsonObject = {
  type: 'object',
  properties: { city: { type: 'string', description: 'Where.' }, days: { type: ['integer', 'null'] } },
  required: ['city'],
  additionalProperties: false,
};

/** JSON of an object, as a model writes it and as `JSON.stringify` would. */
export const inputs = fc.constantFrom('{"city":"Zürich"}', '{"a":[1,2.5,null],"b":{"c":"\\n"}}', '{"input":"ls -l"}');

/** How one style fills the places of a dialogue. */
interface Places {
  readonly front: fc.Arbitrary<readonly Turn[]>;
  readonly user: fc.Arbitrary<Block>;
  /** What the assistant says before it calls tools. */
  readonly said: fc.Arbitrary<readonly Block[]>;
  readonly call: fc.Arbitrary<Omit<ToolCallBlock, 'type' | 'id'>>;
  readonly result: fc.Arbitrary<Omit<ToolResultBlock, 'type' | 'id' | 'kind'>>;
  /** Instructions at the end. */
  readonly after: fc.Arbitrary<Turn | undefined>;
  readonly name?: fc.Arbitrary<string>;
}

/** The user begins, tools are answered right away, and the user has the last word, but perhaps for an instruction. */
export function dialogue(places: Places): fc.Arbitrary<readonly Turn[]> {
  const block = fc.array(places.user, { minLength: 1, maxLength: 3 });
  const round = fc.record({
    said: places.said,
    calls: fc.array(fc.tuple(places.call, places.result), { maxLength: 3 }),
    user: fc.array(places.user, { maxLength: 2 }),
    name: maybe(places.name ?? just(undefined)),
  });
  return fc
    .tuple(
      places.front,
      block,
      fc.array(round, { maxLength: 3 }),
      block,
      places.after,
      maybe(places.name ?? just(undefined)),
    )
    .map(([front, first, rounds, last, after, name]) => {
      const turns: Turn[] = [...front, { role: 'user', blocks: first, ...(name !== undefined && { name }) }];
      let ids = 0;
      for (const { said, calls, user, name: speaker } of rounds) {
        const numbered = calls.map(([call, result]) => ({ id: `call_${++ids}`, call, result }));
        const asks = numbered.map(({ id, call }): Block => ({ type: 'toolCall', id, ...call }));
        const answers = numbered.map(
          ({ id, call, result }): Block => ({ type: 'toolResult', id, kind: call.kind, ...result }),
        );
        const blocks = [...said, ...asks];
        const next = [...answers, ...user];
        if (blocks.length === 0 || next.length === 0) continue;
        turns.push({ role: 'assistant', blocks, ...(speaker !== undefined && { name: speaker }) });
        turns.push({ role: 'user', blocks: next });
      }
      const end = turns.at(-1)!;
      turns[turns.length - 1] = { ...end, blocks: [...end.blocks, ...last] };
      return after === undefined ? turns : [...turns, after];
    });
}

/** Tools of different names, and a choice that names one of them. */
export function toolbox(
  tool: fc.Arbitrary<Tool>,
  choose: (names: readonly string[]) => fc.Arbitrary<ToolChoice | undefined>,
): fc.Arbitrary<Pick<Conversation, 'tools' | 'toolChoice'>> {
  return fc.uniqueArray(tool, { selector: ({ name }) => name, maxLength: 4 }).chain((tools) =>
    fc.record({
      tools: just(tools),
      toolChoice: choose(tools.flatMap(({ type, name }) => (type === 'hosted' ? [] : [name]))),
    }),
  );
}
/** Every choice that any style knows. */
export const modes = (names: readonly string[]): fc.Arbitrary<ToolChoice | undefined> =>
  names.length === 0
    ? just(undefined)
    : maybe(
        fc.oneof<fc.Arbitrary<ToolChoice>[]>(
          fc.record({ mode: fc.constantFrom('auto', 'none', 'required') }, { noNullPrototype: true }),
          fc.constantFrom(...names).map((name) => ({ mode: 'required', only: [name] })),
        ),
      );
/** Names that no vendor minds. */
export const toolNames = fc.constantFrom('read', 'get_weather', 'apply-patch', 'x'.repeat(64));

/** Everything together. What the style has no word for is not asked for. */
export function conversation(
  turns: fc.Arbitrary<readonly Turn[]>,
  tools: fc.Arbitrary<Pick<Conversation, 'tools' | 'toolChoice'>>,
  more: fc.Arbitrary<Partial<Conversation>>,
): fc.Arbitrary<Conversation> {
  return fc.tuple(turns, tools, more).map(([turns, tools, more]) => ({
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
    turns,
    ...tools,
    // Said only where there are tools, and in one style only beside a choice.
    ...(tools.toolChoice === undefined || tools.toolChoice.mode === 'none' ? { parallelToolCalls: undefined } : {}),
  }));
}

/** Every effort there is. */
export const efforts = fc.constantFrom('minimal', 'low', 'medium', 'high', 'xhigh', 'max');
/** A model that knows every word for it. */
export const ALL_LEVELS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
/** What a request may say about itself. */
export const labels = {
  metadata: just({ team: 'red' }),
  cacheKey: just('session-1'),
  serviceTier: fc.constantFrom('default', 'flex'),
};
/** Texts that end the answer. */
export const stopTexts = fc.array(fc.constantFrom('END', '\n\n', '###'), { maxLength: 4 });
/** What a vendor wants back. */
export const sealed = (style: string, kind: Opaque['kind'], value: string): Opaque => ({ style, kind, value });

/** A way to be within a style's means, and the model that takes all of it. */
export interface Means {
  readonly quirks: (conversation: Conversation) => SomeQuirks;
  readonly conversations: fc.Arbitrary<Conversation>;
}

/** Marks for the prompt cache, as long as one style can say. */
export const breakpoints = fc.constantFrom<CacheHint>({}, { ttlSeconds: 43_200 });
/** An instruction of one text. */
export const instruction = (roles: readonly Turn['role'][], cache?: fc.Arbitrary<CacheHint>): fc.Arbitrary<Turn> =>
  fc.record(
    { role: fc.constantFrom(...roles), blocks: text(cache).map((block) => [block]) },
    { noNullPrototype: true },
  ) as fc.Arbitrary<Turn>;
