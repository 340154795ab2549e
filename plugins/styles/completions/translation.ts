/** The translation of the style `completions`: the prompt is a single user message, and the answer is its text. */
import type { Answering, JsonObject, StyleClient, Warnings } from '../../../core/plugin.ts';
import { type Conversation, type Fields, type Reply, readFields } from '../../../core/translation/index.ts';
import { readSampling, readStop } from '../chat/client/decode-request.ts';
import { headOf } from '../chat/fields/completion.ts';
import { omitEnd, writeFinish } from '../chat/fields/finish.ts';
import { writeUsage } from '../chat/fields/usage.ts';
import { readLabels } from '../request-fields.ts';
import { createStreamEncoder, nameOf, saysText } from './stream-encoder.ts';

/** Completion clients with vendors of another style. */
export const client: StyleClient = {
  names: { messages: 'prompt' },
  decodeRequest,
  encodeReply,
  createStreamEncoder,
};

function decodeRequest(body: JsonObject, warnings: Warnings): Conversation {
  const fields = readFields(body, '');
  // These are handled before the translation.
  for (const name of ['model', 'stream', 'stream_options']) fields.get(name);
  refuseNative(fields, warnings);
  const conversation = {
    turns: [{ role: 'user', blocks: [{ type: 'text', text: readPrompt(fields, warnings) }] }],
    tools: [],
    toolChoice: undefined,
    parallelToolCalls: undefined,
    maxTokens: fields.number('max_tokens'),
    sampling: readSampling(fields),
    stop: readStop(fields),
    reasoning: undefined,
    output: {},
    labels: readLabels(fields, warnings),
    truncation: undefined,
  } satisfies Omit<Conversation, 'extras'>;
  // Log probabilities have a format that only completions use.
  if (fields.get('logprobs') !== undefined) warnings.drop('logprobs');
  return { ...conversation, extras: fields.rest() };
}

/** Options that only a text completion model supports. */
function refuseNative(fields: Fields, warnings: Warnings): void {
  const why = 'is not supported by this model: it does not complete texts.';
  if (fields.flag('echo') === true) warnings.refuse('echo', why);
  if ((fields.text('suffix') ?? '') !== '') warnings.refuse('suffix', why);
  for (const name of ['n', 'best_of']) {
    if ((fields.number(name) ?? 1) > 1) {
      warnings.refuse(name, 'must be 1 for this model: its vendor returns one answer per request.');
    }
  }
}

function readPrompt(fields: Fields, warnings: Warnings): string {
  const prompt = fields.get('prompt');
  const text = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt;
  if (typeof text === 'string') return text;
  return warnings.refuse('prompt', 'must be one text for this model: it accepts neither several texts nor token ids.');
}

function encodeReply({ blocks, finish, usage }: Reply, as: Answering): JsonObject {
  for (const block of blocks) if (!saysText(block)) as.warnings.omit(nameOf(block));
  const text = blocks.map((block) => (saysText(block) ? block.text : '')).join('');
  const contained = { calls: false, refusal: blocks.some(({ type }) => type === 'refusal') };
  omitEnd(finish, contained, as.warnings);
  return {
    ...headOf('text_completion', as),
    choices: [{ text, index: 0, logprobs: null, finish_reason: writeFinish(finish, contained) }],
    usage: writeUsage(usage),
  };
}
