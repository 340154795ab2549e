/** Quirks as configuration: defaults, how overrides are merged, and the schema of `quirks:` in gateway.yaml. */

import { type Schema, type StyleName, schema } from '../../contracts/definitions.ts';
import type { Quirks, SomeQuirks } from '../../contracts/formats/quirks.ts';
import type { ModelQuirks } from '../../contracts/formats/vendor.ts';
import { SAMPLING_FIELDS } from './sampling.ts';

/** Defaults, for others to override. Permissive: an unsupported field fails visibly, a missing one does not. */
export const USUAL: Quirks = {
  roles: { developer: 'keep', mid_system: 'native', merge_same: true, merge_system: false, first_user: false },
  content: { array: true, tool_result_images: 'native' },
  image: { url: 'native' },
  file: { pdf: 'native', url: 'native', native_urls: [] },
  audio: { input: false, output: false },
  embeddings: { dimensions: true, base64: true, max_inputs: 2_048 },
  images: { form: 'plain', edits: 'form', answers: 'any', max: 10 },
  speech: { voices: ['alloy', 'echo', 'fable', 'onyx', 'nova', 'shimmer'] },
  tools: {
    name_max: 64,
    name_pattern: '^[a-zA-Z0-9_-]+$',
    id_max: 64,
    id_pattern: '^[a-zA-Z0-9_-]+$',
    strict: true,
    strict_required: true,
    custom: false,
    parallel_flag: true,
    empty_array_ok: false,
    root_union: true,
    force_with_thinking: true,
    web_search: false,
  },
  reasoning: {
    input: 'none',
    levels: ['low', 'medium', 'high'],
    unasked: false,
    budget_min: 1_024,
    budget_max: 32_768,
    echo: 'none',
    echo_filler: ' ',
    field: 'reasoning_content',
    signature_scope: 'credential_group',
    binding: false,
  },
  output: { json_object: true, json_schema: true, schema_with_tools: true },
  limits: { max_tokens_field: 'max_tokens', min_output: 1 },
  sampling: {
    allowed: Object.values(SAMPLING_FIELDS).map(({ name }) => name),
    temp_max: 2,
    temp_xor_top_p: false,
  },
  prefill: true,
  choices: false,
  threads: false,
  stop: { max: 4, array_only: true },
  cache: { hint: 'none' },
  stream: { rewrite: false },
  drop_fields: [],
  rename_fields: {},
  set_fields: {},
  routing_fields: [],
};

/** The defaults with these overrides, later over earlier ones: groups member by member, lists as a whole. */
export function layQuirks(...layers: readonly SomeQuirks[]): Quirks {
  const whole: Record<string, unknown> = { ...USUAL };
  for (const layer of layers) {
    for (const [name, value] of Object.entries(layer)) {
      const below = whole[name];
      whole[name] = isGroup(below) && isGroup(value) ? { ...below, ...value } : value;
    }
  }
  return whole as unknown as Quirks;
}

function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The vendor's quirks for a model of this name, in order; without a style, those that apply to all styles. Case-insensitive, because clients
 * and vendors mix cases.
 */
export function quirksOfModel(
  quirks: readonly ModelQuirks[] | undefined,
  model: string,
  style?: StyleName,
): readonly SomeQuirks[] {
  const applies = ({ models, styles }: ModelQuirks): boolean =>
    (styles === undefined || (style !== undefined && styles.includes(style))) && isOneOf(models, model);
  return (quirks ?? []).filter(applies).map((each) => each.quirks);
}

/** Whether a model's name matches one of these; `*` matches any characters. Undefined: any. */
export function isOneOf(models: readonly string[] | undefined, model: string): boolean {
  const name = model.toLowerCase();
  return models?.some((pattern) => matches(pattern.toLowerCase(), name)) ?? true;
}

