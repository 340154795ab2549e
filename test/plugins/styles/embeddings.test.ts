import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scanAnswer, scanJson } from '../../../core/bytes/json-body.ts';
import type { Call, Finishing, Json, JsonBody, JsonObject, Usage } from '../../../core/plugin.ts';
import { GatewayError } from '../../../core/plugin.ts';
import type { Quirks } from '../../../core/translation/index.ts';
import { layQuirks, NO_TOKENS } from '../../../core/translation/index.ts';
import { type CollectedWarnings, collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { embeddings } from '../../../plugins/styles/embeddings/index.ts';
import { arriving, bodyOf, callOf, patchTo } from '../../kit/gateway/calls.ts';
import { chatError } from '../../kit/gateway/fixtures.ts';
import { recordedBytes, recordings, recordingsAvailable } from '../../kit/vendors/recordings.ts';

const REQUEST = { model: 'public-name', input: 'Hello?' };

const read = (more: JsonObject) => embeddings.ingress!.read(bodyOf({ ...REQUEST, ...more }), arriving());

/** What a request is refused for: the field, and the message. */
function refusal(run: () => unknown): readonly [param: string, message: string] {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    assert.equal(error.status, 400);
    return [error.param, error.message];
  }
  assert.fail('it is not refused');
}

const repeated = <T>(count: number, value: T): T[] => new Array<T>(count).fill(value);

