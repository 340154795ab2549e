/** A prompt that is too long is recognized in the published words of the vendors, and nothing else is taken for one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isContextOverflow, overflowTokens } from '../../../core/translation/vendor-errors.ts';

/** Words, and the tokens that they name. */
const OVERFLOWS: readonly (readonly [vendor: string, message: string, prompt?: number, most?: number])[] = [
  ['anthropic', 'prompt is too long: 215317 tokens > 200000 maximum', 215_317, 200_000],
  ['anthropic', 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length'],
  [
    'openai',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130541 tokens.",
    130_541,
    128_000,
  ],
  ['openai', 'Your input exceeds the context window of this model. Please adjust your input and try again.'],
  [
    'deepseek',
    "This model's maximum context length is 131072 tokens. However, you requested 200000 tokens (192000 in the messages, 8000 in the completion). Please reduce the length of the messages or completion.",
    200_000,
    131_072,
  ],
  [
    'gemini',
    'The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).',
    1_196_265,
    1_048_576,
  ],
  ['gemini', 'The input token count exceeds the maximum number of tokens allowed 1048576.'],
  ['kimi', 'Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)', 291_351, 262_144],
  [
    'mistral',
    'Prompt contains 70000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    70_000,
    32_768,
  ],
  ['groq', 'Please reduce the length of the messages or completion.'],
  [
    'openrouter',
    "This endpoint's maximum context length is 131,072 tokens. However, you requested about 150,200 tokens (150,000 of text input, 200 in the output).",
    150_200,
    131_072,
  ],
  [
    'vllm',
    "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens. Please reduce the length of the input messages.",
    5_000,
    4_096,
  ],
  ['xai', "This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 537_812, 131_072],
  ['copilot', 'prompt token count of 74490 exceeds the limit of 72000', 74_490, 72_000],
  [
    'llama.cpp',
    'request (66202 tokens) exceeds the available context size (65536 tokens), try increasing it',
    66_202,
    65_536,
  ],
  ['llama.cpp', 'the request exceeds the available context size. try increasing the context size'],
  ['lm studio', 'The number of tokens to keep from the initial prompt is greater than the context length'],
  [
    'vertex',
    'Unable to submit request because the input token count is 2000000 but model only supports up to 1048576. Reduce the input token count and try again.',
    2_000_000,
    1_048_576,
  ],
  ['openai', 'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.'],
  [
    'cloudflare',
    'The estimated number of input and maximum output tokens (9000) exceeded this model context window limit (8192).',
  ],
  ['cohere', 'too many tokens: size limited to 4081 tokens, total 5000'],
  [
    'text-generation-inference',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 131073. Given: 140000 `inputs` tokens',
  ],
  ['text-generation-inference', 'Input validation error: `inputs` must have less than 1024 tokens. Given: 1500'],
  ['volcengine', 'Total tokens of image and text exceed max message tokens'],
  ['volcengine', 'Input length 131073 exceeds the maximum length 131072'],
  ['watsonx', 'the number of input tokens 4100 cannot exceed the total tokens limit 4096 for this model'],
  ['azure', 'Request body too large for gpt-4o model. Max size: 8000 tokens.'],
  ['ollama', 'prompt too long; exceeded max context length by 1200 tokens'],
  ['minimax', 'invalid params, context window exceeds limit (2013)'],
  ['zhipu', 'Prompt exceeds max length'],
  ['dashscope', 'Range of input length should be [1, 129024]'],
  ['bedrock', 'Input is too long for requested model.'],
  ['cohere', 'too many tokens: total number of tokens in the prompt cannot exceed 4081'],
];

const OTHERS = [
  'max_tokens is too large: 200000. This model supports at most 16384 completion tokens.',
  "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 4096 tokens and your request has 100 input tokens (8192 > 4096 - 100).",
  'max_tokens: 70000 > 64000, which is the maximum allowed number of output tokens for claude-x',
  'Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested 40000. Please reduce the length of the messages.',
  'messages: at least one message is required',
  "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 70 instead.",
];

describe('a prompt that is too long', () => {
  for (const [vendor, message, prompt, most] of OVERFLOWS) {
    it(`is recognized in the wording of ${vendor}: ${message.slice(0, 60)}`, () => {
      assert.equal(isContextOverflow({ message, code: '' }), true);
      if (prompt !== undefined) assert.deepEqual(overflowTokens(message), { prompt, most });
    });
  }

  it('is recognized by its code alone', () => {
    for (const code of ['context_length_exceeded', 'exceed_context_size_error', 'CONTEXT_LENGTH_EXCEEDED']) {
      assert.equal(isContextOverflow({ message: 'No.', code }), true, code);
    }
  });

  it('has no token counts if the vendor sends only one number, or the same one twice', () => {
    assert.equal(
      overflowTokens('The input token count exceeds the maximum number of tokens allowed 1048576.'),
      undefined,
    );
    assert.equal(
      overflowTokens('gpt-4-0613 and o3-2025-04-16 take 128000 tokens, and no more than 128000.'),
      undefined,
    );
  });

  for (const message of OTHERS) {
    it(`is not recognized in: ${message.slice(0, 60)}`, () => {
      assert.equal(isContextOverflow({ message, code: 'invalid_request_error' }), false);
    });
  }
});
