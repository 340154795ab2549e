/** Vendors from outside the checkout with formats of their own fulfil the contract of every vendor: lines of JSON, and binary frames. */

import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import { definePlugin } from '../../../core/plugin.ts';
import { vendorContract } from '../../kit/contracts/vendor-contract.ts';
import type { Scenario } from '../../kit/speech.ts';
import type { VendorSpeech } from '../../kit/vendors/speech-wire.ts';
import bedrock from '../outside/bedrock.ts';
import ollama from '../outside/ollama.ts';
import { converseFrame, exceptionFrame } from './outside-kit.ts';

/** Calls have no ids, and come whole; nothing says that a model refuses. */
const lines: VendorSpeech = {
  callId: () => undefined,
  whole: (scenario) => (scenario.end === 'refusal' || scenario.reasoning ? undefined : lineOf(scenario)),
  events: ({ text = [], ...rest }) => [
    ...text.map(
      (content) => `${JSON.stringify({ model: 'm', message: { role: 'assistant', content }, done: false })}\n`,
    ),
    `${JSON.stringify(lineOf(rest))}\n`,
  ],
  error: (_status, message) => ({ error: message }),
  errorEvent: (message) => `${JSON.stringify({ error: message })}\n`,
};

function lineOf({ text = [], calls, end, usage }: Scenario): JsonObject {
  return {
    model: 'm',
    message: {
      role: 'assistant',
      content: text.join(''),
      ...(calls && {
        tool_calls: calls.map(({ name, pieces }) => ({
          function: { name, arguments: JSON.parse(pieces.join('')) as Json },
        })),
      }),
    },
    done: true,
    done_reason: end === 'length' ? 'length' : 'stop',
    prompt_eval_count: usage.input,
    eval_count: usage.output,
  };
}

vendorContract(ollama, { name: 'ollama', speeches: { ollama: lines } });

const REASONS = { stop: 'end_turn', tools: 'tool_use', length: 'max_tokens', refusal: 'content_filtered' } as const;

/** As Converse counts: what was cached stands beside the input. */
function tokensOf({ usage }: Scenario): JsonObject {
  return {
    inputTokens: usage.input - usage.cached,
    outputTokens: usage.output,
    totalTokens: usage.input + usage.output,
    cacheReadInputTokens: usage.cached,
  };
}

const frames: VendorSpeech = {
  whole(scenario) {
    const { text, calls = [], end, refusal, reasoning } = scenario;
    // A refusal is a reason without words.
    if (reasoning !== undefined) return undefined;
    return {
      output: {
        message: {
          role: 'assistant',
          content: [
            ...(text ? [{ text: text.join('') }] : []),
            ...(refusal ? [{ text: refusal.join('') }] : []),
            ...calls.map(({ id, name, pieces }) => ({
              toolUse: { toolUseId: id, name, input: JSON.parse(pieces.join('')) as Json },
            })),
          ],
        },
      },
      stopReason: REASONS[end],
      usage: tokensOf(scenario),
    };
  },
  events(scenario) {
    const { text = scenario.refusal, calls = [], end } = scenario;
    const first = text === undefined ? 0 : 1;
    return [
      converseFrame('messageStart', { role: 'assistant' }),
      ...(text ?? []).map((piece) =>
        converseFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: piece } }),
      ),
      ...(text === undefined ? [] : [converseFrame('contentBlockStop', { contentBlockIndex: 0 })]),
      ...calls.flatMap(({ id, name, pieces }, i) => [
        converseFrame('contentBlockStart', {
          contentBlockIndex: first + i,
          start: { toolUse: { toolUseId: id, name } },
        }),
        ...pieces.map((input) =>
          converseFrame('contentBlockDelta', { contentBlockIndex: first + i, delta: { toolUse: { input } } }),
        ),
        converseFrame('contentBlockStop', { contentBlockIndex: first + i }),
      ]),
      converseFrame('messageStop', { stopReason: REASONS[end] }),
      converseFrame('metadata', { usage: tokensOf(scenario), metrics: { latencyMs: 5 } }),
    ];
  },
  error: (_status, message) => ({ message }),
  errorEvent: (message) => exceptionFrame('modelStreamErrorException', message),
};

vendorContract(bedrock, {
  name: 'bedrock',
  speeches: { converse: frames },
  options: { accessKeyId: 'AKIDEXAMPLE', region: 'eu-west-1' },
});

/** Chat events in lines of base64, as vendors have them that encrypt or sign each frame: no text is on the wire as it stands. */
const encoded = definePlugin({
  name: 'encoded',
  api: 2,
  create: () => ({
    vendors: [
      {
        name: 'encoded',
        speaks: {
          chat: {
            path: '/chat/completions',
            headers: ({ key }) => ({ authorization: `Bearer ${key}` }),
            frames: {
              mediaType: 'application/x-encoded-lines',
              lengthOf(bytes) {
                const end = bytes.indexOf('\n');
                return end < 0 ? undefined : end + 1;
              },
              read: (frame) => ({ data: Buffer.from(frame.toString(), 'base64').toString() }),
            },
          },
        },
      },
    ],
  }),
});

vendorContract(encoded, {
  name: 'encoded',
  frame: ({ data }) => `${Buffer.from(data).toString('base64')}\n`,
});
