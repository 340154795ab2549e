/** The official client of the chat style, unchanged: everything it can do with a gateway, against the demo model and a vendor. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import OpenAI, { type ClientOptions } from 'openai';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionContentPart,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionFunctionTool,
} from 'openai/resources/chat/completions';
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import { CHAT_DELTAS, CHAT_USAGE, chatBody, chatEvent, chatEvents, DONE } from '../../kit/gateway/fixtures.ts';
import { defaultConfig, startGateway, type TestGateway, type TestGatewayOptions } from '../../kit/gateway/gateway.ts';
import { heldByCalls, untilHeld } from '../../kit/gateway/money.ts';
import { type UsageRow, usageRecords } from '../../kit/gateway/usage-records.ts';
import { until } from '../../kit/until.ts';
import { type FakeVendor, fakeVendor, type VendorRequest } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, eventStream, hold, jsonAnswer, type Script, silence } from '../../kit/vendors/script.ts';

/** A gateway with one vendor, and the client that talks to it. */
interface Stand {
  readonly gateway: TestGateway;
  readonly vendor: FakeVendor;
  readonly client: OpenAI;
  /** A client of its own; `asked` counts the requests it has made, retries among them. */
  other(options?: ClientOptions): { readonly client: OpenAI; readonly asked: () => number };
  /** The record of a call, by the request id the client was told. */
  recordOf(requestId: string | null | undefined): UsageRow;
  /** The record of the one call since `known`, once it is there: what a client that has left is told by nobody else. */
  recordAfter(known: number): Promise<UsageRow>;
  readonly known: number;
  stop(): Promise<void>;
}

async function stand(options: TestGatewayOptions = {}): Promise<Stand> {
  const vendor = await fakeVendor(sensible);
  const { models, ...rest } = defaultConfig([vendor]) as { readonly models: JsonObject };
  const demo = { from: ['demo'], price: { input: 1, output: 2 } };
  const config = { ...rest, models: { ...models, demo, unpriced: { from: ['main'] } }, ...options.config };
  const gateway = await startGateway({ vendor, ...options, config }).catch(async (error: unknown) => {
    await vendor.close();
    throw error;
  });
  const other: Stand['other'] = (more = {}) => {
    let count = 0;
    const counted: typeof fetch = (...request) => {
      count++;
      return fetch(...request);
    };
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, fetch: counted, ...more });
    return { client, asked: () => count };
  };
  return {
    gateway,
    vendor,
    client: other({ maxRetries: 0 }).client,
    other,
    get known() {
      return usageRecords(gateway.storeFile).length;
    },
    recordOf(requestId) {
      const record = usageRecords(gateway.storeFile).find(({ id }) => id === requestId);
      assert.ok(record !== undefined, `there is no record of ${requestId}`);
      return record;
    },
    async recordAfter(known) {
      const [record, ...more] = await until('there is a new usage record', () => {
        const records = usageRecords(gateway.storeFile).slice(known);
        return records.length > 0 && records;
      });
      assert.equal(more.length, 0);
      return record!;
    },
    async stop() {
      await gateway.stop();
      await vendor.close();
    },
  };
}

/** 1 and 2 currency units per million tokens, in micro-quota: what both models cost here. */
function cost(usage: { readonly prompt_tokens: number; readonly completion_tokens: number }): bigint {
  return BigInt(usage.prompt_tokens) * 500_000n + BigInt(usage.completion_tokens) * 1_000_000n;
}

/** `12.5` quota in micro-quota. */
function micro(quota: string | null): bigint {
  const [whole = '', fraction = ''] = (quota ?? '').split('.');
  return BigInt(whole + fraction.padEnd(6, '0'));
}

const STRUCTURED = '{"city":"Oslo","days":1}';