describe('an embedding request', () => {
  it('has one text or several, or one list of tokens or several', () => {
    for (const input of ['x', ['x'], ['x', 'y "quoted\\"'], [0], [1, 2, 3], [[1], [2, 3]], ' ', ['[', '{', ',']]) {
      const { model, stream, asksUsage, bounds } = read({ input });
      assert.deepEqual([model, stream, asksUsage], ['public-name', false, false]);
      assert.deepEqual([bounds.outputTokens, bounds.choices, bounds.media], [0, 1, 0]);
    }
  });

  it('is refused with the name of an invalid field', () => {
    const refused: readonly (readonly [JsonObject, string])[] = [
      [{ model: '' }, 'model'],
      [{ model: 7 }, 'model'],
      [{ model: 'x'.repeat(257) }, 'model'],
      [{ input: null }, 'input'],
      [{ input: 7 }, 'input'],
      [{ input: true }, 'input'],
      [{ input: {} }, 'input'],
      [{ input: '' }, 'input'],
      [{ input: [] }, 'input'],
      [{ input: [''] }, 'input[0]'],
      [{ input: ['x', ''] }, 'input[1]'],
      [{ input: ['x', 'y', 'z', 7] }, 'input[3]'],
      [{ input: ['x', null] }, 'input[1]'],
      [{ input: ['x', ['y']] }, 'input[1]'],
      [{ input: [{ text: 'x' }] }, 'input[0]'],
      [{ input: [null] }, 'input[0]'],
      [{ input: [true] }, 'input[0]'],
      [{ input: [1, 2, 3, 'x'] }, 'input[3]'],
      [{ input: [1, [2]] }, 'input[1]'],
      [{ input: [-1] }, 'input[0]'],
      [{ input: [1, 2.5] }, 'input[1]'],
      [{ input: [[]] }, 'input[0]'],
      [{ input: [[1], []] }, 'input[1]'],
      [{ input: [[1], 'x'] }, 'input[1]'],
      [{ input: [[1], 2] }, 'input[1]'],
      [{ input: [[1], [2, -3]] }, 'input[1][1]'],
      [{ input: [[1, [2]]] }, 'input[0][1]'],
      [{ encoding_format: 'int8' }, 'encoding_format'],
      [{ encoding_format: 7 }, 'encoding_format'],
      [{ dimensions: 0 }, 'dimensions'],
      [{ dimensions: 1.5 }, 'dimensions'],
      [{ dimensions: '256' }, 'dimensions'],
      [{ user: 7 }, 'user'],
    ];
    for (const [more, param] of refused) {
      const [named, message] = refusal(() => read(more));
      assert.equal(named, param, JSON.stringify(more));
      assert.ok(message.startsWith(`\`${param}\` must `), message);
    }
    const { input: _, ...without } = REQUEST;
    assert.equal(refusal(() => embeddings.ingress!.read(bodyOf(without), arriving()))[0], 'input');
  });

  it('ignores null and unknown fields', () => {
    const { bounds } = read({
      encoding_format: null,
      dimensions: null,
      user: null,
      input_type: 'query',
      truncate: [1],
    });
    assert.equal(bounds.outputTokens, 0);
  });

  it('is read with whitespace everywhere', () => {
    const spaced = (input: string) => scanJson(Buffer.from(`{ "model" : "m" ,\n "input" : ${input} }`));
    for (const input of ['[ "x" , "y" ]', '[ 1 , 2 ]', '[ [ 1 ] ,\t[ 2 ] ]', '"x"']) {
      assert.equal(embeddings.ingress!.read(spaced(input), arriving()).model, 'm');
    }
    assert.equal(refusal(() => embeddings.ingress!.read(spaced('[ ]'), arriving()))[0], 'input');
    assert.equal(refusal(() => embeddings.ingress!.read(spaced('[ [ 1 ] , [ ] ]'), arriving()))[0], 'input[1]');
  });

  it('has at most 2,048 inputs', () => {
    for (const count of [2_047, 2_048]) {
      read({ input: repeated(count, 'x') });
      read({ input: repeated(count, [1, 2]) });
    }
    for (const input of [repeated(2_049, 'x'), repeated(2_049, [1])]) {
      const [param, message] = refusal(() => read({ input }));
      assert.equal(param, 'input');
      assert.match(message, /at most 2048 /);
    }
    // These are one.
    read({ input: repeated(8_191, 7) });
  });

  it('is bounded by its bytes if it has text, and by its token count if it has tokens', () => {
    const text = bodyOf({ ...REQUEST, input: 'Zürich '.repeat(1_000) });
    assert.equal(embeddings.ingress!.read(text, arriving()).bounds.inputBytes, text.textBytes);
    assert.ok(text.textBytes >= 8_000, 'every byte may be a token');
    assert.equal(read({ input: repeated(1_000, 100_256) }).bounds.inputBytes, 4_000);
    assert.equal(read({ input: [[1], [2, 3]] }).bounds.inputBytes, 12);
  });

  it('of sixteen megabytes is read without parsing it', () => {
    const texts = bodyOf({ ...REQUEST, input: repeated(2_048, `${'word '.repeat(1_600)}"\\`) });
    assert.ok(texts.bytes.length > 16_000_000, 'it is large');
    texts.get = (name) => {
      assert.notEqual(name, 'input');
      return scanJson(texts.bytes).get(name);
    };
    texts.tree = () => assert.fail('it is parsed');
    assert.equal(embeddings.ingress!.read(texts, arriving()).bounds.inputBytes, texts.textBytes);
    const sent = texts.patched(embeddings.relay.patch!(texts, patchTo({ model: 'vendor-name' })));
    assert.equal(sent.length, texts.bytes.length);
  });
});

const quirks = (embeddings: Partial<Quirks['embeddings']>): Quirks => layQuirks({ embeddings });

