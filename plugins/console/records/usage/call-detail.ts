/** All details of one call: its log line, what lists leave out, and its stored prompt and answer. */

import { RATE_NAMES, RATES } from '../../../../core/contracts/formats/rates.ts';
import type { StoredContent } from '../../../../core/contracts/prompts.ts';
import type { LogEntry, UsageRecord } from '../../../../core/contracts/records.ts';
import type { Host, Usage } from '../../../../core/plugin.ts';
import { boolean, integer, listOf, number, object, objectOrNull, partly, record, text } from '../../format/schemas.ts';
import { shownAs } from '../../format/shown.ts';
import { createNames } from '../people/names.ts';
import { lineSchema, notesOf, shownAttempts, shownLine, type Viewer } from './log-line.ts';
import { entriesSchema, receiptSchema, shownEntries, shownReceipt } from './receipt.ts';

/** The details of the call in a log line. */
export async function shownCall(
  host: Host,
  entry: LogEntry,
  call: UsageRecord,
  viewer: Viewer & { readonly seesContent: boolean },
) {
  const names = createNames(host);
  const { usage, firstByteMs, other } = call;
  const { translation, tags, ...notes } = notesOf(call);
  return {
    ...(await shownLine(entry, names, viewer)),
    at_ms: call.atMs,
    duration_ms: call.durationMs,
    first_byte_ms: firstByteMs ?? null,
    tokens_per_second: speedOf(call),
    outcome: call.outcome,
    status: call.status,
    style: call.style,
    stream: call.stream,
    client_request_id: typeof other.clientRequestId === 'string' ? other.clientRequestId : null,
    attempts: shownAttempts(call, viewer.isAdmin),
    translation: Array.isArray(translation) ? translation : [],
    tags: Array.isArray(tags) ? tags : [],
    notes,
    usage: usage === undefined ? {} : countsOf(usage),
    image: usage?.images === undefined ? null : { size: usage.images.size, quality: usage.images.quality },
    estimated: usage?.estimated ?? false,
    receipt: shownReceipt(host, call),
    entries: await shownEntries(host, call, names),
    has_content: viewer.seesContent,
  };
}

/** Output tokens per second: of a stream from its first byte, otherwise over the whole duration. */
function speedOf({ usage, stream, durationMs, firstByteMs }: UsageRecord): number | null {
  const output = usage?.output ?? 0;
  const tookMs = stream ? durationMs - (firstByteMs ?? 0) : durationMs;
  return output > 0 && tookMs > 0 ? Math.round((output * 100_000) / tookMs) / 100 : null;
}

/** All counts; input and output are always present. */
function countsOf(usage: Usage): Readonly<Record<string, number>> {
  const parts: Readonly<Record<string, number | undefined>> = {
    ...Object.fromEntries(RATE_NAMES.map((rate) => [RATES[rate].wire, usage[rate]])),
    characters: usage.characters,
    seconds: usage.seconds,
    images: usage.images?.count,
    ...usage.uses,
  };
  const counted = Object.entries(parts).filter((part): part is [string, number] => (part[1] ?? 0) > 0);
  return { input: usage.input, output: usage.output, ...Object.fromEntries(counted) };
}