/** A vendor that does what the request wants: calls the tools it is offered, speaks JSON, answers as often as asked. */
function sensible(request: VendorRequest): Script {
  if (request.path !== '/v1/chat/completions') return errorAnswer(404);
  const { model, messages, tools, n, response_format: format, stream, stream_options: options } = request.json;
  const role = (messages as readonly JsonObject[]).at(-1)?.role;
  const calls = role === 'user' ? ((tools ?? []) as readonly { readonly function: { readonly name: string } }[]) : [];
  const answer = {
    model: String(model),
    ...(format !== undefined && { deltas: [STRUCTURED.slice(0, 9), STRUCTURED.slice(9)] }),
    ...(calls.length > 0 && {
      toolCalls: calls.map(({ function: { name } }, i) => ({ id: `call_${i}`, name, arguments: '{"city":"Oslo"}' })),
    }),
  };
  const choices = typeof n === 'number' ? n : 1;
  if (stream !== true) {
    const body = chatBody(answer) as { readonly choices: readonly JsonObject[] };
    return jsonAnswer(200, { ...body, choices: repeated(body.choices, choices) } as JsonObject);
  }
  const asked = (options as JsonObject | undefined)?.include_usage === true;
  const events = chatEvents(asked ? answer : { ...answer, usage: null });
  return eventStream(
    events.flatMap((event) => {
      if (event === DONE) return [event];
      const chunk = JSON.parse(event.slice('data: '.length)) as { readonly choices: readonly JsonObject[] };
      if (chunk.choices.length === 0) return [event];
      return repeated(chunk.choices, choices).map((choice) => chatEvent({ ...chunk, choices: [choice] } as Json));
    }),
  );
}

function repeated([choice]: readonly JsonObject[], count: number): readonly JsonObject[] {
  return Array.from({ length: count }, (_, index) => ({ ...choice, index }));
}

const HELLO = [{ role: 'user' as const, content: 'Hello?' }];
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg';
const PICTURE: readonly ChatCompletionContentPart[] = [
  { type: 'text', text: 'What is this?' },
  { type: 'image_url', image_url: { url: PIXEL, detail: 'low' } },
];
const TOOLS: readonly ChatCompletionFunctionTool[] = ['get_weather', 'get_time'].map((name) => ({
  type: 'function',
  function: {
    name,
    parameters: { type: 'object', properties: { city: { type: 'string', enum: ['Oslo'] } }, required: ['city'] },
  },
}));
const TOOL_QUESTION = [{ role: 'user' as const, content: 'Use get_weather and get_time.' }];
const FORMAT = {
  type: 'json_schema' as const,
  json_schema: {
    name: 'trip',
    strict: true,
    schema: {
      type: 'object',
      properties: { city: { enum: ['Oslo'] }, days: { type: 'integer' } },
      required: ['city', 'days'],
      additionalProperties: false,
    },
  },
};

const UPSTREAMS = [
  { who: 'the demo model', model: 'demo', channel: 'demo' },
  { who: 'a vendor', model: 'test-model', channel: 'main' },
] as const;

