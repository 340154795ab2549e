/** The hard cases of translation that lie in limits, in fields and in how answers end: numbers 99 to 114, but for those that need a whole gateway. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../core/contracts/formats/json.ts';
import { chatBody, chatEvent, chatEvents, DONE } from '../kit/gateway/fixtures.ts';
import type { SpeechName } from '../kit/speech.ts';
import { SCENARIOS, SPEECHES } from '../kit/vendors/scenarios.ts';
import {
  ask,
  askStream,
  type Body,
  CLIENTS,
  type ClientName,
  data,
  type Meeting,
  question,
  readBy,
  STARTED_MS,
  VENDORS,
} from './kit-wire.ts';

const OLDER = 'claude-sonnet-4-5';
const NEWEST = 'claude-opus-5';

/** What was lost of one field. */
const warningsOf = (warnings: readonly string[], field: string): readonly string[] =>
  warnings.filter((warning) => warning.startsWith(`${field}:`));

describe('limits of the answer', () => {
  it('case 99: the limit stands in the field that the server has for it, and the client’s newer one counts', async () => {
    const ofMessages = { max_tokens: 300 };
    const older = await ask({ from: 'messages', to: 'chat' }, ofMessages);
    assert.deepEqual([older.body.max_tokens, older.body.max_completion_tokens], [300, undefined]);
    const openAi = await ask({ from: 'messages', to: 'chat', isOpenAi: true, model: 'o4-mini' }, ofMessages);
    assert.deepEqual([openAi.body.max_tokens, openAi.body.max_completion_tokens], [undefined, 300]);

    for (const more of [
      { max_completion_tokens: 300 },
      { max_tokens: 300 },
      { max_tokens: 9, max_completion_tokens: 300 },
    ]) {
      const limits = await Promise.all(
        (['messages', 'responses', 'gemini'] as const).map(async (to) => {
          const { body } = await ask({ from: 'chat', to }, more);
          return body.max_tokens ?? body.max_output_tokens ?? body.generationConfig.maxOutputTokens;
        }),
      );
      assert.deepEqual(limits, [300, 300, 300], JSON.stringify(more));
    }
    // Where both speak chat nothing but a quirk can know it.
    const quirks = { rename_fields: { max_completion_tokens: 'max_tokens' } };
    const { body } = await ask({ from: 'chat', to: 'chat', quirks }, { max_completion_tokens: 300 });
    assert.deepEqual([body.max_tokens, body.max_completion_tokens], [300, undefined]);
  });

  it('case 99: a temperature that the model has fixed is left out, which is a warning unless it is the same', async () => {
    for (const meeting of [
      { from: 'messages', to: 'chat', isOpenAi: true, model: 'o4-mini', strict: true },
      { from: 'messages', to: 'responses', model: 'gpt-5.1', strict: true },
    ] as const) {
      const { body, warnings } = await ask(meeting, { temperature: 1 });
      assert.equal(body.temperature, undefined, meeting.to);
      assert.deepEqual(warnings, ['temperature:dropped'], meeting.to);
      await assert.rejects(ask(meeting, { temperature: 0.3 }), { status: 400, param: 'temperature' });
      const lenient = await ask({ ...meeting, strict: false }, { temperature: 0.3 });
      assert.equal(lenient.body.temperature, undefined, meeting.to);
    }
  });

  it('case 100: a limit below what the server takes becomes the lowest that it takes', async () => {
    for (const meeting of [
      { from: 'messages', to: 'responses' },
      { from: 'chat', to: 'responses' },
    ] as const) {
      const { body, warnings } = await ask(meeting, { max_tokens: 1 });
      assert.equal(body.max_output_tokens, 16);
      assert.deepEqual(warningsOf(warnings, 'max_tokens'), ['max_tokens:changed']);
    }
    const { body } = await ask({ from: 'chat', to: 'messages' }, { max_tokens: 1 });
    assert.equal(body.max_tokens, 1, 'others take as little');
    const older = await ask({ from: 'messages', to: 'chat', isOpenAi: true, model: 'gpt-4.1' }, { max_tokens: 1 });
    assert.equal(older.body.max_completion_tokens, 1, 'and so does the same vendor in its older style');
  });

  it('case 101: fields that a server refuses are left out by its quirks, of its own style as well', async () => {
    const drop_fields = ['max_output_tokens', 'prompt_cache_retention', 'prompt_cache_options'];
    const quirks = { drop_fields };
    const more = { prompt_cache_retention: '24h', prompt_cache_options: { scope: 'x' }, prompt_cache_key: 'mine' };
    for (const [from, limit] of [
      ['responses', { max_output_tokens: 300 }],
      ['chat', { max_tokens: 300 }],
    ] as const) {
      const { body } = await ask({ from, to: 'responses', quirks }, { ...more, ...limit });
      for (const name of drop_fields) assert.ok(!(name in body), `${name} from ${from}`);
      assert.equal(body.prompt_cache_key, 'mine', from);
      const usual = await ask({ from, to: 'responses' }, { ...more, ...limit });
      assert.deepEqual([usual.body.max_output_tokens, usual.body.prompt_cache_retention], [300, '24h'], from);
    }
  });
});

