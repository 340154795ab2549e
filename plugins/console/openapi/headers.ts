/** The headers of requests and answers in the OpenAPI document. */
import type { HeaderAbout } from '../../../core/plugin.ts';
import type { Members } from './schema-walk.ts';

const text = { type: 'string' };
const integer = { type: 'integer', minimum: 0 };

interface HeaderShown {
  readonly description: string;
  readonly schema: object;
  readonly example: unknown;
}

/** Headers of answers, by their name. */
const ANSWERED: Readonly<Record<string, HeaderShown>> = {
  'x-request-id': {
    description: 'The id of the request, which usage records and the log have, too.',
    schema: { type: 'string', pattern: '^[0-9a-v]{26}$' },
    example: '1l3v4k6q5s0000000000000000',
  },
  'retry-after': {
    description: 'With 429 and 503: the seconds after which the request may succeed.',
    schema: integer,
    example: 2,
  },
  'x-should-retry': {
    description: 'Whether a retry may succeed, for official SDKs; absent: as the status says.',
    schema: { type: 'string', enum: ['true', 'false'] },
    example: 'false',
  },
  'www-authenticate': {
    description: 'With 401: how the request can authenticate.',
    schema: text,
    example: 'Bearer',
  },
  'x-turnpike-channel': {
    description: 'The channel that served the call.',
    schema: text,
    example: 'main',
  },
  'x-turnpike-cost': {
    description: 'The cost in quota units, a decimal number; on whole answers, with the plugin `quota`.',
    schema: text,
    example: '57.5',
  },
  'x-turnpike-translation': {
    description:
      'What the translation to the format of the vendor changed, dropped or estimated: `path:warning`, separated by commas. Absent: nothing.',
    schema: text,
    example: 'top_k:dropped',
  },
  'x-turnpike-cache': {
    description: 'Whether the answer is from the cache; with the plugin `cache`.',
    schema: { type: 'string', enum: ['hit', 'miss'] },
    example: 'miss',
  },
  ...Object.fromEntries(
    (['requests', 'tokens'] as const).flatMap((kind) => [
      [
        `x-ratelimit-limit-${kind}`,
        { description: `The limit of ${kind} that has the least room.`, schema: integer, example: 60 },
      ],
      [
        `x-ratelimit-remaining-${kind}`,
        { description: `The ${kind} that remain of it.`, schema: integer, example: 59 },
      ],
      [
        `x-ratelimit-reset-${kind}`,
        { description: 'The time until it is whole again, such as `12s` or `6m0s`.', schema: text, example: '1s' },
      ],
    ]),
  ),
  etag: {
    description: 'The revision of the record, for `If-Match`. Calls do not change it.',
    schema: text,
    example: '"dGhlIHRhZyBvZiBhIHJl"',
  },
  'idempotent-replayed': {
    description: 'With `true`: the answer of an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  'content-disposition': {
    description: 'The name under which browsers save the file.',
    schema: text,
    example: 'attachment; filename="keys.csv"',
  },
};

const OF_CALLS = Object.keys(ANSWERED).filter((name) => /^x-(turnpike|ratelimit)-/.test(name));
const SETS = {
  /** Of every answer. */
  any: ['x-request-id'],
  /** Of a file. */
  file: ['x-request-id', 'content-disposition'],
  /** Of an answer to a call. */
  call: ['x-request-id', ...OF_CALLS],
  /** Of a refusal. */
  refusal: ['x-request-id', 'retry-after', 'www-authenticate'],
  /** Of the refusal of a call. */
  refusedCall: ['x-request-id', 'retry-after', 'x-should-retry', 'www-authenticate', ...OF_CALLS.slice(3)],
} as const;

/** The headers of an answer, as references. */
export function answerHeadersOf(set: keyof typeof SETS, more: readonly string[] = []): Members {
  return Object.fromEntries([...SETS[set], ...more].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** What they refer to. */
export const headerComponents: Members = { ...ANSWERED };

/** Headers that any call may have. */
export const CALL_HEADERS: readonly HeaderAbout[] = [
  {
    name: 'x-turnpike-tags',
    description: 'Tags of the call for usage statistics, separated by commas; with the plugin `log`.',
    schema: { type: 'string', maxLength: 1_024 },
    example: 'batch',
  },
];

/** Headers as parameters. */
export function headerParameters(headers: readonly HeaderAbout[]): readonly Members[] {
  return headers.map(({ name, description, required = false, schema = text, example }) => ({
    name,
    in: 'header',
    description,
    required,
    schema,
    ...(example !== undefined && { example }),
  }));
}
