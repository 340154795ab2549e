/** What clients are told when a vendor refuses or fails, in the words and with the statuses that their own logic looks for. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { JsonObject } from '../../core/contracts/formats/json.ts';
import type { SpeechName } from '../kit/speech.ts';
import { SCENARIOS, SPEECHES } from '../kit/vendors/scenarios.ts';
import { eventStream, jsonAnswer, type Script, sized } from '../kit/vendors/script.ts';
import { openStand, type Stand } from './stand.ts';

type Client = 'chat' | 'responses' | 'messages';
const CLIENTS: readonly Client[] = ['chat', 'responses', 'messages'];
const WIRES: readonly SpeechName[] = ['chat', 'responses', 'messages', 'gemini'];

const PATHS = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' } as const;

/** A call as a client of this style makes it. */
function bodyFor(client: Client, model: string, stream: boolean): JsonObject {
  if (client === 'responses') return { model, input: 'Hello', stream };
  return { model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 100, stream };
}

interface Refusal {
  readonly message: string;
  readonly type: string;
  readonly param: string;
  readonly code: string;
}

interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: JsonObject & { readonly error: Refusal };
}

async function call(stand: Stand, client: Client, model: string, stream = false): Promise<Told> {
  const answer = await fetch(`${stand.root}${PATHS[client]}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${stand.key}`,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify(bodyFor(client, model, stream)),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    get body() {
      return JSON.parse(text);
    },
  };
}

/**
 * The form that all refusals have: four members that are text, and our request id for clients of messages. In those of a vendor of the client's
 * own style, `param` and `code` are the vendor's.
 */
function checkForm({ body, headers }: Told, client: Client, isOwnStyle = false): Refusal {
  const { error } = body;
  for (const member of ['message', 'type', ...(isOwnStyle ? [] : (['param', 'code'] as const))] as const) {
    assert.equal(typeof error[member], 'string', `${member} is text`);
  }
  if (client === 'messages') {
    assert.equal(body.type, 'error');
    assert.equal(body.request_id, headers.get('x-request-id'));
  }
  return error;
}

/** What the vendors of each shape answer to a prompt that is too long. */
const TOO_LONG: Readonly<Record<SpeechName, JsonObject>> = {
  chat: {
    error: {
      message: 'Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)',
      type: 'invalid_request_error',
    },
  },
  responses: {
    error: {
      message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
      type: 'invalid_request_error',
      param: 'input',
      code: 'context_length_exceeded',
    },
  },
  messages: {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'prompt is too long: 215317 tokens > 200000 maximum' },
    request_id: 'req_vendor',
  },
  gemini: {
    error: {
      code: 400,
      message: 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).',
      status: 'INVALID_ARGUMENT',
    },
  },
};
const IN_MESSAGES: Readonly<Record<SpeechName, string>> = {
  chat: 'prompt is too long: 291351 tokens > 262144 maximum',
  responses:
    'prompt is too long: Your input exceeds the context window of this model. Please adjust your input and try again.',
  messages: 'prompt is too long: 215317 tokens > 200000 maximum',
  gemini: 'prompt is too long: 1196265 tokens > 1048576 maximum',
};

/** The same as the first event of a stream that began well. */
function inStream(wire: SpeechName, body: JsonObject): Script {
  const error = body.error as JsonObject;
  const event = (type: string, data: JsonObject): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
  switch (wire) {
    case 'chat':
    case 'gemini':
      return eventStream([`data: ${JSON.stringify(body)}\n\n`]);
    case 'messages':
      return eventStream([event('error', body)]);
    case 'responses': {
      const response = { id: 'resp_1', object: 'response', model: 'm', output: [], error: null };
      return eventStream([
        event('response.created', { response: { ...response, status: 'in_progress' } }),
        event('response.failed', { response: { ...response, status: 'failed', error } }),
      ]);
    }
  }
}

let stand: Stand;
before(async () => {
  stand = await openStand(60);
});
after(() => stand.stop());

