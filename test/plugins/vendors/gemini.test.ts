/** The vendor `gemini`: its wire format, whole and streamed, and what its models take. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scanAnswer } from '../../../core/bytes/json-body.ts';
import type { Call, Channel, Host, Json, JsonObject, Offer, Target } from '../../../core/plugin.ts';
import { adapt } from '../../../core/translation/adapt/adapt.ts';
import { foldParts } from '../../../core/translation/conversation/fold.ts';
import type { Block, Conversation, Part, Reply, Turn } from '../../../core/translation/index.ts';
import { layQuirks, quirksOfModel } from '../../../core/translation/quirks/quirks.ts';
import { type CollectedWarnings, collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import plugin from '../../../plugins/vendors/gemini/index.ts';
import { MODEL_QUIRKS, STYLE_QUIRKS } from '../../../plugins/vendors/gemini/quirks.ts';
import { gemini } from '../../../plugins/vendors/gemini/style.ts';
import { laterUsage, usageIn } from '../../../plugins/vendors/gemini/usage.ts';
import { vendorContract } from '../../kit/contracts/vendor-contract.ts';
import { ANY_CALL, NO_ATTACHMENTS } from '../../kit/gateway/calls.ts';
import { geminiSpeech } from '../../kit/vendors/gemini-speech.ts';

vendorContract(plugin, {
  name: 'gemini',
  speeches: { gemini: geminiSpeech },
  options: { safety: 'BLOCK_NONE' },
});

const spoken = gemini.vendor!;
const THIRD = 'gemini-3-flash-preview';
const SECOND = 'gemini-2.5-flash';
const FROM = { channel: 'main', model: THIRD };

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of the vendor's
type Body = any;

function targetOf(model: string): Target {
  const quirks = layQuirks(STYLE_QUIRKS, ...quirksOfModel(MODEL_QUIRKS, model));
  return { channel: 'main', model, stream: false, askUsage: false, quirks };
}

function conversation(more: Partial<Conversation> = {}): Conversation {
  return {
    turns: [user({ type: 'text', text: 'Hello?' })],
    tools: [],
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

const user = (...blocks: Block[]): Turn => ({ role: 'user', blocks });
const assistant = (...blocks: Block[]): Turn => ({ role: 'assistant', blocks });
const callOf = (id: string, input = '{}', more: object = {}): Block => ({
  type: 'toolCall',
  id,
  name: 'look',
  kind: 'function',
  input,
  ...more,
});
const resultOf = (id: string, text: string, more: object = {}): Block => ({
  type: 'toolResult',
  id,
  kind: 'function',
  content: [{ type: 'text', text }],
  ...more,
});
const sealed = (kind: 'signature' | 'thought', value: string, text = ''): Block => ({
  type: 'thinking',
  text,
  opaque: { style: 'gemini', kind, value },
});

/** The vendor's body, by the way that core takes. */
function encoded(
  more: Partial<Conversation>,
  model = THIRD,
): { readonly body: Body; readonly warnings: CollectedWarnings } {
  const warnings = collectWarnings({});
  const to = targetOf(model);
  const adapted = adapt(conversation(more), 'gemini', to, warnings).conversation;
  return { body: spoken.encodeRequest(adapted, to, warnings), warnings };
}

function decoded(body: JsonObject): { readonly reply: Reply; readonly warnings: CollectedWarnings } {
  const warnings = collectWarnings({});
  const reply = spoken.decodeReply(body, FROM, warnings);
  assert.ok(reply !== undefined, 'the body is an answer');
  return { reply, warnings };
}

function streamed(events: readonly Json[]): { readonly parts: readonly Part[]; readonly warnings: CollectedWarnings } {
  const warnings = collectWarnings({});
  const reader = spoken.createStreamDecoder(FROM, warnings);
  const parts = events.flatMap((event) => [...reader.read({ name: undefined, data: JSON.stringify(event) })]);
  return { parts: [...parts, ...reader.close()], warnings };
}

const answer = (parts: readonly Json[], more: JsonObject = {}, candidate: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...candidate }],
  modelVersion: THIRD,
  responseId: 'resp-1',
  ...more,
});
const STOP = { finishReason: 'STOP' };
const USAGE = {
  promptTokenCount: 100,
  toolUsePromptTokenCount: 7,
  cachedContentTokenCount: 40,
  candidatesTokenCount: 20,
  thoughtsTokenCount: 30,
  totalTokenCount: 157,
  promptTokensDetails: [
    { modality: 'TEXT', tokenCount: 90 },
    { modality: 'AUDIO', tokenCount: 10 },
  ],
};

describe('the vendor gemini', () => {
  const call = (stream: boolean): Call => ({ stream }) as Call;
  const offer = (options: JsonObject = {}): Offer =>
    ({ model: 'gemini-3 pro', channel: { key: 'k', options } as unknown as Channel }) as Offer;
  const dialect = async () => (await plugin.create({} as never, {})).vendors![0]!.speaks.gemini!;

  it('is asked at a path that names the model, and that says whether it shall stream', async () => {
    const { path } = await dialect();
    assert.ok(typeof path === 'function', 'the path depends on the call');
    assert.equal(path(call(false), offer(), {} as never), '/models/gemini-3%20pro:generateContent');
    assert.equal(path(call(true), offer(), {} as never), '/models/gemini-3%20pro:streamGenerateContent?alt=sse');
  });

  it('sends the key in its own header', async () => {
    const { headers } = await dialect();
    assert.deepEqual(headers(offer().channel, call(true), undefined), { 'x-goog-api-key': 'k' });
  });

  it('asks for its safety settings only where the channel says so', async () => {
    const { request } = await dialect();
    assert.deepEqual(request!({ contents: [] }, offer(), NO_ATTACHMENTS, collectWarnings({})), { contents: [] });
    const { safetySettings } = request!({}, offer({ safety: 'OFF' }), NO_ATTACHMENTS, collectWarnings({})) as Body;
    assert.equal(safetySettings.length, 5);
    for (const setting of safetySettings) assert.equal(setting.threshold, 'OFF');
  });

  it('has no clients in its own style', () => {
    assert.equal(gemini.ingress, undefined);
  });
});