describe('fields of a request', () => {
  it('case 102: one text that ends the answer is a list of one', async () => {
    const { body } = await ask({ from: 'chat', to: 'messages' }, { stop: 'END' });
    assert.deepEqual(body.stop_sequences, ['END']);
    const gemini = await ask({ from: 'chat', to: 'gemini' }, { stop: 'END' });
    assert.deepEqual(gemini.body.generationConfig.stopSequences, ['END']);
    const chat = await ask({ from: 'messages', to: 'chat' }, { stop_sequences: ['END'] });
    assert.deepEqual(chat.body.stop, ['END']);
  });

  it('case 103: a model gets no more to say about how words are drawn than it takes', async () => {
    const both = { temperature: 0.5, top_p: 0.9 };
    const older = await ask({ from: 'chat', to: 'messages', model: OLDER }, both);
    assert.deepEqual([older.body.temperature, older.body.top_p], [0.5, undefined]);
    assert.deepEqual(warningsOf(older.warnings, 'top_p'), ['top_p:dropped']);

    const newest = await ask({ from: 'chat', to: 'messages', model: NEWEST }, { ...both, top_k: 4 });
    for (const name of ['temperature', 'top_p', 'top_k']) {
      assert.ok(!(name in newest.body), name);
      assert.deepEqual(warningsOf(newest.warnings, name), [`${name}:dropped`]);
    }
    const thinking = await ask(
      { from: 'chat', to: 'messages', model: OLDER },
      { temperature: 0.5, reasoning_effort: 'high' },
    );
    assert.equal(thinking.body.thinking.type, 'enabled');
    assert.ok(!('temperature' in thinking.body), 'a model that thinks by a budget draws as it likes');
    const hot = await ask({ from: 'chat', to: 'messages', model: OLDER }, { temperature: 1.5 });
    assert.equal(hot.body.temperature, 1);
    assert.deepEqual(warningsOf(hot.warnings, 'temperature'), ['temperature:changed']);
  });

  it('case 104: an id of a user that is too long elsewhere is shortened, the same each time', async () => {
    const user_id = JSON.stringify({
      device_id: 'd'.repeat(64),
      account_uuid: 'a'.repeat(36),
      session_id: 's'.repeat(36),
    });
    assert.ok(user_id.length > 150);
    for (const [to, field] of [
      ['chat', 'user'],
      ['responses', 'safety_identifier'],
    ] as const) {
      const first = (await ask({ from: 'messages', to }, { metadata: { user_id } })).body[field];
      assert.match(first, /^[0-9a-f]{64}$/, to);
      assert.equal((await ask({ from: 'messages', to }, { metadata: { user_id } })).body[field], first, to);
      const other = await ask({ from: 'messages', to }, { metadata: { user_id: `${user_id} ` } });
      assert.notEqual(other.body[field], first, to);
      assert.equal((await ask({ from: 'messages', to }, { metadata: { user_id: 'short' } })).body[field], 'short', to);
    }
  });

  it('case 110: a schema for Gemini models keeps every keyword', async () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'read',
      type: 'object',
      additionalProperties: false,
      propertyNames: { pattern: '^[a-z]+$' },
      $defs: { place: { type: 'object', properties: { city: { type: 'string' } } } },
      properties: {
        limit: { type: 'integer', exclusiveMinimum: 0, multipleOf: 2, default: 4 },
        tags: { type: 'array', items: { type: 'string', format: 'uri' }, uniqueItems: true },
        size: { type: 'integer', enum: [1, 2] },
        unit: { const: 'metre' },
        place: { $ref: '#/$defs/place' },
        maybe: { type: ['string', 'null'], not: { enum: ['x'] } },
        either: { oneOf: [{ type: 'string' }, { type: 'number' }] },
        both: { allOf: [{ type: 'object', properties: { a: { type: 'string' } } }], unevaluatedProperties: false },
        map: { type: 'object', patternProperties: { '^x': { type: 'string' } } },
        none: { type: 'object', properties: {}, required: [] },
        choice: { type: 'object', if: { required: ['a'] }, else: { required: ['c'] } },
      },
      required: ['limit', 'gone'],
    };
    const tools = [{ name: 'read', input_schema: schema }];
    const { body, warnings } = await ask({ from: 'messages', to: 'gemini' }, { tools });
    const { properties } = schema;
    assert.deepEqual(body.tools[0].functionDeclarations[0].parametersJsonSchema, {
      ...schema,
      // Some vendors refuse an object that names no properties.
      properties: {
        ...properties,
        map: { ...properties.map, properties: {} },
        choice: { ...properties.choice, properties: {} },
      },
    });
    assert.deepEqual(warnings, []);
  });
});

