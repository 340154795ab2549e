/**
 * The table of billable kinds of tokens. A new kind is a row here, a counter in the usage records (plugins/log) and in
 * the styles whose vendors report it, and a label in the console; see plugins/prices/README.md.
 */

/** A kind of token that a price can have a rate for. */
export interface RateKind {
  /** The total of `Usage` that its tokens are part of. */
  readonly total: 'input' | 'output';
  /** The rate that applies if a price does not have this one; undefined: then it is free. */
  readonly parent: string | undefined;
  /**
   * Kinds of one group are disjoint parts of the total: together they are at most the total. Kinds of different groups
   * may overlap in a vendor's report (cached audio); the one that comes first in the table is charged. Undefined: the
   * total itself, charged for tokens of no other kind.
   */
  readonly group: 'cache' | 'media' | 'answer' | undefined;
  /** Its label in a price on one line. */
  readonly label: string;
  /** Its description in the API: `tokens of …`. */
  readonly of: string;
  /** Its name in receipts and call details of `/api`. */
  readonly wire: string;
  /** Its name in log lines of `/api/log`, as existing tools expect it; absent: log lines have it under other names. */
  readonly logged?: string;
  /** The ability that a price for it implies, as `/api` names abilities. */
  readonly ability?: 'vision' | 'audio_input' | 'audio_output' | 'reasoning';
  /** True if a model with a price for it may be something else than a chat model. */
  readonly beyondChat?: true;
  /** Its name in the data of genai-prices, in currency units per million tokens. */
  readonly published: string;
}

/** Currency units per million tokens, by the field of `Usage`, in display order. */
export const RATES = {
  input: {
    total: 'input',
    parent: undefined,
    group: undefined,
    label: 'input',
    of: 'input',
    wire: 'input',
    published: 'input_mtok',
  },
  cacheRead: {
    total: 'input',
    parent: 'input',
    group: 'cache',
    label: 'cache read',
    of: 'input that is read from a cache',
    wire: 'cache_read',
    published: 'cache_read_mtok',
  },
  cacheWrite: {
    total: 'input',
    parent: 'input',
    group: 'cache',
    label: 'cache write',
    of: 'input that is written to a cache',
    wire: 'cache_write',
    published: 'cache_write_mtok',
  },
  cacheWriteLong: {
    total: 'input',
    parent: 'cacheWrite',
    group: 'cache',
    label: 'long cache write',
    of: 'input that is written to a cache for an hour',
    wire: 'cache_write_long',
    published: 'cache_write_1h_mtok',
  },
  inputAudio: {
    total: 'input',
    parent: 'input',
    group: 'media',
    label: 'audio input',
    of: 'audio input',
    wire: 'input_audio',
    ability: 'audio_input',
    beyondChat: true,
    logged: 'audio_input',
    published: 'input_audio_mtok',
  },
  inputImage: {
    total: 'input',
    parent: 'input',
    group: 'media',
    label: 'image input',
    of: 'image input',
    wire: 'input_image',
    ability: 'vision',
    logged: 'image_input',
    published: 'input_image_mtok',
  },
  output: {
    total: 'output',
    parent: undefined,
    group: undefined,
    label: 'output',
    of: 'output',
    wire: 'output',
    published: 'output_mtok',
  },
  reasoning: {
    total: 'output',
    parent: 'output',
    group: 'answer',
    label: 'reasoning',
    of: 'reasoning',
    wire: 'reasoning',
    ability: 'reasoning',
    logged: 'reasoning_tokens',
    published: 'output_reasoning_mtok',
  },
  outputAudio: {
    total: 'output',
    parent: 'output',
    group: 'answer',
    label: 'audio output',
    of: 'audio output',
    wire: 'output_audio',
    ability: 'audio_output',
    beyondChat: true,
    logged: 'audio_output',
    published: 'output_audio_mtok',
  },
  outputImage: {
    total: 'output',
    parent: 'output',
    group: 'answer',
    label: 'image output',
    of: 'image output',
    wire: 'output_image',
    beyondChat: true,
    logged: 'image_output',
    published: 'output_image_mtok',
  },
} as const satisfies Readonly<Record<string, RateKind>>;

/** A row of `RATES`. */
export type Rate = keyof typeof RATES;

/** All rows, in table order. A parent comes before its children. */
export const RATE_NAMES = Object.keys(RATES) as readonly Rate[];

/** A billable unit, the number of them that a price is for, and its name. */
export interface ChargedUnit {
  readonly per: 1_000_000 | 3_600 | 1;
  readonly unit: 'token' | 'image' | 'second' | 'character' | 'use' | 'request';
}

/** Everything else that a price can charge for, by its name in receipts. */
export const UNITS = {
  images: { per: 1, unit: 'image' },
  seconds: { per: 3_600, unit: 'second' },
  characters: { per: 1_000_000, unit: 'character' },
  use: { per: 1, unit: 'use' },
  request: { per: 1, unit: 'request' },
} as const satisfies Readonly<Record<string, ChargedUnit>>;

/** A row of `UNITS`. */
export type Unit = keyof typeof UNITS;

/** How many tokens a rate is for. */
export const TOKENS: ChargedUnit = { per: 1_000_000, unit: 'token' };