const properties = {
  at_ms: { ...integer, description: 'Start time, Unix milliseconds.' },
  duration_ms: integer,
  first_byte_ms: {
    type: ['integer', 'null'],
    description: 'Milliseconds from the request to the first byte of the answer.',
  },
  tokens_per_second: {
    type: ['number', 'null'],
    description: 'Output tokens per second: of a stream from the first byte, otherwise over the whole duration.',
  },
  outcome: { enum: ['served', 'refused', 'failed', 'aborted', 'recovered'] },
  status: { ...integer, description: 'The HTTP status that the client got, or would have got.' },
  style: {
    ...text,
    description:
      'chat, responses, messages …; for a passthrough route its path; empty for requests that are not calls.',
  },
  stream: boolean,
  client_request_id: { type: ['string', 'null'], description: 'The `x-request-id` that the client sent.' },
  attempts: {
    type: 'array',
    description:
      'Upstream attempts: channel, status, failure and duration; for administrators also the upstream model and the reason.',
    items: {
      ...partly(['channel', 'ms'], {
        channel: { ...text, description: 'The channel.' },
        ms: { type: ['number', 'null'], description: 'The duration in milliseconds; null: not recorded.' },
      }),
      additionalProperties: true,
    },
  },
  translation: {
    type: 'array',
    items: text,
    description: 'Warnings of the translation, as in the header `x-turnpike-translation`.',
  },
  tags: { type: 'array', items: text, description: 'Its tags: `team=a`.' },
  notes: { type: 'object', additionalProperties: true, description: 'Additional notes about the call.' },
  usage: {
    type: 'object',
    additionalProperties: number,
    description:
      "All counts: input and output tokens, and their subsets (cache_read, reasoning …); characters, seconds, images, uses of the vendor's tools (web_search …). Empty: no usage.",
  },
  image: objectOrNull('The kind of the generated images; null: none.', { size: text, quality: text }),
  estimated: { ...boolean, description: 'The gateway counted, because the vendor did not.' },
  receipt: { ...receiptSchema, description: 'How the charge was computed; null: the gateway runs without billing.' },
  entries: entriesSchema,
  has_content: {
    ...boolean,
    description: 'Prompt and answer are stored, and you may read them (GET /api/log/content/{request_id}).',
  },
} as const;

export const callSchema = {
  title: 'CallDetail',
  type: 'object',
  required: [...lineSchema.required, ...Object.keys(properties)],
  properties: { ...lineSchema.properties, ...properties },
} as const;

/** The content of a call, as shown. */
export function shownContent({ parameters, answer, ...content }: StoredContent) {
  return shownAs(contentSchema, {
    ...content,
    parameters: parameters && shownAs(block, parameters),
    answer: answer && shownAs(contentAnswer, { blocks: answer.blocks, finishReason: answer.finish }),
  });
}

const block = record('ContentBlock', {
  type: { enum: ['text', 'reasoning', 'refusal', 'tool_call', 'tool_result', 'media', 'data'] },
  text: {
    ...text,
    description: 'The text; arguments of a tool call; of media its type (`image/png`), its URL or its id; JSON.',
  },
  name: { type: ['string', 'null'], description: 'Of a tool, of a file, or of the data.' },
  id: { type: ['string', 'null'], description: 'The id of the tool call, or of the call that a result belongs to.' },
  bytes: { type: ['integer', 'null'], description: 'How large media is, which is not stored; null: unknown.' },
  cut_bytes: { ...integer, description: 'Bytes of the text that are not stored: `prompts.maxBytes`.' },
  is_error: { ...boolean, description: 'The tool failed.' },
});
const blocks = { type: 'array', items: block };
const contentAnswer = object({
  blocks,
  finish_reason: { type: ['string', 'null'], description: 'Why it ended; null: it broke off, or unknown.' },
});

/** Its schema. */
export const contentSchema = record('CallContent', {
  messages: listOf('ContentMessage', { role: text, name: { type: ['string', 'null'] }, blocks }),
  earlier_messages: {
    ...integer,
    description: 'How many messages before them are not stored: `prompts.maxBytes`.',
  },
  tools: { ...blocks, description: 'Definitions of tools, as JSON.' },
  parameters: { anyOf: [block, { type: 'null' }], description: 'Parameters of the request, as JSON.' },
  answer: {
    anyOf: [contentAnswer, { type: 'null' }],
    description: 'null: none came, or it is of a kind that is not stored (vectors, images, audio).',
  },
  omitted: {
    type: 'array',
    items: text,
    description: 'The parts of the request that the messages omit, as the header `x-turnpike-translation` names them.',
  },
});