describe('a request to gemini', () => {
  it('keeps instructions apart, and who says what', () => {
    const { body } = encoded({
      turns: [
        { role: 'system', blocks: [{ type: 'text', text: 'Be brief.' }] },
        { role: 'developer', blocks: [{ type: 'text', text: 'Be kind.' }] },
        user({ type: 'text', text: 'Hello?' }),
        assistant({ type: 'text', text: 'Hello.' }),
        user({ type: 'text', text: 'Bye.' }),
      ],
    });
    assert.deepEqual(body.systemInstruction, { parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] });
    assert.deepEqual(body.contents, [
      { role: 'user', parts: [{ text: 'Hello?' }] },
      { role: 'model', parts: [{ text: 'Hello.' }] },
      { role: 'user', parts: [{ text: 'Bye.' }] },
    ]);
  });

  it('holds nothing that was not asked for', () => {
    assert.deepEqual(encoded({}).body, { contents: [{ role: 'user', parts: [{ text: 'Hello?' }] }] });
  });

  it('says every limit and every way of drawing words that the model takes', () => {
    const { body, warnings } = encoded(
      {
        maxTokens: 500,
        sampling: {
          temperature: 1.5,
          topP: 0.9,
          topK: 4,
          seed: 3,
          presencePenalty: 0.5,
          frequencyPenalty: 0.1,
          logprobs: 3,
          logitBias: { 7: 1 },
        },
        stop: ['a', 'b'],
      },
      'gemini-2.0-flash',
    );
    assert.deepEqual(body.generationConfig, {
      maxOutputTokens: 500,
      temperature: 1.5,
      topP: 0.9,
      topK: 4,
      seed: 3,
      presencePenalty: 0.5,
      frequencyPenalty: 0.1,
      responseLogprobs: true,
      logprobs: 3,
      stopSequences: ['a', 'b'],
    });
    assert.deepEqual(warnings.all, ['logit_bias:dropped']);
  });

  it('leaves out the penalties that newer models refuse, and says so', () => {
    const { body, warnings } = encoded({ sampling: { presencePenalty: 0.5, temperature: 1 } });
    assert.deepEqual(body.generationConfig, { temperature: 1 });
    assert.deepEqual(warnings.serious, ['presence_penalty:dropped']);
  });

  it('sends media inline, addresses of files as addresses, and texts as text', () => {
    const { body } = encoded({
      turns: [
        user(
          { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } },
          { type: 'audio', data: 'BBBB', format: 'wav' },
          { type: 'audio', data: 'CCCC', format: 'mp3' },
          { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'DDDD' } },
          {
            type: 'file',
            source: { kind: 'base64', mediaType: 'text/csv', data: Buffer.from('a,ü').toString('base64') },
          },
          { type: 'file', source: { kind: 'base64', mediaType: 'video/mp4', data: 'EEEE' } },
          { type: 'file', source: { kind: 'url', url: 'https://www.youtube.com/watch?v=1' } },
          { type: 'file', source: { kind: 'url', url: 'gs://bucket/film.mp4' } },
        ),
      ],
    });
    assert.deepEqual(body.contents[0].parts, [
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
      { inlineData: { mimeType: 'audio/wav', data: 'BBBB' } },
      { inlineData: { mimeType: 'audio/mp3', data: 'CCCC' } },
      { inlineData: { mimeType: 'application/pdf', data: 'DDDD' } },
      { text: 'a,ü' },
      { inlineData: { mimeType: 'video/mp4', data: 'EEEE' } },
      { fileData: { fileUri: 'https://www.youtube.com/watch?v=1' } },
      { fileData: { mimeType: 'video/mp4', fileUri: 'gs://bucket/film.mp4' } },
    ]);
  });

  it('refuses a file that only another vendor knows', () => {
    const warnings = collectWarnings({});
    const turns = [user({ type: 'file', source: { kind: 'id', id: 'file-1' } })];
    assert.throws(() => spoken.encodeRequest(conversation({ turns }), targetOf(THIRD), warnings), { status: 400 });
  });

  it('gives a call its arguments as an object, whatever the model wrote', () => {
    const inputs = ['{"a":1}', '', '[1]', '{broken'];
    const { body } = encoded({
      turns: [
        user({ type: 'text', text: 'Go.' }),
        assistant(...inputs.map((input, i) => callOf(`c${i}`, input))),
        user(...inputs.map((_, i) => resultOf(`c${i}`, 'ok'))),
      ],
    });
    assert.deepEqual(
      body.contents[1].parts.map((part: Body) => part.functionCall),
      [{ a: 1 }, {}, { value: [1] }, { _raw: '{broken' }].map((args, i) => ({ id: `c${i}`, name: 'look', args })),
    );
  });

  it('names the function in a result, makes an object of what it says, and puts it before what the user says', () => {
    const texts = ['{"ok":true}', '[1,2]', 'plain', '', '{"id":12345678901234567890}'];
    const { body } = encoded({
      turns: [
        user({ type: 'text', text: 'Go.' }),
        assistant(...texts.map((_, i) => callOf(`c${i}`)), callOf('bad')),
        user(
          { type: 'text', text: 'And now?' },
          ...texts.map((text, i) => resultOf(`c${i}`, text)),
          resultOf('bad', 'boom', { isError: true }),
        ),
      ],
    });
    const parts = body.contents[2].parts;
    assert.deepEqual(
      parts.slice(0, -1).map((part: Body) => [part.functionResponse.name, part.functionResponse.response]),
      [
        ['look', { ok: true }],
        ['look', { result: [1, 2] }],
        ['look', { result: 'plain' }],
        ['look', { result: '' }],
        // As a number it would be another one.
        ['look', { result: '{"id":12345678901234567890}' }],
        ['look', { error: 'boom' }],
      ],
    );
    assert.deepEqual(parts.at(-1), { text: 'And now?' });
  });

  it('puts an image into the result that holds it, or behind it for models that look only there', () => {
    const image: Block = { type: 'image', source: { kind: 'base64', mediaType: 'image/jpeg', data: 'AAAA' } };
    const turns = [
      user({ type: 'text', text: 'Go.' }),
      assistant(callOf('a')),
      user({ type: 'toolResult', id: 'a', kind: 'function', content: [{ type: 'text', text: 'Seen.' }, image] }),
    ];
    const inline = { inlineData: { mimeType: 'image/jpeg', data: 'AAAA' } };
    const inside = encoded({ turns }).body.contents[2].parts;
    assert.deepEqual(inside[0].functionResponse.parts, [inline]);
    assert.equal(inside.length, 1);
    const behind = encoded({ turns }, SECOND).body.contents[2].parts;
    assert.equal(behind[0].functionResponse.parts, undefined);
    assert.deepEqual(behind.at(-1), inline);
  });

  it('gives every signature back to the part it was on, wherever the client kept it', () => {
    const parts = (...blocks: Block[]): Body =>
      encoded({ turns: [user({ type: 'text', text: 'Go.' }), assistant(...blocks), user(resultOf('a', 'ok'))] }).body
        .contents[1].parts;
    const signedCall = callOf('a', '{}', { opaque: { style: 'gemini', kind: 'signature', value: 'S3', id: 'a' } });
    const expected = [
      { text: 'Hm.', thought: true, thoughtSignature: 'S1' },
      { text: 'Looking.', thoughtSignature: 'S2' },
      { functionCall: { id: 'a', name: 'look', args: {} }, thoughtSignature: 'S3' },
    ];
    const said: Block = { type: 'text', text: 'Looking.' };
    const thought = sealed('signature', 'S1', 'Hm.');
    assert.deepEqual(parts(thought, said, sealed('thought', 'S2'), signedCall), expected);
    assert.deepEqual(parts(thought, sealed('thought', 'S2'), said, signedCall), expected);
  });

  it("leaves out another vendor's thoughts", () => {
    const { body, warnings } = encoded({
      turns: [
        user({ type: 'text', text: 'Go.' }),
        assistant(
          { type: 'thinking', text: 'Hm.', opaque: { style: 'messages', kind: 'signature', value: 'X' } },
          { type: 'text', text: 'Yes.' },
        ),
        user({ type: 'text', text: 'Why?' }),
      ],
    });
    assert.deepEqual(body.contents[1].parts, [{ text: 'Yes.' }]);
    assert.deepEqual(warnings.all, ['messages.reasoning:dropped']);
    assert.deepEqual(warnings.serious, []);
  });

  it('asks models that check signatures not to look for the one of a foreign call', () => {
    const turns = [
      user({ type: 'text', text: 'Go.' }),
      assistant(callOf('a'), callOf('b')),
      user(resultOf('a', '1'), resultOf('b', '2')),
    ];
    const signatures = (model: string): Body =>
      encoded({ turns }, model).body.contents[1].parts.map((part: Body) => part.thoughtSignature);
    assert.deepEqual(signatures(THIRD), ['skip_thought_signature_validator', undefined]);
    assert.deepEqual(signatures(SECOND), [undefined, undefined]);
  });

  it('says how much to think in the words of the model', () => {
    const thinking = (reasoning: Conversation['reasoning'], model: string): Body =>
      encoded({ reasoning }, model).body.generationConfig?.thinkingConfig;
    const high = { mode: 'on', effort: 'high' } as const;
    assert.deepEqual(thinking(high, SECOND), { includeThoughts: true, thinkingBudget: 16_384 });
    assert.deepEqual(thinking(high, THIRD), { includeThoughts: true, thinkingLevel: 'HIGH' });
    assert.equal(thinking(high, 'gemini-2.0-flash'), undefined);
    assert.deepEqual(thinking({ mode: 'on', effort: 'xhigh' }, THIRD), {
      includeThoughts: true,
      thinkingLevel: 'HIGH',
    });
    assert.deepEqual(thinking({ mode: 'on', budget: 50_000 }, 'gemini-2.5-pro'), {
      includeThoughts: true,
      thinkingBudget: 32_768,
    });
    assert.deepEqual(thinking({ mode: 'auto' }, SECOND), { includeThoughts: true, thinkingBudget: -1 });
    assert.deepEqual(thinking({ mode: 'auto', summary: 'none' }, THIRD), {});
    assert.deepEqual(thinking({ mode: 'off' }, SECOND), { thinkingBudget: 0 });
    assert.equal(thinking(undefined, SECOND), undefined);
  });

  it('declares functions with their JSON Schema as it is', () => {
    const schema = { $schema: 'x', type: 'object', properties: { a: { type: ['string', 'null'] } } };
    const { body } = encoded({ tools: [{ type: 'function', name: 'look', description: 'Looks.', schema }] });
    assert.deepEqual(body.tools, [
      { functionDeclarations: [{ name: 'look', description: 'Looks.', parametersJsonSchema: schema }] },
    ]);
    assert.equal(body.toolConfig, undefined);
  });

  it('says which functions may be called', () => {
    const tools = ['a', 'b'].map((name) => ({ type: 'function', name }) as const);
    const choose = (toolChoice: Conversation['toolChoice']): Body => encoded({ tools, toolChoice }).body;
    const calling = (toolChoice: Conversation['toolChoice']): Body =>
      choose(toolChoice).toolConfig?.functionCallingConfig;
    assert.equal(calling({ mode: 'auto' }), undefined);
    assert.deepEqual(calling({ mode: 'none' }), { mode: 'NONE' });
    assert.deepEqual(calling({ mode: 'required' }), { mode: 'ANY' });
    assert.deepEqual(calling({ mode: 'required', only: ['b'] }), { mode: 'ANY', allowedFunctionNames: ['b'] });
    // A list of names beside AUTO would not be looked at.
    assert.deepEqual(choose({ mode: 'auto', only: ['b'] }).tools, [{ functionDeclarations: [{ name: 'b' }] }]);
  });

  it('searches the web beside functions only with models that can do both', () => {
    const tools: Conversation['tools'] = [
      { type: 'function', name: 'look' },
      { type: 'hosted', name: 'web_search', style: 'responses', raw: {}, search: { contextSize: 'low', maxUses: 2 } },
    ];
    const { body, warnings } = encoded({ tools });
    assert.deepEqual(body.tools, [{ functionDeclarations: [{ name: 'look' }] }, { googleSearch: {} }]);
    assert.deepEqual(body.toolConfig, { includeServerSideToolInvocations: true });
    assert.deepEqual(warnings.serious, ['tools.max_uses:dropped']);
    const older = encoded({ tools }, SECOND);
    assert.deepEqual(older.body.tools, [{ functionDeclarations: [{ name: 'look' }] }]);
    assert.deepEqual(older.warnings.serious, ['tools.web_search:dropped']);
    assert.deepEqual(encoded({ tools: tools.slice(1) }, SECOND).body.tools, [{ googleSearch: {} }]);
  });

  it('asks for JSON, with its schema', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const config = (format: NonNullable<Conversation['output']['format']>, model = THIRD): Body =>
      encoded({ output: { format } }, model).body.generationConfig;
    assert.deepEqual(config({ type: 'json' }), { responseMimeType: 'application/json' });
    assert.deepEqual(config({ type: 'schema', name: 'n', schema, strict: true }), {
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    });
    const drawing = encoded({ output: { format: { type: 'json' } } }, 'gemini-2.5-flash-image');
    assert.deepEqual(drawing.warnings.serious, ['response_format:dropped']);
  });

  it('keeps the tools where a model takes tools or JSON only', () => {
    const { body, warnings } = encoded(
      { tools: [{ type: 'function', name: 'look' }], output: { format: { type: 'json' } } },
      SECOND,
    );
    assert.equal(body.generationConfig, undefined);
    assert.equal(body.tools.length, 1);
    assert.deepEqual(warnings.serious, ['response_format:changed']);
  });

  it('asks models that draw or speak for what they do', () => {
    assert.deepEqual(encoded({}, 'gemini-2.5-flash-image').body.generationConfig, {
      responseModalities: ['TEXT', 'IMAGE'],
    });
    const { body, warnings } = encoded(
      { output: { modalities: ['audio'], audio: { voice: 'Kore', format: 'wav' } } },
      'gemini-2.5-flash-preview-tts',
    );
    assert.deepEqual(body.generationConfig, {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
    });
    assert.deepEqual(warnings.serious, ['audio.format:changed']);
  });

  it('names everything that it has no words for', () => {
    const { warnings } = encoded({
      labels: { user: 'u', metadata: { a: 'b' }, cacheKey: 'k', store: true, serviceTier: 'scale' },
      output: { verbosity: 'low' },
      extras: { prediction: {}, safety_identifier: 'x' },
    });
    assert.deepEqual(
      [...warnings.all].sort(),
      [
        'metadata:dropped',
        'prediction:dropped',
        'prompt_cache_key:dropped',
        'safety_identifier:dropped',
        'service_tier:dropped',
        'store:dropped',
        'user:dropped',
        'verbosity:dropped',
      ].sort(),
    );
    assert.deepEqual(
      [...warnings.serious].sort(),
      ['prediction:dropped', 'service_tier:dropped', 'verbosity:dropped'].sort(),
    );
    assert.equal(encoded({ labels: { serviceTier: 'flex' } }).body.serviceTier, 'flex');
  });

  it('survives a conversation that nobody has adapted', () => {
    const warnings = collectWarnings({});
    const turns = [
      assistant(resultOf('nowhere', 'x')),
      { role: 'system', blocks: [] } as const,
      user(
        { type: 'foreign', style: 'responses', what: 'web_search_call', raw: {} },
        { type: 'audio', data: '', format: 'wav' },
      ),
    ];
    const tools: Conversation['tools'] = [{ type: 'custom', name: 'patch' }];
    const body: Body = spoken.encodeRequest(
      conversation({ turns, tools, reasoning: { mode: 'on', effort: 'max' } }),
      targetOf(SECOND),
      warnings,
    );
    assert.equal(body.contents[0].parts[0].functionResponse.name, 'nowhere');
    assert.deepEqual(warnings.all, ['messages.web_search_call:dropped', 'messages.audio:dropped']);
  });
});