/** How each style says why an answer ends. */
const REASONS = {
  calls: { chat: 'tool_calls', responses: 'completed', messages: 'tool_use' },
  length: { chat: 'length', responses: 'incomplete: max_output_tokens', messages: 'max_tokens' },
  filter: { chat: 'content_filter', responses: 'incomplete: content_filter', messages: 'refusal' },
} as const;

/** That, in an answer of each style. */
function reasonIn(from: ClientName, answer: Body): string {
  if (from === 'chat') return answer.choices[0].finish_reason;
  if (from === 'messages') return answer.stop_reason;
  const { status, incomplete_details: details } = answer;
  return details === null ? status : `${status}: ${details.reason}`;
}

/** The reason in a stream, and in the whole answer that it comes to, read by the official clients. */
async function reasons(meeting: Meeting, events: readonly string[], whole?: JsonObject): Promise<readonly string[]> {
  const { text, end } = (await askStream(meeting)).stream(events);
  assert.equal(end, 'last', `${meeting.from} before ${meeting.to}`);
  const streamed = reasonIn(meeting.from, await readBy(meeting.from, text));
  return whole === undefined ? [streamed] : [streamed, reasonIn(meeting.from, (await ask(meeting)).whole(whole))];
}

describe('why an answer ends', () => {
  const part = (parts: readonly JsonObject[] | undefined, finishReason?: string): JsonObject => ({
    candidates: [
      {
        ...(parts !== undefined && { content: { role: 'model', parts } }),
        ...(finishReason !== undefined && { finishReason }),
        index: 0,
      },
    ],
    responseId: 'r1',
  });
  const call: JsonObject = { functionCall: { name: 'look', args: { at: 'sea' } } };

  it('case 108: calls and STOP in different chunks are an answer that waits for its tools', async () => {
    for (const from of CLIENTS) {
      for (const [name, chunks] of Object.entries({
        'the call first': [part([call]), part([{ text: '' }], 'STOP')],
        'the call first, and no content after it': [part([call]), part(undefined, 'STOP')],
        together: [part([call], 'STOP')],
        'STOP first': [part([{ text: 'Hm.' }], 'STOP'), part([call])],
      })) {
        assert.deepEqual(
          await reasons({ from, to: 'gemini' }, chunks.map(data)),
          [REASONS.calls[from]],
          `${from}: ${name}`,
        );
      }
    }
  });

  it('case 109: calls do not hide that the limit was hit, or that a filter stepped in', async () => {
    for (const from of CLIENTS) {
      for (const [reason, means] of [
        ['MAX_TOKENS', 'length'],
        ['SAFETY', 'filter'],
      ] as const) {
        const whole = part([call], reason);
        const said = await reasons({ from, to: 'gemini' }, [data(part([call])), data(part(undefined, reason))], whole);
        assert.deepEqual(said, [REASONS[means][from], REASONS[means][from]], `${from}: ${reason}`);
      }
    }
    const toolCalls = [{ id: 'call_1', name: 'look', arguments: '{"at":"sea"}' }];
    for (const from of ['responses', 'messages'] as const) {
      for (const [finish, means] of [
        ['length', 'length'],
        ['content_filter', 'filter'],
      ] as const) {
        const answer = { toolCalls, finish };
        const said = await reasons({ from, to: 'chat' }, chatEvents(answer), chatBody(answer));
        assert.deepEqual(said, [REASONS[means][from], REASONS[means][from]], `${from}: ${finish}`);
      }
    }
  });

  it('case 111: an answer without parts, and one whose prompt was blocked, are answers', async () => {
    const usageMetadata = { promptTokenCount: 9, totalTokenCount: 9 };
    const bare = { ...part(undefined, 'MAX_TOKENS'), usageMetadata };
    const empty = { candidates: [{ content: { role: 'model' }, finishReason: 'MAX_TOKENS', index: 0 }], usageMetadata };
    const blocked = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata };
    for (const from of CLIENTS) {
      for (const answer of [bare, empty]) {
        const said = await reasons({ from, to: 'gemini' }, [data(answer)], answer);
        assert.deepEqual(said, [REASONS.length[from], REASONS.length[from]], `${from}: ${JSON.stringify(answer)}`);
      }
      const said = await reasons({ from, to: 'gemini' }, [data(blocked)], blocked);
      assert.deepEqual(said, [REASONS.filter[from], REASONS.filter[from]], from);
      const { usage } = (await ask({ from, to: 'gemini' })).whole(blocked);
      assert.equal(usage.prompt_tokens ?? usage.input_tokens, 9, from);
    }
  });

  it('case 112: what vendors call sensitive, or a refusal, is the work of a filter', async () => {
    for (const from of ['responses', 'messages'] as const) {
      const answer = { deltas: ['I'], finish: 'sensitive' };
      const said = await reasons({ from, to: 'chat' }, chatEvents(answer), chatBody(answer));
      assert.deepEqual(said, [REASONS.filter[from], REASONS.filter[from]], from);
    }
    const refusal = { type: 'message', role: 'assistant', content: [], stop_reason: 'refusal', usage: {} };
    assert.equal(reasonIn('chat', (await ask({ from: 'chat', to: 'messages' })).whole(refusal)), 'content_filter');
    const { output, status } = (await ask({ from: 'responses', to: 'messages' })).whole(refusal);
    assert.deepEqual(
      [status, output[0].content[0].type],
      ['completed', 'refusal'],
      'as it is told where responses come from',
    );
  });
});