describe('a prompt that is too long', () => {
  for (const wire of WIRES) {
    for (const client of CLIENTS) {
      for (const [how, stream, script] of [
        ['whole', false, jsonAnswer(400, TOO_LONG[wire])],
        ['streamed', true, jsonAnswer(400, TOO_LONG[wire])],
        ['in a stream that has begun', true, inStream(wire, TOO_LONG[wire])],
        ['in an answer that calls itself a success', false, jsonAnswer(200, TOO_LONG[wire])],
      ] as const) {
        it(`is told to clients of ${client} in their terms, whatever a vendor of ${wire} says: ${how}`, async () => {
          stand.vendor.next(script);
          const told = await call(stand, client, `${wire}-0`, stream);
          assert.equal(told.status, 400, told.text);
          const error = checkForm(told, client);
          assert.equal(error.code, 'context_length_exceeded');
          assert.equal(error.type, 'invalid_request_error');
          const words = (TOO_LONG[wire].error as JsonObject).message;
          assert.equal(error.message, client === 'messages' ? IN_MESSAGES[wire] : words);
        });
      }
    }
  }

  it('is an error of the SDKs that names it', async () => {
    const openai = new OpenAI({ baseURL: stand.v1, apiKey: stand.key, maxRetries: 0 });
    const anthropic = new Anthropic({ baseURL: stand.root, apiKey: stand.key, maxRetries: 0 });
    const model = 'gemini-0';
    const input = [{ role: 'user' as const, content: 'Hello' }];
    stand.vendor.next(...Array<Script>(3).fill(jsonAnswer(400, TOO_LONG.gemini)));
    const named = (error: unknown): boolean =>
      error instanceof OpenAI.BadRequestError && error.code === 'context_length_exceeded';
    await assert.rejects(openai.chat.completions.create({ model, messages: input }), named);
    await assert.rejects(openai.responses.create({ model, input: 'Hello', stream: true }), named);
    await assert.rejects(anthropic.messages.create({ model, max_tokens: 9, messages: input }), (error: unknown) => {
      assert.ok(error instanceof Anthropic.BadRequestError);
      return error.message.includes(IN_MESSAGES.gemini);
    });
  });

  it('in the middle of a stream ends it with the code that clients of responses look for', async () => {
    const [first = ''] = SPEECHES.chat.events(SCENARIOS.text, {});
    const begun = SPEECHES.chat.events(SCENARIOS.text, {}).slice(0, 3);
    assert.ok(first.startsWith('data: '));
    stand.vendor.next(eventStream([...begun, `data: ${JSON.stringify(TOO_LONG.chat)}\n\n`]));
    const { text } = await call(stand, 'responses', 'chat-0', true);
    const last = JSON.parse(text.trimEnd().split('\n').at(-1)!.slice('data: '.length));
    assert.equal(last.type, 'response.failed');
    assert.equal(last.response.error.code, 'context_length_exceeded');
  });
});

describe('a vendor that has too much to do', () => {
  const WORDS = 'Overloaded, come back.';
  const answers = (wire: SpeechName, status: number): Script =>
    jsonAnswer(status, SPEECHES[wire].error(status, WORDS), { 'retry-after': '7' });

  for (const status of [503, 529]) {
    for (const client of CLIENTS) {
      it(`keeps its status ${status}, its words and its wish for clients of ${client}, its own style`, async () => {
        stand.vendor.next(answers(client, status));
        const told = await call(stand, client, stand.fresh(client));
        assert.equal(told.status, status);
        assert.equal(told.headers.get('retry-after'), '7');
        assert.equal(told.headers.get('content-encoding'), null);
        assert.equal(checkForm(told, client, true).message, WORDS);
      });

      it(`is overloaded (${status}) for clients of ${client} in another style`, async () => {
        for (const wire of WIRES.filter((wire) => wire !== client)) {
          stand.vendor.next(answers(wire, status));
          const told = await call(stand, client, stand.fresh(wire));
          assert.equal(told.status, client === 'messages' ? 529 : 503, wire);
          assert.equal(told.headers.get('retry-after'), '7');
          const error = checkForm(told, client);
          assert.equal(error.type, client === 'messages' ? 'overloaded_error' : 'gateway_api_error');
          assert.equal(error.code, 'upstream_overloaded');
          assert.ok(!told.text.includes(WORDS));
        }
      });
    }
  }

  it('says so in the middle of a stream', async () => {
    const begun = SPEECHES.gemini.events(SCENARIOS.text, {}).slice(0, 2);
    const error = JSON.stringify(SPEECHES.gemini.error(503, 'The model is overloaded.'));
    stand.vendor.next(eventStream([...begun, `data: ${error}\r\n\r\n`]));
    const { text } = await call(stand, 'messages', stand.fresh('gemini'), true);
    assert.match(text, /"type":"overloaded_error"/);
    assert.ok(!text.includes('message_stop'));
  });

  it('is asked three times by an SDK that knows 529, and says overloaded_error', async () => {
    const anthropic = new Anthropic({ baseURL: stand.root, apiKey: stand.key, maxRetries: 2 });
    const asked = stand.vendor.requests.length;
    const overloaded = jsonAnswer(529, SPEECHES.messages.error(529, WORDS), { 'retry-after-ms': '1' });
    stand.vendor.next(overloaded, overloaded, overloaded);
    const model = stand.fresh('messages');
    await assert.rejects(
      anthropic.messages.create({ model, max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] }),
      (error: unknown) =>
        error instanceof Anthropic.APIError && error.status === 529 && /overloaded_error/.test(error.message),
    );
    assert.equal(stand.vendor.requests.length - asked, 3);
  });
});

