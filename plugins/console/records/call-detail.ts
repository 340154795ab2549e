/** One call as a whole: its line, and everything that a list has no room for. */
import { RATE_NAMES, RATES } from '../../../core/contracts/rates.ts';
import type { LogEntry, UsageRecord } from '../../../core/contracts/records.ts';
import type { Host, Usage } from '../../../core/plugin.ts';
import { boolean, integer, number, text } from '../schemas.ts';
import { lineSchema, notesOf, shownAttempts, shownLine, type Viewer } from './log-line.ts';
import { createNames } from './names.ts';
import { entriesSchema, receiptSchema, shownEntries, shownReceipt } from './receipt.ts';

/** What it shows of the call that a line of the log is about. */
export async function shownCall(
  host: Host,
  entry: LogEntry,
  call: UsageRecord,
  viewer: Viewer & { readonly seesContent: boolean },
) {
  const names = createNames(host);
  const { usage, firstByteMs, other } = call;
  const { translation, ...notes } = notesOf(call);
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
    notes,
    usage: usage === undefined ? {} : countsOf(usage),
    image: usage?.images === undefined ? null : { size: usage.images.size, quality: usage.images.quality },
    estimated: usage?.estimated ?? false,
    receipt: shownReceipt(host, call),
    entries: await shownEntries(host, call, names),
    has_content: viewer.seesContent,
  };
}

/** Output tokens per second: of a stream from its first byte on, else of the whole time. */
function speedOf({ usage, stream, durationMs, firstByteMs }: UsageRecord): number | null {
  const output = usage?.output ?? 0;
  const tookMs = stream ? durationMs - (firstByteMs ?? 0) : durationMs;
  return output > 0 && tookMs > 0 ? Math.round((output * 100_000) / tookMs) / 100 : null;
}

/** Every count that was made; input and output are always there. */
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
  at_ms: { ...integer, description: 'When it began, unix milliseconds.' },
  duration_ms: integer,
  first_byte_ms: { type: ['integer', 'null'], description: 'From its beginning to the first byte of the answer.' },
  tokens_per_second: {
    type: ['number', 'null'],
    description: 'Output tokens: of a stream from the first byte on, else of the whole time.',
  },
  outcome: { enum: ['served', 'refused', 'failed', 'aborted', 'recovered'] },
  status: { ...integer, description: 'The status that the client got, or would have got.' },
  style: { ...text, description: 'chat, responses, messages …; of a passage its path; empty: it is no call.' },
  stream: boolean,
  client_request_id: { type: ['string', 'null'], description: 'The `x-request-id` that the client sent.' },
  attempts: {
    type: 'array',
    description:
      'Channel, status and failure of each, and how long it took; for administrators the model there and the reason, too.',
    items: { type: 'object', required: ['channel', 'ms'], additionalProperties: true },
  },
  translation: {
    type: 'array',
    items: text,
    description: 'What the translation changed or left out, as the header `x-turnpike-translation` names it.',
  },
  notes: { type: 'object', additionalProperties: true, description: 'What else was noted of it.' },
  usage: {
    type: 'object',
    additionalProperties: number,
    description:
      "Every count that was made: input and output tokens, and those among them that are told apart (cache_read, reasoning …); characters, seconds, images, uses of the vendor's tools (web_search …). Empty: nothing was used.",
  },
  image: {
    type: ['object', 'null'],
    required: ['size', 'quality'],
    properties: { size: text, quality: text },
    description: 'The kind of images that were made; null: none were.',
  },
  estimated: { ...boolean, description: 'The vendor did not count, so we did.' },
  receipt: { ...receiptSchema, description: 'How the charge came about; null: nobody keeps books here.' },
  entries: entriesSchema,
  has_content: {
    ...boolean,
    description: 'Prompt and answer are stored, and you may read them (GET /api/log/content/{request_id}).',
  },
} as const;

/** Its schema. */
export const callSchema = {
  title: 'CallDetail',
  type: 'object',
  required: [...lineSchema.required, ...Object.keys(properties)],
  properties: { ...lineSchema.properties, ...properties },
} as const;