describe('a request to gemini that asks for more than there is', () => {
  it('gets nothing but sound from a model that only speaks, as clients of models that write and speak ask', () => {
    const output = { modalities: ['text', 'audio'], audio: { voice: 'Kore', format: 'pcm16' } };
    const { body, warnings } = encoded({ output }, 'gemini-2.5-flash-preview-tts');
    assert.deepEqual(body.generationConfig.responseModalities, ['AUDIO']);
    assert.deepEqual([warnings.all, warnings.serious], [['modalities:changed'], []]);
  });

  it('leaves a choice that means nothing but a search to the model, without the functions', () => {
    const search = { type: 'hosted', name: 'web_search', style: 'responses', raw: {}, search: {} } as const;
    const tools = [search, { type: 'function', name: 'f' } as const];
    for (const mode of ['required', 'auto'] as const) {
      const { body, warnings } = encoded({ tools, toolChoice: { mode, only: ['web_search'] } }, SECOND);
      assert.deepEqual([body.tools, body.toolConfig], [[{ googleSearch: {} }], undefined], mode);
      assert.deepEqual(warnings.all, ['tool_choice:changed'], mode);
      assert.equal(warnings.serious.length, mode === 'required' ? 1 : 0, mode);
    }
  });
});

describe('usage of gemini', () => {
  it('is a whole number and never negative, whatever the vendor wrote', () => {
    for (const absurd of [1e308, -5, 1.5, '7', 'x', [], { valueOf: 1, toString: 1 }, true, null]) {
      const detail = { modality: 'AUDIO', tokenCount: absurd };
      const usageMetadata = {
        promptTokenCount: 3,
        toolUsePromptTokenCount: absurd,
        cachedContentTokenCount: absurd,
        candidatesTokenCount: absurd,
        thoughtsTokenCount: absurd,
        promptTokensDetails: [detail, detail],
        candidatesTokensDetails: absurd,
      };
      const body = answer([{ text: 'Yes' }], { usageMetadata }, STOP);
      const { estimated: _, ...numbers } = gemini.relay.answer(
        scanAnswer(Buffer.from(JSON.stringify(body)))!,
        ANY_CALL,
      )!.usage!;
      for (const [name, value] of Object.entries(numbers)) {
        assert.ok(
          Number.isSafeInteger(value) && Number(value) >= 0,
          `${name} of ${JSON.stringify(absurd)} is ${value}`,
        );
      }
    }
  });
});