for (const { who, model, channel } of UPSTREAMS) {
  describe(`the official client, answered by ${who}`, () => {
    let bench: Stand;
    before(async () => {
      bench = await stand();
    });
    after(() => bench.stop());
    afterEach(async () => assert.deepEqual(await heldByCalls(bench.gateway), {}));

    const ask = async (more: Partial<ChatCompletionCreateParamsNonStreaming> = {}) => {
      const { data, response, request_id } = await bench.client.chat.completions
        .create({ model, messages: HELLO, ...more })
        .withResponse();
      return { data, response, record: bench.recordOf(request_id) };
    };
    /** The same as a stream: every chunk, and what the stream helper makes of another one. */
    const stream = async (more: Partial<ChatCompletionCreateParamsNonStreaming> = {}) => {
      const request = { model, messages: HELLO, ...more, stream: true as const };
      const { data, response, request_id } = await bench.client.chat.completions.create(request).withResponse();
      const chunks: ChatCompletionChunk[] = [];
      for await (const chunk of data) chunks.push(chunk);
      const helped = await bench.client.chat.completions.stream(request).finalChatCompletion();
      return { chunks, helped, response, record: bench.recordOf(request_id) };
    };
    const textOf = (chunks: readonly ChatCompletionChunk[], index = 0): string =>
      chunks.map(({ choices }) => choices.find((choice) => choice.index === index)?.delta.content ?? '').join('');

    it('gets a whole answer, and is told in headers what it cost and who served it', async () => {
      const { data, response, record } = await ask();
      assert.ok(data.choices[0]?.message.content);
      assert.equal(data.choices[0].finish_reason, 'stop');
      assert.equal((data as { _request_id?: string })._request_id, record.id);
      assert.equal(response.headers.get('x-request-id'), record.id);
      assert.equal(response.headers.get('x-turnpike-channel'), channel);
      assert.equal(micro(response.headers.get('x-turnpike-cost')), record.charged);
      assert.equal(record.charged, cost(data.usage!));
      assert.ok(record.charged > 0n);
      assert.deepEqual(
        [record.input, record.output, record.estimated, record.outcome],
        [data.usage!.prompt_tokens, data.usage!.completion_tokens, false, 'served'],
      );
    });

    it('gets the same answer as a stream, chunk by chunk and through its helper', async () => {
      const { data } = await ask();
      const { chunks, helped, response } = await stream();
      assert.ok(chunks.length > 3);
      assert.equal(textOf(chunks), data.choices[0]?.message.content);
      assert.equal(helped.choices[0]?.message.content, data.choices[0]?.message.content);
      assert.equal(helped.choices[0]?.finish_reason, 'stop');
      assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);
      assert.equal(response.headers.get('x-turnpike-channel'), channel);
    });

    it('sees the usage of a stream where it asks for it, in a chunk without choices', async () => {
      const { data } = await ask();
      const { chunks, helped, record } = await stream({ stream_options: { include_usage: true } } as object);
      const [last, ...others] = chunks.toReversed();
      assert.deepEqual(last?.choices, []);
      assert.deepEqual(last?.usage, data.usage);
      assert.deepEqual(
        others.filter(({ choices, usage }) => choices.length === 0 || (usage ?? null) !== null),
        [],
      );
      assert.deepEqual(helped.usage, data.usage);
      assert.equal(record.charged, cost(data.usage!));
    });

    it('does not see it where it does not ask, and is charged by it all the same', async () => {
      const { data } = await ask();
      const { chunks, helped, record } = await stream();
      assert.deepEqual(
        chunks.filter(({ choices, usage }) => choices.length === 0 || (usage ?? null) !== null),
        [],
      );
      assert.equal(helped.usage ?? undefined, undefined);
      assert.deepEqual([record.input, record.output], [data.usage!.prompt_tokens, data.usage!.completion_tokens]);
      assert.equal(record.estimated, false);
      assert.equal(record.charged, cost(data.usage!));
    });

    it('gets tool calls beside each other, whole and streamed', async () => {
      const asked = { messages: TOOL_QUESTION, tools: [...TOOLS] };
      const { data } = await ask(asked);
      const { helped } = await stream(asked);
      for (const { choices } of [data, helped as ChatCompletion]) {
        assert.equal(choices[0]?.finish_reason, 'tool_calls');
        const calls = choices[0].message.tool_calls ?? [];
        assert.equal(new Set(calls.map(({ id }) => id)).size, 2);
        assert.deepEqual(
          calls.map((call) => call.type === 'function' && [call.function.name, JSON.parse(call.function.arguments)]),
          [
            ['get_weather', { city: 'Oslo' }],
            ['get_time', { city: 'Oslo' }],
          ],
        );
      }
    });

    it('runs its tools in turns until there is an answer', async () => {
      const heard: unknown[] = [];
      const runner = bench.client.chat.completions.runTools({
        model,
        messages: [{ role: 'user', content: 'Use get_weather.' }],
        tools: [
          {
            type: 'function',
            function: {
              name: 'get_weather',
              description: 'Tells the weather.',
              parameters: TOOLS[0]!.function.parameters as object,
              parse: JSON.parse,
              function: (given: unknown) => {
                heard.push(given);
                return 'It rains.';
              },
            },
          },
        ],
      });
      assert.ok(await runner.finalContent());
      assert.deepEqual(heard, [{ city: 'Oslo' }]);
      assert.deepEqual(
        runner.messages.map(({ role }) => role),
        ['user', 'assistant', 'tool', 'assistant'],
      );
    });

    it('gets JSON that fits a schema, whole and streamed', async () => {
      const parsed = await bench.client.chat.completions.parse({ model, messages: HELLO, response_format: FORMAT });
      const { chunks } = await stream({ response_format: FORMAT });
      assert.deepEqual(JSON.parse(parsed.choices[0]?.message.content ?? ''), { city: 'Oslo', days: 1 });
      assert.deepEqual(JSON.parse(textOf(chunks)), { city: 'Oslo', days: 1 });
    });

    it('sends a picture', async () => {
      const { data, record } = await ask({ messages: [{ role: 'user', content: [...PICTURE] }] });
      assert.ok(data.choices[0]?.message.content);
      assert.equal(record.outcome, 'served');
      if (channel === 'demo') return;
      assert.deepEqual((bench.vendor.requests.at(-1)!.json.messages as readonly Json[])[0], {
        role: 'user',
        content: PICTURE,
      });
    });

    it('gets several answers to one question, whole and streamed', async () => {
      const { data } = await ask({ n: 3 });
      const { chunks, helped } = await stream({ n: 3 });
      assert.deepEqual(
        data.choices.map(({ index }) => index),
        [0, 1, 2],
      );
      for (const [index, { message }] of data.choices.entries()) {
        assert.equal(textOf(chunks, index), message.content);
        assert.equal(helped.choices[index]?.message.content, message.content);
      }
    });

    it('gets every answer of fifty mixed calls at once, each in the books as it was', async () => {
      const kinds = [
        async () => (await ask()).record,
        async () => (await stream()).record,
        async () => (await stream({ stream_options: { include_usage: true } } as object)).record,
        async () => (await ask({ messages: TOOL_QUESTION, tools: [...TOOLS] })).record,
        async () => (await ask({ n: 2, response_format: FORMAT })).record,
      ];
      const records = await Promise.all(Array.from({ length: 50 }, (_, i) => kinds[i % kinds.length]!()));
      assert.equal(new Set(records.map(({ id }) => id)).size, 50);
      for (const { outcome, input, output, charged } of records) {
        assert.equal(outcome, 'served');
        assert.equal(charged, cost({ prompt_tokens: input ?? 0, completion_tokens: output ?? 0 }));
      }
    });
  });
}