describe('a vendor that the operator has not paid', () => {
  const REFUSALS: readonly (readonly [wire: SpeechName, status: number, body: JsonObject])[] = [
    [
      'chat',
      429,
      {
        error: {
          message: 'You exceeded your current quota, please check your plan and billing details.',
          type: 'insufficient_quota',
          param: null,
          code: 'insufficient_quota',
        },
      },
    ],
    [
      'responses',
      429,
      {
        error: { message: 'You exceeded your current quota.', type: 'insufficient_quota', code: 'insufficient_quota' },
      },
    ],
    [
      'chat',
      429,
      {
        error: {
          message: 'Your account org-1234567 is suspended, please check your plan and billing details',
          type: 'exceeded_current_quota_error',
        },
      },
    ],
    ['chat', 402, { error: { message: 'Insufficient Balance', type: 'unknown_error', code: 'invalid_request_error' } }],
    [
      'chat',
      429,
      { error: { code: '1113', message: 'Insufficient balance or no resource package. Please recharge.' } },
    ],
    [
      'messages',
      400,
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'Your credit balance is too low to access the Anthropic API.',
        },
      },
    ],
    [
      'gemini',
      429,
      { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Your prepayment credits are depleted.' } },
    ],
  ];
  for (const [wire, status, body] of REFUSALS) {
    const { message } = body.error as JsonObject;
    it(`could not answer, for all that a client learns of: ${String(message).slice(0, 40)}`, async () => {
      for (const client of CLIENTS) {
        stand.vendor.next(jsonAnswer(status, body));
        const told = await call(stand, client, stand.fresh(wire));
        assert.equal(told.status, 502);
        assert.deepEqual(
          [checkForm(told, client).code, told.body.error.message],
          [
            'upstream_error',
            "The gateway's account at the vendor cannot be used. Trying again does not help. Tell the administrator of the gateway.",
          ],
        );
        assert.equal(told.headers.get('retry-after'), null);
        assert.equal(told.headers.get('x-should-retry'), 'false');
      }
    });
  }

  it('is at its limit, and no more than that, if it says so in the words of a rate limit', async () => {
    const message = 'You exceeded your current quota, please check your plan and billing details. Please retry in 7s.';
    stand.vendor.next(jsonAnswer(429, { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message } }));
    const told = await call(stand, 'chat', stand.fresh('gemini'));
    assert.deepEqual([told.status, told.body.error.code], [429, 'rate_limit_exceeded']);
  });

  it('is not what a client makes a vendor quote', async () => {
    const message = "Invalid value: 'Your credit balance is too low'. Supported values are: 'text'.";
    stand.vendor.next(
      jsonAnswer(400, {
        error: { message, type: 'invalid_request_error', param: 'modalities', code: 'invalid_value' },
      }),
    );
    const told = await call(stand, 'chat', 'chat-0');
    assert.deepEqual([told.status, told.body.error.message], [400, message]);
  });
});