describe('an answer of gemini', () => {
  it('has thoughts, text and calls, each with its signature', () => {
    const { reply, warnings } = decoded(
      answer(
        [
          { text: 'Hm.', thought: true },
          { text: 'Looking.', thoughtSignature: 'S1' },
          { functionCall: { name: 'look', args: { a: 1 }, id: 'own' }, thoughtSignature: 'S2' },
          { functionCall: { name: 'look' } },
        ],
        { usageMetadata: USAGE },
        STOP,
      ),
    );
    const [thought, text, signature, first, second] = reply.blocks;
    assert.deepEqual(thought, { type: 'thinking', text: 'Hm.' });
    assert.deepEqual(text, { type: 'text', text: 'Looking.' });
    const opaque = { style: 'gemini', channel: 'main' };
    assert.deepEqual(signature, { type: 'thinking', text: '', opaque: { ...opaque, kind: 'thought', value: 'S1' } });
    assert.deepEqual(
      first,
      callOf('own', '{"a":1}', { opaque: { ...opaque, kind: 'signature', value: 'S2', id: 'own' } }),
    );
    assert.ok(second?.type === 'toolCall', 'the second call');
    assert.equal(second.input, '{}');
    assert.match(second.id, /^call_[0-9a-f]{24}$/);
    assert.equal(reply.blocks.length, 5);
    assert.deepEqual(reply.finish, { reason: 'tool_calls' });
    assert.deepEqual([reply.id, reply.model], ['resp-1', THIRD]);
    assert.deepEqual(warnings.all, []);
  });

  it('gives calls without an id the same ones each time, and others in another answer', () => {
    const parts = [{ functionCall: { name: 'a' } }, { functionCall: { name: 'b' } }];
    const idsOf = (more: JsonObject): readonly string[] =>
      decoded(answer(parts, more)).reply.blocks.map((block) => (block.type === 'toolCall' ? block.id : ''));
    const ids = idsOf({});
    assert.equal(new Set(ids).size, 2);
    assert.deepEqual(idsOf({}), ids);
    assert.notDeepEqual(idsOf({ responseId: 'resp-2' }), ids);
  });

  it('counts tool prompts into the input and thoughts into the output', () => {
    const expected = {
      input: 107,
      cacheRead: 40,
      cacheWrite: 0,
      cacheWriteLong: 0,
      inputAudio: 10,
      output: 50,
      reasoning: 30,
      outputAudio: 0,
      service: { tier: 'default' },
      estimated: false,
    };
    const body = answer([{ text: 'Yes.' }], { usageMetadata: { ...USAGE, serviceTier: 'standard' } }, STOP);
    const { reply } = decoded(body);
    assert.deepEqual(reply.usage, expected);
    assert.equal(reply.serviceTier, 'default');
    const facts = gemini.relay.answer(scanAnswer(Buffer.from(JSON.stringify(body)))!, ANY_CALL);
    assert.deepEqual([facts?.usage, facts?.textLength(), facts?.error], [expected, 4, undefined]);
  });

  it('counts what was searched: each question of later models, one for the whole prompt of earlier ones', () => {
    const webSearchQueries = ['a', 'b', 'a'];
    for (const [modelVersion, searches] of [
      ['gemini-2.5-pro', 1],
      ['gemini-3-pro-preview', 2],
    ] as const) {
      const body = {
        ...answer([{ text: 'Yes.' }], { usageMetadata: USAGE }, { ...STOP, groundingMetadata: { webSearchQueries } }),
      };
      const told = { ...(body as JsonObject), modelVersion };
      const facts = gemini.relay.answer(scanAnswer(Buffer.from(JSON.stringify(told)))!, ANY_CALL);
      assert.deepEqual(facts?.usage?.uses, { web_search: searches });
      const reader = gemini.vendor!.createStreamDecoder({ channel: 'c', model: 'm' }, collectWarnings({}));
      reader.read({ name: undefined, data: JSON.stringify(told) });
      assert.deepEqual(reader.uses?.(), { web_search: searches });
    }
  });

  it('ends for the reason that the vendor tells', () => {
    const reasonOf = (finishReason: string, parts: readonly Json[] = [{ text: 'x' }]): string =>
      decoded(answer(parts, {}, { finishReason })).reply.finish.reason;
    const calls = [{ functionCall: { name: 'look' } }];
    assert.equal(reasonOf('STOP'), 'stop');
    assert.equal(reasonOf('MAX_TOKENS'), 'length');
    for (const reason of ['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY']) {
      assert.equal(reasonOf(reason), 'content_filter', reason);
    }
    assert.equal(reasonOf('STOP', calls), 'tool_calls');
    assert.equal(reasonOf('MAX_TOKENS', calls), 'length');
    assert.equal(reasonOf('SAFETY', calls), 'content_filter');
  });

  for (const code of [
    ...['MALFORMED_FUNCTION_CALL', 'MALFORMED_RESPONSE', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'],
    ...['MISSING_THOUGHT_SIGNATURE', 'NO_IMAGE', 'LANGUAGE', 'OTHER'],
  ]) {
    it(`has failed if the vendor ends it with ${code}, whole and streamed`, () => {
      for (const [parts, finishMessage, message] of [
        [[], 'Malformed: print(', 'Malformed: print('],
        [[{ text: 'So far' }], undefined, `The model could not finish its answer (${code}).`],
      ] as const) {
        const body = answer(parts, {}, { finishReason: code, ...(finishMessage && { finishMessage }) });
        const facts = gemini.relay.answer(scanAnswer(Buffer.from(JSON.stringify(body)))!, ANY_CALL);
        assert.deepEqual(facts?.error, { message, code });
        assert.equal(gemini.vendor!.decodeReply(body, FROM, collectWarnings({})), undefined);
        const reader = gemini.vendor!.createStreamDecoder(FROM, collectWarnings({}));
        const told = [...reader.read({ name: undefined, data: JSON.stringify(body) }), ...reader.close()];
        assert.deepEqual(told.at(-1), { type: 'error', message, code });
        assert.ok(told.every(({ type }) => type !== 'finish'));
      }
    });
  }

  it('is a plain stop for a reason that nobody knows', () => {
    assert.deepEqual(decoded(answer([{ text: 'x' }], {}, { finishReason: 'toString' })).reply.finish, {
      reason: 'stop',
    });
  });

  it('says that the prompt was blocked where there are no candidates', () => {
    const { reply } = decoded({
      promptFeedback: { blockReason: 'SAFETY', blockReasonMessage: 'No.' },
      usageMetadata: { promptTokenCount: 3 },
    });
    assert.deepEqual(reply.finish, { reason: 'content_filter', explanation: 'No.' });
    assert.deepEqual(reply.blocks, []);
    assert.equal(reply.usage?.input, 3);
  });

  it('may have no content at all', () => {
    for (const candidates of [[], [{}], [{ content: {} }], [{ content: { role: 'model' }, finishReason: 'STOP' }]]) {
      const { reply } = decoded({ candidates: candidates as Json });
      assert.deepEqual([reply.blocks, reply.finish], [[], { reason: 'stop' }]);
    }
  });

  it('is none where it holds an error, or nothing that belongs to one', () => {
    const warnings = collectWarnings({});
    const error = { code: 503, message: 'Overloaded.', status: 'UNAVAILABLE' };
    assert.equal(spoken.decodeReply({ error }, FROM, warnings), undefined);
    assert.equal(spoken.decodeReply({ choices: [] }, FROM, warnings), undefined);
    const facts = gemini.relay.answer(scanAnswer(Buffer.from(JSON.stringify({ error })))!, ANY_CALL);
    assert.deepEqual(facts?.error, { message: 'Overloaded.', code: 'UNAVAILABLE' });
    assert.equal(gemini.relay.answer(scanAnswer(Buffer.from('{"choices":[]}'))!, ANY_CALL), undefined);
  });

  it('shows pictures and sound, and what its own tools did', () => {
    const { reply } = decoded(
      answer([
        { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
        { inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: Buffer.from('abcd').toString('base64') } },
        { inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: Buffer.from('ef').toString('base64') } },
        { executableCode: { language: 'PYTHON', code: 'print(1)' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
      ]),
    );
    assert.deepEqual(reply.blocks.slice(0, 2), [
      { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } },
      { type: 'audio', format: 'pcm16', data: Buffer.from('abcdef').toString('base64') },
    ]);
    assert.deepEqual(
      reply.blocks.slice(2).map((block) => (block.type === 'foreign' ? block.what : block.type)),
      ['executableCode', 'codeExecutionResult'],
    );
  });

  it('cites its sources by characters, although the vendor counts bytes', () => {
    const text = 'Grüße 👋. Paris is warm.';
    const first = Buffer.byteLength('Grüße 👋. ');
    const grounding = {
      groundingChunks: [
        { web: { uri: 'https://a.example', title: 'A' } },
        { web: { uri: 'https://b.example', title: 'B' } },
      ],
      groundingSupports: [
        {
          segment: { startIndex: first, endIndex: Buffer.byteLength(text), text: 'Paris is warm.' },
          groundingChunkIndices: [0, 1, 9],
        },
      ],
      webSearchQueries: ['paris'],
    };
    const { reply, warnings } = decoded(answer([{ text }], {}, { ...STOP, groundingMetadata: grounding }));
    const [block] = reply.blocks;
    assert.ok(block?.type === 'text', 'a text');
    assert.deepEqual(
      block.citations?.map(({ url, title, start, end, quote }) => [url, title, text.slice(start, end), quote]),
      ['a', 'b'].map((name) => [`https://${name}.example`, name.toUpperCase(), 'Paris is warm.', 'Paris is warm.']),
    );
    assert.deepEqual(warnings.all, ['webSearchQueries:omitted']);
  });

  it('cites sources that support no certain words at the last text, and each at the text that it supports', () => {
    const supports = [{ segment: { endIndex: 4, text: 'One.' }, groundingChunkIndices: [0] }];
    const chunks = [{ web: { uri: 'https://a.example' } }];
    const parts = [{ text: 'One.' }, { functionCall: { name: 'look' } }, { text: 'Two.' }];
    const citedIn = (groundingMetadata: JsonObject): readonly number[] =>
      decoded(answer(parts, {}, { groundingMetadata })).reply.blocks.map((block) =>
        block.type === 'text' ? (block.citations?.length ?? 0) : 0,
      );
    assert.deepEqual(citedIn({ groundingChunks: chunks, groundingSupports: supports }), [1, 0, 0]);
    assert.deepEqual(citedIn({ groundingChunks: chunks }), [0, 0, 1]);
    const more = [...chunks, { maps: { uri: 'https://b.example' } }];
    assert.deepEqual(citedIn({ groundingChunks: more, groundingSupports: supports }), [1, 0, 1]);
  });

  it('has log probabilities as clients know them', () => {
    const logprobsResult = {
      chosenCandidates: [{ token: 'ü', logProbability: -0.5 }],
      topCandidates: [{ candidates: [{ token: 'u', logProbability: -1 }] }],
    };
    const [block] = decoded(answer([{ text: 'ü' }], {}, { logprobsResult })).reply.blocks;
    assert.ok(block?.type === 'text', 'a text');
    assert.deepEqual(block.logprobs, [
      {
        token: 'ü',
        logprob: -0.5,
        bytes: [0xc3, 0xbc],
        top_logprobs: [{ token: 'u', logprob: -1, bytes: [0x75] }],
      },
    ]);
  });

  it('names what no client could be shown', () => {
    const { warnings } = decoded(
      answer([{ text: 'x' }], { surprise: 1 }, { safetyRatings: [{ blocked: true }], groundingMetadata: {} }),
    );
    assert.deepEqual(warnings.all, ['surprise:omitted', 'safetyRatings:omitted']);
  });
});

describe('a stream of gemini', () => {
  const EVENTS = [
    answer([{ text: 'Hm, ', thought: true }], { usageMetadata: { promptTokenCount: 100 } }),
    answer([{ text: 'yes.', thought: true }]),
    answer([{ text: 'It ' }, { text: 'is' }]),
    answer([{ text: ' so.' }], { usageMetadata: { promptTokenCount: 0, totalTokenCount: 0 } }),
    answer([{ functionCall: { name: 'look', args: { a: 1 } }, thoughtSignature: 'S' }]),
    answer([{ text: '' }], { usageMetadata: USAGE }, STOP),
  ];

  it('comes to the same as the whole answer', () => {
    const { parts } = streamed(EVENTS);
    const { reply } = decoded(
      answer(
        [
          { text: 'Hm, yes.', thought: true },
          { text: 'It is so.' },
          { functionCall: { name: 'look', args: { a: 1 } }, thoughtSignature: 'S' },
        ],
        { usageMetadata: USAGE },
        STOP,
      ),
    );
    assert.deepEqual(foldParts(parts), reply);
  });

  it('has one block open at a time, and ends with its reason', () => {
    const { parts } = streamed(EVENTS);
    assert.deepEqual(
      parts.map((part) => (part.type === 'blockStart' ? part.block.type : part.type)),
      [
        ...['start', 'usage', 'thinking', 'delta', 'delta', 'blockEnd'],
        ...['text', 'delta', 'delta', 'delta', 'blockEnd', 'toolCall', 'delta', 'blockEnd'],
        ...['usage', 'finish'],
      ],
    );
  });

  it('keeps the signature of a text until the text is complete', () => {
    const { parts } = streamed([
      answer([{ text: 'Yes' }]),
      answer(
        [{ text: '', thoughtSignature: 'S' }],
        {},
        { ...STOP, groundingMetadata: { groundingChunks: [{ web: {} }] } },
      ),
    ]);
    assert.deepEqual(
      parts.map((part) => (part.type === 'blockStart' ? part.block.type : part.type)),
      ['start', 'text', 'delta', 'citation', 'blockEnd', 'thinking', 'blockEnd', 'finish'],
    );
  });

  it('puts arguments together that come piece by piece, also where their end is not told', () => {
    const piece = (partialArgs: readonly Json[], more: JsonObject = { willContinue: true }): JsonObject =>
      answer([{ functionCall: { partialArgs, ...more } }]);
    const begin = (name: string): JsonObject => answer([{ functionCall: { name, willContinue: true } }]);
    const { parts } = streamed([
      begin('cook'),
      piece([{ jsonPath: '$.list[0].name', stringValue: 'Nood', willContinue: true }]),
      piece([{ jsonPath: '$.list[0].name', stringValue: 'les' }]),
      piece([
        { jsonPath: "$.list[0]['how much']", numberValue: 2.5 },
        { jsonPath: '$.__proto__.polluted', boolValue: true },
        { jsonPath: '$.none', nullValue: null },
        { jsonPath: '$.list[900000000]', stringValue: 'far away' },
      ]),
      answer([{ functionCall: {} }]),
      begin('eat'),
      piece([{ jsonPath: '$.soon', boolValue: true }]),
      answer([{ text: '' }], {}, STOP),
    ]);
    const calls = foldParts(parts)!.blocks.map((block) => (block.type === 'toolCall' ? [block.name, block.input] : []));
    assert.deepEqual(calls, [
      ['cook', '{"list":[{"name":"Noodles","how much":2.5}],"__proto__":{"polluted":true},"none":null}'],
      ['eat', '{"soon":true}'],
    ]);
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });

  it('leaves out a call whose arguments are cut, and names it', () => {
    const half = { functionCall: { partialArgs: [{ jsonPath: '$.path', stringValue: '/et' }], willContinue: true } };
    const { parts, warnings } = streamed([
      answer([{ functionCall: { name: 'look', args: {} } }]),
      answer([{ functionCall: { name: 'remove', willContinue: true } }]),
      answer([half]),
      answer([{ text: '' }], {}, { finishReason: 'MAX_TOKENS' }),
    ]);
    const { blocks, finish } = foldParts(parts)!;
    assert.deepEqual(
      blocks.map((block) => block.type === 'toolCall' && block.name),
      ['look'],
    );
    assert.deepEqual([finish.reason, warnings.all], ['length', ['function_call:omitted']]);
  });

  it('is broken where it stops before the vendor said why', () => {
    const { parts } = streamed(EVENTS.slice(0, -1));
    assert.equal(
      parts.some(({ type }) => type === 'finish'),
      false,
    );
  });

  it('ends with the error that the vendor tells in the middle, alone or in a list', () => {
    const error = { code: 503, message: 'Overloaded.', status: 'UNAVAILABLE' };
    for (const event of [{ error }, [{ error }]]) {
      const { parts } = streamed([answer([{ text: 'Yes' }], {}, STOP), event, answer([{ text: 'no' }])]);
      assert.deepEqual(parts.at(-1), { type: 'error', message: 'Overloaded.', code: 'UNAVAILABLE' });
    }
  });

  it('tells that the prompt was blocked', () => {
    const { parts } = streamed([{ promptFeedback: { blockReason: 'JAILBREAK' }, responseId: 'r' }]);
    assert.deepEqual(parts.at(-1), { type: 'finish', finish: { reason: 'content_filter' } });
  });

  it('survives whatever the vendor sends', () => {
    const reader = spoken.createStreamDecoder(FROM, collectWarnings({}));
    for (const data of [
      '',
      'not json',
      '[DONE]',
      'null',
      '[]',
      '{"candidates":"x"}',
      '{"candidates":[null,{"content":{"parts":[null,{},{"text":1},{"functionCall":{}},{"functionCall":{"args":3}},{"inlineData":{}}]}}]}',
      '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","partialArgs":[{"jsonPath":"x"},{"jsonPath":"$["},7]}}]}}]}',
      '{"candidates":[{"groundingMetadata":{"groundingSupports":[{"groundingChunkIndices":["a"],"segment":"b"}]},"finishReason":"STOP"}]}',
      '{"usageMetadata":{"promptTokenCount":"12","candidatesTokenCount":-3,"promptTokensDetails":{}}}',
    ]) {
      reader.read({ name: undefined, data });
    }
    assert.equal(reader.close().at(-1)?.type, 'finish');
  });
});

describe('a key of gemini that is not good', () => {
  const BAD_KEY = JSON.stringify({
    error: {
      code: 400,
      message: 'API key not valid. Please pass a valid API key.',
      status: 'INVALID_ARGUMENT',
      details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
    },
  });

  it('is our fault, although the vendor calls it a bad request', async () => {
    const { vendors } = await plugin.create({} as Host, {});
    const judge = vendors?.[0]?.judge?.bind(vendors[0]);
    assert.equal(judge?.(400, {}, Buffer.from(BAD_KEY)), 'next');
    assert.equal(judge?.(400, {}, Buffer.from('{"error":{"code":400,"message":"Bad."}}')), undefined);
  });
});

describe('gemini: tokens of images', () => {
  it('are told apart, in and out, whatever a later event leaves out', () => {
    const usageMetadata = {
      promptTokenCount: 300,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 42 },
        { modality: 'IMAGE', tokenCount: 258 },
      ],
      candidatesTokenCount: 1_300,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
    };
    const told = usageIn({ usageMetadata });
    assert.deepEqual([told?.inputImage, told?.outputImage], [258, 1_290]);
    const later = laterUsage(told, usageIn({ usageMetadata: { promptTokenCount: 300, candidatesTokenCount: 1_310 } })!);
    assert.deepEqual([later.output, later.inputImage, later.outputImage], [1_310, 258, 1_290]);
  });
});