describe('the official client', () => {
  let bench: Stand;
  before(async () => {
    bench = await stand();
  });
  after(() => bench.stop());

  it('lists the models and retrieves one', async () => {
    const listed: string[] = [];
    for await (const { id, object } of bench.client.models.list()) {
      assert.equal(object, 'model');
      listed.push(id);
    }
    assert.deepEqual(listed, ['test-model', 'free-model', 'demo']);
    const model = await bench.client.models.retrieve('demo');
    assert.deepEqual([model.id, model.object, model.owned_by], ['demo', 'model', 'demo']);
    assert.ok(Math.abs(model.created - Date.now() / 1_000) < 3_600);
    await assert.rejects(bench.client.models.retrieve('nothing'), OpenAI.NotFoundError);
  });

  it('sends the vendor what it does not know itself, unchanged', async () => {
    const unusual = { seed: 7, logit_bias: { '50256': -100 }, made_up: { deep: [1.5, null] } };
    await bench.client.chat.completions.create({ model: 'test-model', messages: HELLO, ...unusual });
    assert.deepEqual(bench.vendor.requests.at(-1)!.json, { model: 'test-model', messages: HELLO, ...unusual });
  });

  it('says nothing of itself to the vendor', async () => {
    await bench.client.chat.completions.create({ model: 'test-model', messages: HELLO });
    const names = Object.keys(bench.vendor.requests.at(-1)!.headers);
    assert.deepEqual(
      names.filter((name) => name.startsWith('x-')),
      [],
    );
    assert.equal(bench.vendor.requests.at(-1)!.headers['user-agent'], 'turnpike');
  });
});

/** The vendor has read the request, and nobody waited for more. */
function paysItsInput(record: UsageRow): void {
  assert.deepEqual([record.outcome, record.output, record.estimated], ['aborted', 0, true]);
  assert.equal(record.charged, cost({ prompt_tokens: record.input ?? 0, completion_tokens: 0 }));
}