describe('an embedding request encoded for the vendor', () => {
  const patch = (more: JsonObject, quirk: Partial<Quirks['embeddings']> = {}) => {
    const body = bodyOf({ ...REQUEST, ...more });
    const sent = body.patched(embeddings.relay.patch!(body, patchTo({ model: 'vendor/name', quirks: quirks(quirk) })));
    return JSON.parse(sent.toString()) as JsonObject;
  };

  it("is the client's bytes except for the model", () => {
    const more = {
      encoding_format: 'base64',
      dimensions: 5_000,
      user: 'u',
      input_type: 'query',
      output_dimension: null,
    };
    assert.deepEqual(patch(more), { ...REQUEST, ...more, model: 'vendor/name' });
    const body = bodyOf({ ...REQUEST, ...more });
    assert.equal(body.patched(embeddings.relay.patch!(body, patchTo({ model: 'public-name' }))), body.bytes);
  });

  it('omits a size that the model does not support', () => {
    const [param, message] = refusal(() => patch({ dimensions: 256 }, { dimensions: false }));
    assert.equal(param, 'dimensions');
    assert.ok(message.includes('`dimensions`') && message.includes('vendor/name'), message);
    assert.deepEqual(patch({ dimensions: null }, { dimensions: false }).dimensions, null);
    for (const asked of [1_535, 1_536]) {
      assert.equal(patch({ dimensions: asked }, { dimensions: 1_536 }).dimensions, asked);
    }
    assert.match(refusal(() => patch({ dimensions: 1_537 }, { dimensions: 1_536 }))[1], /`dimensions` .*1536.*vendor/);
  });

  it('omits base64 if the vendor does not support it', () => {
    assert.equal('encoding_format' in patch({ encoding_format: 'base64' }, { base64: false }), false);
    assert.equal(patch({ encoding_format: 'float' }, { base64: false }).encoding_format, 'float');
  });

  it('has at most as many inputs as the vendor accepts', () => {
    for (const count of [99, 100]) patch({ input: repeated(count, 'x') }, { max_inputs: 100 });
    for (const input of [repeated(101, 'x'), repeated(101, [1])]) {
      const [param, message] = refusal(() => patch({ input }, { max_inputs: 100 }));
      assert.equal(param, 'input');
      assert.match(message, /at most 100 .*vendor\/name/);
    }
    patch({ input: repeated(101, 1) }, { max_inputs: 1 });
  });
});

const VECTORS: readonly (readonly number[])[] = [
  [0.5, -0.25, 1, 0],
  [-1.5e-7, 3, 0.125, -2],
].map((vector) => vector.map(Math.fround));

function base64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [i, value] of vector.entries()) bytes.writeFloatLE(value, i * 4);
  return bytes.toString('base64');
}

function list(vectors: readonly Json[], more: JsonObject = {}): JsonObject {
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  return { object: 'list', data, model: 'm', usage: { prompt_tokens: 8, total_tokens: 8 }, ...more };
}

const BASE64 = VECTORS.map(base64);
const TWO = { ...REQUEST, input: ['a', 'b'] };
const TWO_BASE64 = { ...TWO, encoding_format: 'base64' };

const answerOf = (value: Json): JsonBody => scanAnswer(Buffer.from(JSON.stringify(value)))!;
const facts = (value: Json, request: JsonObject = TWO) =>
  embeddings.relay.answer(answerOf(value), callOf(embeddings, request));
const usageOf = (input: number): Usage => ({ ...NO_TOKENS, input });