describe('what an answer says about itself', () => {
  const said = (to: SpeechName): readonly string[] => SPEECHES[to].events(SCENARIOS.text, question('chat'));
  /** Every event of the stream, with the object in it that has an id. */
  const heads = async (meeting: Meeting, events: readonly string[]): Promise<readonly Body[]> =>
    (await askStream(meeting)).stream(events).events.flatMap(({ data: value }) => {
      const head = value?.response ?? value?.message ?? (value?.object === undefined ? undefined : value);
      return head === undefined ? [] : [head];
    });

  it('case 113: when it was made is whole seconds, and its id the same from the first event to the last', async () => {
    const odd = chatEvents().map((event, i) =>
      event === DONE
        ? event
        : chatEvent({ ...JSON.parse(event.slice(6)), id: `chunk-${i}`, created: 1_700_000_000_123.5 + i }),
    );
    for (const meeting of [
      { from: 'responses', to: 'chat' },
      { from: 'messages', to: 'chat' },
      // Written anew because something is wrong with it.
      { from: 'chat', to: 'chat', quirks: { stream: { rewrite: true } } },
    ] as const) {
      const found = await heads(meeting, odd);
      assert.ok(found.length > 0, meeting.from);
      assert.equal(new Set(found.map(({ id }) => id)).size, 1, meeting.from);
      for (const { created, created_at: at = created } of found) {
        if (meeting.from !== 'messages') assert.equal(at, STARTED_MS / 1_000, meeting.from);
      }
    }
    const whole = { ...chatBody(), created: 1_700_000_000_123.5 };
    assert.equal((await ask({ from: 'responses', to: 'chat' })).whole(whole).created_at, STARTED_MS / 1_000);
  });

  it('case 114: a translated answer has the name of the model that answered, as its vendor calls it', async () => {
    for (const from of CLIENTS) {
      for (const to of VENDORS.filter((other) => other !== from)) {
        const found = await heads({ from, to }, said(to));
        const whole = SPEECHES[to].whole(SCENARIOS.text, question('chat'));
        const name = whole.model ?? whole.modelVersion;
        assert.deepEqual([...new Set(found.map(({ model }) => model))], [name], `${from} before ${to}`);
        assert.equal((await ask({ from, to })).whole(whole).model, name, `${from} before ${to}, whole`);
      }
    }
  });
});

/*
 * What no test can state, because bytes pass as they are where client and vendor speak one style:
 * 102: a chat client's `stop` reaches a chat server as the string that it was.
 * 114: the name of the model in the answer is the vendor's here, too; and so are its id and its time, which case 113 speaks of.
 */