describe('the official client that leaves', () => {
  const EVENTS = chatEvents();
  let bench: Stand;
  before(async () => {
    bench = await stand();
  });
  after(() => bench.stop());
  afterEach(async () => assert.deepEqual(await heldByCalls(bench.gateway), {}));

  const aborted = () => bench.vendor.waitFor(() => bench.vendor.requests.at(-1)?.state === 'aborted');

  it('in the middle of a stream pays for what it got, and the vendor is let go', async () => {
    const { known } = bench;
    bench.vendor.next(eventStream([...EVENTS.slice(0, 3), hold('never')]));
    const stream = await bench.client.chat.completions.create({ model: 'test-model', messages: HELLO, stream: true });
    let text = '';
    for await (const { choices } of stream) {
      text += choices[0]?.delta.content ?? '';
      if (text === CHAT_DELTAS.slice(0, 2).join('')) break;
    }
    await aborted();
    const record = await bench.recordAfter(known);
    assert.equal(record.outcome, 'aborted');
    assert.equal(record.estimated, true);
    assert.equal(record.output, Math.ceil(text.length / 4));
    assert.equal(record.charged, cost({ prompt_tokens: record.input ?? 0, completion_tokens: record.output ?? 0 }));
  });

  it('through its helper is let go as well', async () => {
    const { known } = bench;
    bench.vendor.next(eventStream([...EVENTS.slice(0, 3), hold('never')]));
    const stream = bench.client.chat.completions.stream({ model: 'test-model', messages: HELLO });
    stream.on('content', () => stream.abort());
    await assert.rejects(stream.done(), OpenAI.APIUserAbortError);
    await aborted();
    assert.equal((await bench.recordAfter(known)).outcome, 'aborted');
  });

  it('before the first byte of a stream pays its input, and the vendor is let go', async () => {
    const { known } = bench;
    bench.vendor.next([hold('never')]);
    const leaving = new AbortController();
    const answer = bench.client.chat.completions.create(
      { model: 'test-model', messages: HELLO, stream: true },
      { signal: leaving.signal },
    );
    await bench.vendor.waitFor(() => bench.vendor.requests.at(-1)?.holding === 'never');
    await untilHeld(bench.gateway);
    leaving.abort();
    await assert.rejects(answer, OpenAI.APIUserAbortError);
    await aborted();
    const record = await bench.recordAfter(known);
    paysItsInput(record);
  });

  it('because a stream does not begin in time pays its input, and the vendor is let go', async () => {
    const { known } = bench;
    bench.vendor.next([silence()]);
    const { client, asked } = bench.other({ maxRetries: 0, timeout: 1_000 });
    await assert.rejects(
      client.chat.completions.create({ model: 'test-model', messages: HELLO, stream: true }),
      OpenAI.APIConnectionTimeoutError,
    );
    assert.equal(asked(), 1);
    await aborted();
    const record = await bench.recordAfter(known);
    paysItsInput(record);
  });

  it('because a whole answer does not come in time pays for it when it comes', async () => {
    const { known } = bench;
    bench.vendor.next([hold('late'), ...jsonAnswer(200, chatBody())]);
    const { client } = bench.other({ maxRetries: 0, timeout: 1_000 });
    await assert.rejects(
      client.chat.completions.create({ model: 'test-model', messages: HELLO }),
      OpenAI.APIConnectionTimeoutError,
    );
    await untilHeld(bench.gateway);
    bench.vendor.release('late');
    const record = await bench.recordAfter(known);
    assert.equal(record.outcome, 'aborted');
    assert.equal(record.charged, cost({ prompt_tokens: CHAT_USAGE.prompt, completion_tokens: CHAT_USAGE.completion }));
  });

  it('because a whole answer does not come in time pays its input where the gateway cancels such calls', async () => {
    const cancelling = await stand({
      config: { listen: { host: '127.0.0.1', port: 0, onDisconnect: { whole: 'cancel' } } },
    });
    try {
      cancelling.vendor.next([silence()]);
      const { client } = cancelling.other({ maxRetries: 0, timeout: 1_000 });
      await assert.rejects(
        client.chat.completions.create({ model: 'test-model', messages: HELLO }),
        OpenAI.APIConnectionTimeoutError,
      );
      await cancelling.vendor.waitFor(() => cancelling.vendor.requests.at(-1)?.state === 'aborted');
      const record = await cancelling.recordAfter(0);
      paysItsInput(record);
      assert.deepEqual(await heldByCalls(cancelling.gateway), {});
    } finally {
      await cancelling.stop();
    }
  });
});

/** What is refused, and how the error names it. */
interface Refusal {
  readonly code: string;
  readonly param?: string;
  /** Who asks; without it, whoever may. */
  readonly key?: (gateway: TestGateway) => Promise<string> | string;
  readonly request?: Partial<ChatCompletionCreateParamsNonStreaming>;
}

/** The class and the type of an error, by its status. */
const KINDS = {
  400: [OpenAI.BadRequestError, 'invalid_request_error'],
  401: [OpenAI.AuthenticationError, 'authentication_error'],
  402: [OpenAI.APIError, 'gateway_api_error'],
  403: [OpenAI.PermissionDeniedError, 'permission_error'],
  404: [OpenAI.NotFoundError, 'invalid_request_error'],
} as const;