describe('a vendor’s own refusal in the style of its client', () => {
  it('keeps its words and what else it says, as it says it', async () => {
    const said = { message: 'No.', type: 'x', param: null, code: null, hint: { at: [1] } };
    const others = { message: 'No.', type: null, param: 7, code: 400 };
    for (const status of [400, 409, 413, 415, 422, 429]) {
      for (const client of ['chat', 'responses'] as const) {
        for (const error of [said, others]) {
          stand.vendor.next(jsonAnswer(status, { error, extra: 1 }));
          const told = await call(stand, client, stand.fresh(client));
          assert.equal(told.status, status);
          assert.deepEqual(told.body, { error, extra: 1 });
          assert.equal(told.headers.get('x-turnpike-translation'), null);
        }
      }
    }
  });

  it('has the members that it lacks as text', async () => {
    stand.vendor.next(jsonAnswer(400, { error: { message: 'No.' } }));
    const { body } = await call(stand, 'chat', 'chat-0');
    assert.deepEqual(body.error, { message: 'No.', type: 'invalid_request_error', param: '', code: '' });
  });

  it('names our request, and not the vendor’s', async () => {
    const error = { type: 'invalid_request_error', message: 'max_tokens: 9 > 8' };
    stand.vendor.next(jsonAnswer(400, { type: 'error', error, request_id: 'req_vendor' }));
    const told = await call(stand, 'messages', 'messages-0');
    const id = told.headers.get('x-request-id');
    assert.deepEqual(told.body, { type: 'error', error: { ...error, param: '', code: '' }, request_id: id });
  });

  it('does not name the operator’s account', async () => {
    const message = 'Rate limit reached for m in organization org-AbCdEf123456 on requests per min.';
    stand.vendor.next(
      jsonAnswer(429, { error: { message, type: 'requests', param: null, code: 'rate_limit_exceeded' } }),
    );
    const told = await call(stand, 'chat', stand.fresh('chat'));
    assert.equal(told.body.error.message, 'Rate limit reached for m in organization org-… on requests per min.');
  });

  it('keeps its status if nothing in it can be read', async () => {
    for (const [status, body] of [
      [422, '[{"loc":["x"]}]'],
      [409, '<html>'],
      [415, ''],
      [413, 'Too large'],
      [400, 'null'],
    ] as const) {
      stand.vendor.next(sized(status, 'application/json', body));
      const told = await call(stand, 'chat', 'chat-0');
      assert.equal(told.status, status);
      assert.equal(checkForm(told, 'chat').code, 'invalid_request_error');
    }
  });
});

describe('an answer that the vendor calls failed', () => {
  const candidate = (finishReason: string, parts: readonly JsonObject[] = []): JsonObject => ({
    candidates: [{ content: { role: 'model', parts }, finishReason, finishMessage: 'Malformed function call: print(' }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12 },
  });
  const chatChoice = (finish_reason: string): JsonObject => ({
    id: 'c',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason }],
  });
  const WHOLE: readonly (readonly [wire: SpeechName, body: JsonObject, words: string])[] = [
    ['gemini', candidate('MALFORMED_FUNCTION_CALL'), 'Malformed function call: print('],
    ['gemini', candidate('OTHER', [{ text: 'So far' }]), 'Malformed function call: print('],
    ['chat', chatChoice('error'), 'error'],
    ['chat', chatChoice('function_call_filter: MALFORMED_FUNCTION_CALL'), 'MALFORMED_FUNCTION_CALL'],
    [
      'responses',
      {
        id: 'r',
        object: 'response',
        status: 'failed',
        output: [],
        error: { code: 'server_error', message: 'It broke.' },
      },
      'It broke.',
    ],
  ];

  for (const [wire, body, words] of WHOLE) {
    for (const client of CLIENTS) {
      it(`is none for clients of ${client}: ${wire}, ${words}`, async () => {
        for (const stream of [false, true]) {
          // A vendor may answer whole where a stream was asked for.
          stand.vendor.next(jsonAnswer(200, body));
          const told = await call(stand, client, stand.fresh(wire), stream);
          assert.equal(told.status, 502, told.text);
          const error = checkForm(told, client);
          assert.equal(error.code, 'bad_upstream_response');
          assert.ok(error.message.includes(words), error.message);
        }
      });
    }
  }

  for (const client of CLIENTS) {
    it(`is none for clients of ${client} in a stream, before anything of it has gone out`, async () => {
      stand.vendor.next(eventStream([`data: ${JSON.stringify(candidate('UNEXPECTED_TOOL_CALL'))}\r\n\r\n`]));
      const told = await call(stand, client, stand.fresh('gemini'), true);
      assert.equal(told.status, 502);
      assert.match(checkForm(told, client).message, /Malformed function call: print\(/);
    });

    it(`ends the stream of a client of ${client} with an error, once it has begun`, async () => {
      const begun = SPEECHES.gemini.events(SCENARIOS.text, {}).slice(0, 2);
      stand.vendor.next(eventStream([...begun, `data: ${JSON.stringify(candidate('OTHER'))}\r\n\r\n`]));
      const told = await call(stand, client, stand.fresh('gemini'), true);
      assert.equal(told.status, 200);
      assert.match(told.text, /Malformed function call: print\(/);
      assert.ok(!/\[DONE\]|message_stop|response\.completed|finish_reason":"/.test(told.text));
    });
  }
});