describe('an embedding reply', () => {
  it('has its usage, or its error', () => {
    assert.deepEqual(facts(list(VECTORS))?.usage, usageOf(8));
    assert.deepEqual(facts(list(BASE64), TWO_BASE64)?.usage, usageOf(8));
    assert.deepEqual(facts(list(VECTORS, { usage: { total_tokens: 5 } }))?.usage, usageOf(5));
    for (const usage of [null, {}, { prompt_tokens: 0, total_tokens: 0 }, 7]) {
      assert.equal(facts(list(VECTORS, { usage }))?.usage, undefined);
    }
    assert.equal(facts(list(VECTORS))?.error, undefined);
    assert.deepEqual(facts(chatError('It burns.', 'fire'))?.error, { message: 'It burns.', code: 'fire' });
  });

  it('is undefined without a vector for each input', () => {
    for (const none of [{}, { data: null }, { data: {} }, { data: 'x' }, { object: 'list' }, list([])]) {
      assert.equal(facts(none), undefined, JSON.stringify(none));
    }
    assert.equal(facts(list(VECTORS.slice(1))), undefined);
    assert.equal(facts(list([...VECTORS, VECTORS[0]!])), undefined);
    assert.equal(facts(list(VECTORS), { ...TWO, input: [1, 2] }), undefined);
    assert.ok(facts(list(VECTORS.slice(1)), { ...TWO, input: [1, 2] }), 'a list of tokens is one input');
    assert.ok(facts(list(VECTORS), { ...TWO, input: [[1], [2]] }), 'two lists are two');
  });

  it('is invalid if a vector has anything but finite numbers', () => {
    for (const vector of [null, [], [1, null], ['1'], [[1]], [true], {}, 7, '', 'not base64!', 'AAAA', '====']) {
      assert.equal(facts(list([VECTORS[0]!, vector as Json])), undefined, JSON.stringify(vector));
    }
    for (const number of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      assert.equal(facts(list([BASE64[0]!, base64([1, number])]), TWO_BASE64), undefined, String(number));
    }
    const text = JSON.stringify(list(VECTORS));
    for (const number of ['1e999', '-1E+39', '1e39']) {
      const body = scanAnswer(Buffer.from(text.replace('-0.25', number)))!;
      assert.equal(embeddings.relay.answer(body, callOf(embeddings, TWO)), undefined, number);
    }
    for (const number of ['1e3', '1E+3', '-2.5E-10']) {
      const body = scanAnswer(Buffer.from(text.replace('-0.25', number)))!;
      assert.ok(embeddings.relay.answer(body, callOf(embeddings, TWO)), number);
    }
  });

  it('is read with any other members and whitespace', async () => {
    const odd = { note: 'a "]" and a \\', deep: { list: [[1], '}'] }, none: null, yes: true };
    const value = list(VECTORS, odd);
    const data = (value.data as readonly JsonObject[]).map((entry) => ({ ...odd, ...entry, last: [] }));
    const body = scanAnswer(Buffer.from(JSON.stringify({ ...value, data }, null, 2)))!;
    assert.deepEqual(embeddings.relay.answer(body, callOf(embeddings, TWO))?.usage, usageOf(8));
    assert.equal(await embeddings.relay.finish?.(body, callOf(embeddings, TWO), finishing().to), undefined);
  });

  it('is not validated if other numbers than floats were requested', async () => {
    const call = { ...TWO_BASE64, output_dtype: 'int8' };
    const value = list(['AP+A', 'fwAB']);
    assert.deepEqual(facts(value, call)?.usage, usageOf(8));
    assert.equal(await embeddings.relay.finish?.(answerOf(value), callOf(embeddings, call), finishing().to), undefined);
    assert.equal(facts({ object: 'list' }, call), undefined);
    assert.equal(facts(value, { ...TWO_BASE64, output_dtype: 'float' }), undefined);
  });
});

function finishing(usage: Usage = usageOf(8)): { readonly to: Finishing; readonly warnings: CollectedWarnings } {
  const warnings = collectWarnings({});
  const fetch = () => Promise.reject(new Error('nothing is fetched'));
  return { to: { usage, model: 'vendor-name', warnings, fetch }, warnings };
}

