import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scanJson } from '../../../core/bytes/json-body.ts';
import type { Answering, Json, JsonObject, Usage } from '../../../core/plugin.ts';
import { GatewayError } from '../../../core/plugin.ts';
import { partsOf } from '../../../core/translation/conversation/fold.ts';
import type { Block, Reply } from '../../../core/translation/index.ts';
import { collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { completions } from '../../../plugins/styles/completions/index.ts';
import { styleContract } from '../../kit/contracts/style-contract.ts';
import { arriving } from '../../kit/gateway/calls.ts';
import { chatError, chatEvent, chatUsage, DONE } from '../../kit/gateway/fixtures.ts';

const REQUEST = { model: 'public-name', prompt: 'Once upon' };
const USAGE: Usage = {
  input: 11,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWriteLong: 0,
  inputAudio: 0,
  output: 7,
  reasoning: 0,
  outputAudio: 0,
  estimated: false,
};

const completion = (choices: readonly Json[], more: JsonObject = {}): JsonObject => ({
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1_700_000_000,
  model: 'm',
  choices,
  ...more,
});
const choice = (text: string, finish_reason: string | null = null): JsonObject => ({
  text,
  index: 0,
  logprobs: null,
  finish_reason,
});
const usage = chatUsage({ prompt: 11, completion: 7 });

styleContract(completions, {
  request: REQUEST,
  refused: [
    [{ prompt: 'x' }, 'model'],
    [{ ...REQUEST, model: '' }, 'model'],
    [{ ...REQUEST, model: 7 }, 'model'],
    [{ ...REQUEST, model: 'x'.repeat(257) }, 'model'],
    [{ model: 'm' }, 'prompt'],
    [{ ...REQUEST, prompt: [] }, 'prompt'],
    [{ ...REQUEST, prompt: ['x', 1] }, 'prompt'],
    [{ ...REQUEST, prompt: {} }, 'prompt'],
    [{ ...REQUEST, temperature: 3 }, 'temperature'],
    [{ ...REQUEST, top_p: -1 }, 'top_p'],
    [{ ...REQUEST, stream: 'yes' }, 'stream'],
    [{ ...REQUEST, stream_options: true }, 'stream_options'],
    [{ ...REQUEST, max_tokens: 1.5 }, 'max_tokens'],
    [{ ...REQUEST, max_tokens: -1 }, 'max_tokens'],
    [{ ...REQUEST, n: 129 }, 'n'],
    [{ ...REQUEST, best_of: 0 }, 'best_of'],
  ],
  answer: { body: completion([choice(' a time.', 'stop')], { usage }), usage: USAGE },
  stream: [
    chatEvent(completion([choice(' a')])),
    chatEvent(completion([choice(' time.')])),
    chatEvent(completion([choice('', 'stop')])),
    chatEvent(completion([], { usage })),
    DONE,
  ],
  usageEvent: 3,
  error: {
    body: chatError('It burns.', 'fire'),
    event: chatEvent(chatError('It burns.', 'fire')),
    message: 'It burns.',
  },
});

const read = (more: JsonObject) =>
  completions.ingress!.read(scanJson(Buffer.from(JSON.stringify({ ...REQUEST, ...more }))), arriving());

describe('a completion request', () => {
  it('is bounded by all generated texts, including the drafts of best_of', () => {
    assert.equal(read({}).bounds.outputTokens, undefined);
    assert.equal(read({ max_tokens: 0 }).bounds.outputTokens, 0);
    assert.deepEqual([read({ max_tokens: 10, n: 2 }).bounds.outputTokens, read({ n: 2 }).bounds.choices], [20, 2]);
    assert.equal(read({ max_tokens: 10, n: 2, best_of: 5 }).bounds.outputTokens, 50);
    const prompts = read({ max_tokens: 10, n: 2, prompt: ['a', 'b', 'c'] }).bounds;
    assert.deepEqual([prompts.outputTokens, prompts.choices], [60, 6]);
    assert.equal(read({ max_tokens: 10, prompt: [1, 2, 3] }).bounds.outputTokens, 10);
    assert.equal(read({ max_tokens: 10, prompt: [[1], [2, 3]] }).bounds.outputTokens, 20);
  });

  it('says whether the client requested usage', () => {
    assert.equal(read({ stream: true, stream_options: { include_usage: true } }).asksUsage, true);
    assert.equal(read({ stream: true }).asksUsage, false);
  });
});

const asked = completions.client!;

function decoded(more: JsonObject) {
  const warnings = collectWarnings(asked.names);
  return { conversation: asked.decodeRequest({ ...REQUEST, ...more }, warnings), warnings };
}

function answering(more: Partial<Answering> = {}) {
  const warnings = collectWarnings(asked.names);
  const as: Answering = {
    id: '01234567890123456789012345',
    model: 'public-name',
    createdMs: 1_700_000_000_900,
    now: () => 1_700_000_001_000,
    request: REQUEST,
    asksUsage: true,
    estimatedInput: 3,
    warnings,
    ...more,
  };
  return { as, warnings };
}

const BLOCKS: readonly Block[] = [
  { type: 'thinking', text: 'Hm.' },
  { type: 'text', text: ' a time' },
  { type: 'text', text: ' there was.' },
  { type: 'toolCall', id: 'c', kind: 'function', name: 'f', input: '{}' },
];
const REPLY: Reply = { id: 'x', model: 'y', blocks: BLOCKS, finish: { reason: 'length' }, usage: USAGE };
const HEAD = {
  id: 'cmpl-01234567890123456789012345',
  object: 'text_completion',
  created: 1_700_000_000,
  model: 'public-name',
};

describe('a completion from a vendor of another style', () => {
  it('is requested as one user turn', () => {
    const { conversation, warnings } = decoded({
      prompt: ['Once upon'],
      max_tokens: 5,
      temperature: 0.5,
      stop: '\n',
      logprobs: 2,
      echo: false,
      n: 1,
      user: 'u',
      min_p: 0.1,
    });
    const { turns, maxTokens, sampling, stop, labels, extras } = conversation;
    assert.deepEqual(turns, [{ role: 'user', blocks: [{ type: 'text', text: 'Once upon' }] }]);
    assert.deepEqual([maxTokens, sampling, stop, labels], [5, { temperature: 0.5 }, ['\n'], { user: 'u' }]);
    assert.deepEqual(extras, { min_p: 0.1 });
    assert.deepEqual(warnings.serious, ['logprobs:dropped']);
  });

  it('is refused if only a text completion model could serve it', () => {
    const cases: readonly (readonly [JsonObject, string])[] = [
      [{ echo: true }, 'echo'],
      [{ suffix: 'the end' }, 'suffix'],
      [{ n: 2 }, 'n'],
      [{ best_of: 2 }, 'best_of'],
      [{ prompt: ['a', 'b'] }, 'prompt'],
      [{ prompt: [1, 2] }, 'prompt'],
    ];
    for (const [more, param] of cases) {
      assert.throws(
        () => decoded(more),
        (error) => error instanceof GatewayError && error.status === 400 && error.param === param,
        `${param} should be refused`,
      );
    }
  });

  it('has the text only, and reports everything else', () => {
    const { as, warnings } = answering();
    assert.deepEqual(asked.encodeReply(REPLY, as), {
      ...HEAD,
      choices: [choice(' a time there was.', 'length')],
      usage: {
        ...usage,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: 0,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      },
    });
    assert.deepEqual(warnings.all, ['reasoning:omitted', 'tool_calls:omitted']);
  });

  it('streams the same', () => {
    const { as, warnings } = answering();
    const writer = asked.createStreamEncoder(as);
    const events = partsOf(REPLY)
      .map((part) => writer.write(part))
      .join('')
      .split('\n\n');
    assert.equal(events.pop(), '');
    assert.equal(events.pop(), 'data: [DONE]');
    const chunks = events.map((event) => JSON.parse(event.slice('data: '.length)) as JsonObject);
    assert.deepEqual(
      chunks.slice(0, -1),
      [choice(' a time'), choice(' there was.'), choice('', 'length')].map((each) => ({
        ...HEAD,
        choices: [each],
        usage: null,
      })),
    );
    assert.deepEqual(chunks.at(-1), { ...HEAD, choices: [], usage: asked.encodeReply(REPLY, as).usage });
    assert.deepEqual(warnings.all, ['reasoning:omitted', 'tool_calls:omitted']);
  });

  it('has no usage if the client did not request it', () => {
    const writer = asked.createStreamEncoder(answering({ asksUsage: false }).as);
    const text = partsOf(REPLY)
      .map((part) => writer.write(part))
      .join('');
    assert.doesNotMatch(text, /usage/);
    assert.match(text, /"finish_reason":"length"\}\]\}\n\ndata: \[DONE\]\n\n$/);
  });
});