/** The refusals of the gateway itself; those of vendors are in test/clients/failures.long.test.ts. */
const REFUSALS: readonly (readonly [name: string, status: keyof typeof KINDS, refusal: Refusal])[] = [
  ['a key that does not exist', 401, { code: 'invalid_api_key', key: () => 'sk-nobody' }],
  ['an account without money', 403, { code: 'QUOTA_USER_INSUFFICIENT', key: (gateway) => gateway.customer(0) }],
  [
    'a key that has used up its allowance',
    403,
    { code: 'QUOTA_TOKEN_INSUFFICIENT', key: (gateway) => gateway.customer(1_000_000, 0) },
  ],
  [
    'a key that is for another model',
    403,
    {
      code: 'model_not_allowed',
      param: 'model',
      key: (gateway) => gateway.command('key create --name scoped --models demo'),
    },
  ],
  [
    'a key that is for another address',
    403,
    { code: 'ip_not_allowed', key: (gateway) => gateway.command('key create --name elsewhere --ips 192.0.2.0/24') },
  ],
  [
    'a model that does not exist',
    404,
    { code: 'model_not_found', param: 'model', request: { model: 'no-such-model' } },
  ],
  ['a model without a price', 402, { code: 'model_not_priced', param: 'model', request: { model: 'unpriced' } }],
  [
    'a field that is out of its range',
    400,
    { code: 'invalid_request_error', param: 'temperature', request: { temperature: 3 } },
  ],
  ['no messages at all', 400, { code: 'invalid_request_error', param: 'messages', request: { messages: [] } }],
];

describe('the official client that the gateway refuses', () => {
  let bench: Stand;
  before(async () => {
    bench = await stand();
  });
  after(() => bench.stop());

  for (const [name, status, { code, param = '', key, request }] of REFUSALS) {
    const [thrown, type] = KINDS[status];
    it(`for ${name} throws ${thrown.name} with all the facts, and is charged nothing`, async () => {
      const apiKey = (await key?.(bench.gateway)) ?? bench.gateway.key;
      const { client, asked } = bench.other({ apiKey });
      const error = await client.chat.completions.create({ model: 'test-model', messages: HELLO, ...request }).then(
        () => assert.fail('it was served'),
        (reason: unknown) => reason as InstanceType<typeof OpenAI.APIError>,
      );
      assert.equal(error.constructor, thrown);
      assert.deepEqual([error.status, error.code, error.type, error.param ?? ''], [status, code, type, param]);
      assert.match(error.message, /\w+ \w+/);
      if (status === 403) assert.equal(error.headers?.get('x-should-retry'), 'false');
      assert.match(error.requestID ?? '', /^\w{26}$/);
      assert.equal(error.requestID, error.headers?.get('x-request-id'));
      assert.equal(asked(), 1, 'it asked again although that cannot help');
      assert.equal(bench.vendor.requests.length, 0);
      // Whoever is not known has no records.
      if (status !== 401) {
        // What is refused alike within a minute has one record.
        const alike = usageRecords(bench.gateway.storeFile).filter((record) => record.status === status);
        assert.ok(alike.length > 0);
        for (const { charged } of alike) assert.equal(charged, 0n);
      }
      assert.deepEqual(await heldByCalls(bench.gateway), {});
    });
  }

  it('because its base address lacks the /v1 is told the right path', async () => {
    const { client } = bench.other({ baseURL: bench.gateway.url });
    await assert.rejects(
      client.chat.completions.create({ model: 'demo', messages: HELLO }),
      (error) => error instanceof OpenAI.NotFoundError && error.message.includes('/v1/chat/completions'),
    );
  });

  it('because it asks too often is told when to come back', async () => {
    const limited = await stand({ config: { limits: { requestsPerMinute: 1 } } });
    try {
      await limited.client.chat.completions.create({ model: 'demo', messages: HELLO });
      const error = await limited.client.chat.completions.create({ model: 'demo', messages: HELLO }).then(
        () => assert.fail('it was served'),
        (reason: unknown) => reason as InstanceType<typeof OpenAI.APIError>,
      );
      assert.equal(error.constructor, OpenAI.RateLimitError);
      assert.equal(error.code, 'rate_limit_exceeded');
      const seconds = error.headers?.get('retry-after') ?? '';
      assert.match(seconds, /^([1-9]|[1-5]\d|60)$/);
      const ms = Number(error.headers?.get('retry-after-ms'));
      assert.ok(ms > 0 && ms <= Number(seconds) * 1_000, `${ms} ms`);
    } finally {
      await limited.stop();
    }
  });
});