describe('an embedding reply encoded for the client', () => {
  /** Undefined where the vendor's bytes pass. */
  const finish = async (
    value: Json,
    request: JsonObject,
    to: Finishing = finishing().to,
  ): Promise<JsonObject | undefined> => {
    const call: Call = callOf(embeddings, request);
    const body = answerOf(value);
    assert.ok(embeddings.relay.answer(body, call), 'it is an answer');
    const bytes = await embeddings.relay.finish?.(body, call, to);
    assert.ok(bytes === undefined || Buffer.isBuffer(bytes), 'it is bytes');
    return bytes && (JSON.parse(bytes.toString()) as JsonObject);
  };

  it('is unchanged if it has the requested format', async () => {
    assert.equal(await finish(list(VECTORS), TWO), undefined);
    assert.equal(await finish(list(VECTORS), { ...TWO, encoding_format: 'float' }), undefined);
    assert.equal(await finish(list(BASE64), TWO_BASE64), undefined);
  });

  it('has base64 instead of numbers, and numbers instead of base64, as requested', async () => {
    assert.deepEqual(await finish(list(VECTORS), TWO_BASE64), list(BASE64));
    assert.deepEqual(await finish(list(BASE64), TWO), list(VECTORS));
    assert.deepEqual(await finish(list([VECTORS[0]!, BASE64[1]!]), TWO), list(VECTORS));
    assert.deepEqual(await finish(list(BASE64.map((text) => text.replace(/=+$/, ''))), TWO), list(VECTORS));
  });

  it('reads base64 with escaped slashes', async () => {
    const vector = [-1.9999998807907104];
    const text = JSON.stringify(list([base64(vector)])).replaceAll('/', '\\/');
    assert.ok(text.includes('\\/'), 'there is one');
    const call = callOf(embeddings, REQUEST);
    const body = scanAnswer(Buffer.from(text))!;
    assert.ok(embeddings.relay.answer(body, call), 'it is an answer');
    const bytes = (await embeddings.relay.finish?.(body, call, finishing().to)) as Buffer;
    assert.deepEqual(JSON.parse(bytes.toString()), list([vector]));
  });

  it('keeps the order, the index of each vector, and all other members', async () => {
    const value = list(VECTORS);
    const [first, second] = value.data as readonly JsonObject[];
    const data = [
      { ...second!, note: 'ü "x"' },
      { ...first!, extra: [1, { a: null }] },
    ];
    const written = (await finish({ ...value, data, id: 'x' }, TWO_BASE64))!;
    assert.deepEqual(written, {
      ...value,
      data: [
        { ...data[0], embedding: BASE64[1] },
        { ...data[1], embedding: BASE64[0] },
      ],
      id: 'x',
    });
  });

  it('gets what its vendor omits', async () => {
    const data = VECTORS.map((embedding) => ({ embedding }));
    assert.deepEqual(await finish({ data }, TWO), list(VECTORS, { model: 'vendor-name' }));
    const nulls = VECTORS.map((embedding) => ({ index: null, object: null, embedding }));
    assert.deepEqual(await finish({ ...list([]), data: nulls }, TWO), list(VECTORS));
    assert.deepEqual(await finish({ ...list([]), data: nulls }, TWO_BASE64), list(BASE64));
  });

  it('has usage whether or not its vendor reports it', async () => {
    const counted = finishing({ ...usageOf(3), estimated: true }).to;
    for (const usage of [null, {}, { prompt_tokens: 0, total_tokens: 0 }]) {
      assert.deepEqual((await finish(list(VECTORS, { usage }), TWO, counted))?.usage, {
        prompt_tokens: 3,
        total_tokens: 3,
      });
    }
    const told = (await finish(list(VECTORS, { usage: { total_tokens: 8, image_pixels: 0 } }), TWO))!;
    assert.deepEqual(told, list(VECTORS, { usage: { total_tokens: 8, image_pixels: 0, prompt_tokens: 8 } }));
  });

  it('reports a size other than the requested one', async () => {
    for (const [dimensions, names] of [
      [4, []],
      [3, ['dimensions:changed']],
      [5, ['dimensions:changed']],
    ] as const) {
      for (const [vectors, request] of [
        [VECTORS, TWO],
        [BASE64, TWO_BASE64],
      ] as const) {
        const { to, warnings } = finishing();
        assert.equal(await finish(list(vectors), { ...request, dimensions }, to), undefined);
        assert.deepEqual(warnings.all, names);
      }
    }
  });
});

if (recordingsAvailable) {
  describe('recorded embeddings', () => {
    for (const recording of recordings(['embeddings'])) {
      it(`${recording.host} ${recording.id}`, async () => {
        const call = callOf(embeddings, recording.request);
        const body = scanAnswer(recordedBytes(recording))!;
        const facts = embeddings.relay.answer(body, call);
        if (recording.status !== 200) {
          assert.equal(facts, undefined);
          return;
        }
        const { usage, data } = recording.response as {
          readonly usage: { readonly total_tokens: number };
          readonly data: readonly { readonly embedding: string }[];
        };
        assert.equal(facts?.usage?.input ?? 0, usage.total_tokens);
        const { to, warnings } = finishing(facts?.usage);
        const finished = await embeddings.relay.finish?.(body, call, to);
        if (recording.host === 'api.openai.com') assert.equal(finished, undefined);
        assert.deepEqual(warnings.all, []);
        // Asked for numbers, the same vectors come as numbers.
        const asNumbers = callOf(embeddings, { ...recording.request, encoding_format: 'float' });
        const written = JSON.parse(
          String(await embeddings.relay.finish?.(body, asNumbers, to)),
        ) as typeof recording.response;
        const vectors = (written as { readonly data: readonly { readonly embedding: readonly number[] }[] }).data;
        for (const [i, { embedding }] of vectors.entries()) assert.equal(base64(embedding), data[i]!.embedding);
      });
    }
  });
}