/** Whether a name matches a pattern, in which `*` matches any characters. A configuration with thousands of models asks that for each of them. */
function matches(pattern: string, name: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = name.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

// ---- the schema

type Definition = Readonly<Record<string, unknown>>;

/** A group of quirks; the compiler ensures that none is missing. */
function group<K extends keyof Quirks>(
  description: string,
  properties: Readonly<Record<keyof Quirks[K] & string, Definition>>,
): Definition {
  return { type: 'object', additionalProperties: false, description, properties };
}
const flag = (description: string): Definition => ({ type: 'boolean', description });
const word = (description: string, ...words: readonly string[]): Definition => ({ enum: words, description });
const count = (description: string, minimum = 1): Definition => ({ type: 'integer', minimum, description });
const pattern = (description: string): Definition => ({
  type: 'string',
  title: 'regular expression',
  format: 'regex',
  examples: ['^[a-z_]+$'],
  description,
});
const listOf = (description: string, items: Definition): Definition => ({
  type: 'array',
  uniqueItems: true,
  items,
  description,
});
const name: Definition = { type: 'string', minLength: 1 };

const properties: Readonly<Record<keyof Quirks, Definition>> = {
  style: { ...name, description: "The only style to translate to if the client's own is not supported." },
  styles: listOf('The styles in which its vendor serves it; default: all of its channel.', name),
  roles: group<'roles'>('Supported roles and their order.', {
    developer: word('Whether the role `developer` is supported; otherwise it becomes `system`.', 'keep', 'system'),
    mid_system: word(
      'Instructions in the middle of the conversation: unchanged, moved to the front, or wrapped in a user message.',
      'native',
      'front',
      'user_wrap',
    ),
    merge_same: flag('Consecutive turns of one role are joined.'),
    merge_system: flag('Several instructions at the front are joined.'),
    first_user: flag("The first turn must be the user's."),
  }),
  content: group<'content'>('The content of messages.', {
    array: flag('False: content must be a string.'),
    tool_result_images: word(
      'Images inside tool results: supported, moved to a following user message, or not supported.',
      'native',
      'user_message',
      'drop',
    ),
  }),
  image: group<'image'>('Images in requests.', {
    url: word('Those given by URL: forwarded, fetched by the gateway, or refused.', 'native', 'fetch', 'refuse'),
    input: flag('The model accepts images; shown in the catalog.'),
    types: listOf('Accepted media types; default: any.', { ...name, examples: ['image/png'] }),
  }),
  file: group<'file'>('Files in requests.', {
    pdf: word('Documents: supported, sent as an image, or refused.', 'native', 'image_url', 'refuse'),
    url: word('Those given by URL: forwarded, fetched by the gateway, or refused.', 'native', 'fetch', 'refuse'),
    native_urls: listOf('URL prefixes that the vendor can always read itself.', {
      ...name,
      examples: ['https://files.example.com/'],
    }),
  }),
  audio: group<'audio'>('Sound.', { input: flag('It can hear.'), output: flag('It can speak.') }),
  embeddings: group<'embeddings'>('Embeddings.', {
    dimensions: {
      anyOf: [{ type: 'boolean' }, { type: 'integer', minimum: 1 }],
      title: 'true, false or a number',
      description: 'Whether the size of a vector can be set; a number: the maximum.',
    },
    base64: flag('Base64 vectors are supported; otherwise the gateway encodes them.'),
    max_inputs: count('The maximum number of texts per request.'),
  }),
  images: group<'images'>('Image generation.', {
    form: word('The request format: with prompt and size, or with input and parameters.', 'plain', 'structured'),
    edits: word('How images to edit are sent: as multipart files, or as URLs in JSON.', 'form', 'json'),
    answers: word('Supported values of response_format; otherwise the only format returned.', 'any', 'url', 'b64_json'),
    max: count('The maximum number of images per request.'),
  }),
  speech: group<'speech'>('Speech.', {
    voices: {
      anyOf: [{ const: 'any' }, listOf('Names.', { ...name, examples: ['alloy'] })],
      title: 'any, or a list of voices',
      description: 'Supported voices.',
    },
  }),
  tools: group<'tools'>('Tools and tool calls.', {
    name_max: count('The longest name.'),
    name_pattern: pattern('A regular expression for the whole name.'),
    id_max: count('The maximum length of a call id.'),
    id_pattern: pattern('A regular expression for the whole id.'),
    strict: flag('`strict` is known.'),
    strict_required: flag(
      'Strict schemas, also those of answers, must be closed and require every property; otherwise `strict` is turned off.',
    ),
    custom: flag('Custom tools (free-text input) are supported; otherwise they are wrapped in a function.'),
    parallel_flag: flag('Parallel tool calls can be disabled.'),
    empty_array_ok: flag(
      'An empty list of tools is accepted, and sent if there are tool calls but no tools. For vendors of the style `chat`.',
    ),
    root_union: flag(
      '`anyOf`, `oneOf` and the like are accepted at the top level of a schema; otherwise it is flattened to one object.',
    ),
    force_with_thinking: flag('A tool call can be forced while reasoning is enabled.'),
    thinking_styles: listOf('The styles in which it can call tools while it reasons; default: all.', name),
    web_search: flag('Web search is a vendor-side tool.'),
  }),
  reasoning: group<'reasoning'>('Reasoning.', {
    input: word(
      'How reasoning is requested. `adaptive`: the model decides, an effort may be given.',
      'none',
      'effort',
      'budget',
      'level',
      'adaptive',
    ),
    levels: listOf(
      'Supported values of effort; `none` among them: reasoning can be disabled.',
      word('An effort.', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
    ),
    unasked: flag('It reasons although the request says nothing about it.'),
    budget_min: count('The minimum reasoning budget in tokens.', 0),
    budget_max: count('The maximum reasoning budget in tokens.'),
    echo: word(
      'Whether reasoning of earlier turns must be sent back. `never`: it is refused.',
      'never',
      'none',
      'tool_turns',
      'all',
    ),
    echo_filler: { type: 'string', description: 'Placeholder for lost reasoning; empty: impossible.' },
    field: word(
      'The message field for reasoning. For vendors of the style `chat`.',
      'reasoning_content',
      'reasoning',
      'reasoning_details',
    ),
    signature_scope: word(
      'Where a signature is valid: at every channel of the style, or only at the one that returned it.',
      'provider',
      'credential_group',
    ),
    binding: flag(
      'Reasoning is bound to everything before it; on request, the vendor drops what no longer fits (`thinking.block_binding`).',
    ),
  }),
  output: group<'output'>('Answers in JSON.', {
    json_object: flag('JSON mode without a schema is supported.'),
    json_schema: flag('JSON mode with a schema is supported.'),
    schema_with_tools: flag('A schema can be combined with tools.'),
  }),
  limits: group<'limits'>('How much.', {
    max_output: count('The maximum output tokens.'),
    max_tokens_field: word('The field for that limit in a chat request.', 'max_tokens', 'max_completion_tokens'),
    min_output: count('The minimum value of that limit.'),
    context: count('The context window in tokens.'),
  }),
  sampling: group<'sampling'>('Sampling.', {
    allowed: listOf('Supported fields; others are dropped.', word('A field.', ...USUAL.sampling.allowed)),
    temp_max: { type: 'number', minimum: 0, description: 'The highest temperature.' },
    temp_xor_top_p: flag('Only one of temperature and top_p is accepted.'),
  }),
  prefill: {
    anyOf: [{ type: 'boolean' }, { const: 'restarts' }],
    title: 'true, false or restarts',
    description:
      'Prefill: the conversation may end with the beginning of the answer. `restarts`: it may, but the answer does not continue it.',
  },
  choices: flag('It returns several answers (`n`) to a request of another style, not in streams.'),
  threads: flag('The vendor keeps conversations, which requests of the style `messages` continue by `thread`.'),
  stop: group<'stop'>('Stop sequences.', {
    max: count('The maximum number; 0: the gateway detects them itself, at most 16 of 256 characters.', 0),
    array_only: flag('They must be a list even if there is only one; otherwise a single one is sent as a string.'),
  }),
  cache: group<'cache'>('Its prompt cache.', {
    hint: word('How prompt caching is requested.', 'none', 'cache_control', 'breakpoint', 'key'),
  }),
  stream: group<'stream'>('Its streams.', {
    usage: word(
      "How streams report usage: on request, always, or never; default: the channel's setting.",
      'include_usage',
      'always',
      'never',
    ),
    rewrite: flag(
      'Streams lack what clients of the same style need (roles, indexes, types, a finish reason): every event is decoded and encoded again instead of being forwarded.',
    ),
  }),
  drop_fields: listOf('Top-level fields to remove from requests.', name),
  rename_fields: {
    type: 'object',
    additionalProperties: name,
    description: 'Top-level fields to rename, with their new names.',
  },
  set_fields: {
    type: 'object',
    additionalProperties: {},
    description: 'Top-level fields to set in every request.',
  },
  routing_fields: listOf(
    'Top-level fields with which clients may choose another model or provider at the vendor (models, route, provider and their like); all others are removed, because the price is that of `model`.',
    name,
  ),
};

/** The schema of `quirks:` of a channel or a model. */
export const quirksSchema: Schema<SomeQuirks> = schema<SomeQuirks>({
  type: 'object',
  additionalProperties: false,
  description:
    'Capabilities of its models that differ from the defaults. If client and vendor use the same style, only fields and streams apply.',
  properties,
});
