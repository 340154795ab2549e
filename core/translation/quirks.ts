/** Quirks as configuration: what any model takes, how what is special is laid over it, and how `quirks:` in gateway.yaml must look. */
import type { Quirks, SomeQuirks } from '../contracts/quirks.ts';
import type { ModelQuirks } from '../contracts/vendor.ts';
import { type Schema, schema } from '../definitions.ts';

/** What any model takes, unless its style, its vendor or gateway.yaml says otherwise. Permissive: a field too many tells more than one too few. */
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
    custom: false,
    parallel_flag: true,
    empty_array_ok: false,
    schema_dialect: 'json_schema',
    root_union: true,
    force_with_thinking: true,
    web_search: false,
  },
  reasoning: {
    input: 'none',
    levels: ['low', 'medium', 'high'],
    budget_min: 1_024,
    budget_max: 32_768,
    echo: 'none',
    echo_filler: ' ',
    field: 'reasoning_content',
    signature_scope: 'credential_group',
  },
  output: { json_object: true, json_schema: true, schema_with_tools: true },
  limits: { max_tokens_field: 'max_tokens', min_output: 1 },
  sampling: {
    allowed: [
      'temperature',
      'top_p',
      'top_k',
      'seed',
      'presence_penalty',
      'frequency_penalty',
      'logit_bias',
      'logprobs',
    ],
    temp_max: 2,
    temp_xor_top_p: false,
  },
  prefill: true,
  stop: { max: 4, array_only: true },
  cache: { hint: 'none' },
  stream: { rewrite: false },
  drop_fields: [],
  rename_fields: {},
  set_fields: {},
};

/** The usual quirks with these laid over them, later ones over earlier ones: member by member within a group, lists as a whole. */
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

/** What a vendor says about a model of this name, in its order. Upper and lower case are alike: clients and vendors mix them. */
export function quirksOfModel(quirks: readonly ModelQuirks[] | undefined, model: string): readonly SomeQuirks[] {
  return (quirks ?? []).filter(({ models }) => isOneOf(models, model)).map((each) => each.quirks);
}

/** Whether a model's name is one of these; `*` stands for any characters. Undefined: any is. */
export function isOneOf(models: readonly string[] | undefined, model: string): boolean {
  const name = model.toLowerCase();
  return models?.some((pattern) => matches(pattern.toLowerCase(), name)) ?? true;
}

/** Whether a name is one of a pattern's, in which `*` stands for any characters. */
function matches(pattern: string, name: string): boolean {
  const pieces = pattern.split('*').map((piece) => piece.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  return new RegExp(`^${pieces.join('.*')}$`, 's').test(name);
}

// ---- as it is written

type Definition = Readonly<Record<string, unknown>>;

/** A group of quirks; the compiler sees to it that none is forgotten. */
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
  style: { ...name, description: "The only style to be spoken where the client's own cannot be." },
  roles: group<'roles'>('Who may say what, and in which order.', {
    developer: word('Whether the role `developer` is known, or becomes `system`.', 'keep', 'system'),
    mid_system: word(
      'Instructions in the middle: as they are, moved to the front, or told by the user in a wrapper.',
      'native',
      'front',
      'user_wrap',
    ),
    merge_same: flag('Turns of one side that follow each other become one.'),
    merge_system: flag('Several instructions at the front become one.'),
    first_user: flag('The user has to speak first.'),
  }),
  content: group<'content'>('What a message may hold.', {
    array: flag('False: content must be a string.'),
    tool_result_images: word(
      "Images inside tool results: there, in a message of the user's behind them, or not at all.",
      'native',
      'user_message',
      'drop',
    ),
  }),
  image: group<'image'>('Images in requests.', {
    url: word(
      'Those given by their address: passed on, fetched by the gateway, or refused.',
      'native',
      'fetch',
      'refuse',
    ),
    input: flag('The model takes images; shown in the catalog.'),
    types: listOf('The media types it takes; else any.', { ...name, examples: ['image/png'] }),
  }),
  file: group<'file'>('Files in requests.', {
    pdf: word('Documents: as they are, in the place of an image, or refused.', 'native', 'image_url', 'refuse'),
    url: word(
      'Those given by their address: passed on, fetched by the gateway, or refused.',
      'native',
      'fetch',
      'refuse',
    ),
    native_urls: listOf('Beginnings of addresses that the vendor itself can always read.', {
      ...name,
      examples: ['https://files.example.com/'],
    }),
  }),
  audio: group<'audio'>('Sound.', { input: flag('It can hear.'), output: flag('It can speak.') }),
  embeddings: group<'embeddings'>('Embeddings.', {
    dimensions: {
      anyOf: [{ type: 'boolean' }, { type: 'integer', minimum: 1 }],
      title: 'true, false or a number',
      description: 'Whether the size of a vector can be asked for; a number: up to this one.',
    },
    base64: flag('Vectors can be asked for in base64; else the gateway writes them so.'),
    max_inputs: count('The most texts of one request.'),
  }),
  images: group<'images'>('Images to be made.', {
    form: word('How requests are written: with prompt and size, or with input and parameters.', 'plain', 'structured'),
    edits: word('How images to be edited are sent: as files of a form, or in JSON by their addresses.', 'form', 'json'),
    answers: word('What can be asked for with response_format; else what always comes.', 'any', 'url', 'b64_json'),
    max: count('The most images of one request.'),
  }),
  speech: group<'speech'>('Speech.', {
    voices: {
      anyOf: [{ const: 'any' }, listOf('Names.', { ...name, examples: ['alloy'] })],
      title: 'any, or a list of voices',
      description: 'The voices it has.',
    },
  }),
  tools: group<'tools'>('Tools and their calls.', {
    name_max: count('The longest name.'),
    name_pattern: pattern('How a whole name must look.'),
    id_max: count('The longest id of a call.'),
    id_pattern: pattern('How a whole id must look.'),
    strict: flag('`strict` is known.'),
    custom: flag('Tools called with free text are known; else they are wrapped in a function.'),
    parallel_flag: flag('One call at a time can be asked for.'),
    empty_array_ok: flag(
      'An empty list of tools is taken, and sent where there are calls but no tools. For vendors of the style `chat`.',
    ),
    schema_dialect: word(
      'How schemas are written. For vendors whose style knows both ways; in `chat`, `responses` and `messages` they are JSON Schema.',
      'json_schema',
      'openapi_subset',
    ),
    root_union: flag(
      '`anyOf`, `oneOf` and the like are taken at the top level of a schema; else it becomes one object.',
    ),
    force_with_thinking: flag('A call can be forced while the model thinks.'),
    web_search: flag("Web search is one of the vendor's own tools."),
  }),
  reasoning: group<'reasoning'>('How the model thinks.', {
    input: word(
      'How thinking is asked for. `adaptive`: the model decides, an effort may be named.',
      'none',
      'effort',
      'budget',
      'level',
      'adaptive',
    ),
    levels: listOf(
      'The words it knows for effort; `none` among them: it can be told not to think.',
      word('An effort.', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
    ),
    budget_min: count('The fewest tokens to think with.', 0),
    budget_max: count('The most tokens to think with.'),
    echo: word('Whether thoughts of earlier turns must be sent back.', 'none', 'tool_turns', 'all'),
    echo_filler: { type: 'string', description: 'What stands for a thought that is lost; empty: nothing can.' },
    field: word(
      'The member that thoughts have in a message. For vendors of the style `chat`.',
      'reasoning_content',
      'reasoning',
      'reasoning_details',
    ),
    signature_scope: word(
      'Who can read a signature again: every channel of the style, or only the one that gave it.',
      'provider',
      'credential_group',
    ),
  }),
  output: group<'output'>('Answers in JSON.', {
    json_object: flag('JSON of any shape can be asked for.'),
    json_schema: flag('JSON of a schema can be asked for.'),
    schema_with_tools: flag('A schema and tools can stand in one request.'),
  }),
  limits: group<'limits'>('How much.', {
    max_output: count('The most tokens of an answer.'),
    max_tokens_field: word('What a chat request calls that limit.', 'max_tokens', 'max_completion_tokens'),
    min_output: count('The lowest limit it takes.'),
    context: count('The context window in tokens.'),
  }),
  sampling: group<'sampling'>('How words are drawn.', {
    allowed: listOf('The fields it takes; the others are left out.', word('A field.', ...USUAL.sampling.allowed)),
    temp_max: { type: 'number', minimum: 0, description: 'The highest temperature.' },
    temp_xor_top_p: flag('Only one of temperature and top_p.'),
  }),
  prefill: flag('The conversation may end with the beginning of the answer.'),
  stop: group<'stop'>('Texts that end the answer.', {
    max: count('How many it takes; 0: the gateway looks for them itself, 16 of 256 characters at most.', 0),
    array_only: flag('They must stand in a list, one alone as well; else one is sent as a string.'),
  }),
  cache: group<'cache'>('Its prompt cache.', {
    hint: word('How it is told what will come again.', 'none', 'cache_control', 'breakpoint', 'key'),
  }),
  stream: group<'stream'>('Its streams.', {
    usage: word(
      'How they tell their usage: when asked to, always, or never; else as the channel says.',
      'include_usage',
      'always',
      'never',
    ),
    rewrite: flag(
      'They lack what clients of the same style need (roles, indexes, types, a reason to end): each is read and written again instead of being passed on.',
    ),
  }),
  drop_fields: listOf('Top-level fields that are left out of what it gets.', name),
  rename_fields: {
    type: 'object',
    additionalProperties: name,
    description: 'Top-level fields and what it calls them.',
  },
  set_fields: {
    type: 'object',
    additionalProperties: {},
    description: 'Top-level fields that it gets whatever was asked.',
  },
};

/** How `quirks:` of a channel or of a model must look. */
export const quirksSchema: Schema<SomeQuirks> = schema<SomeQuirks>({
  type: 'object',
  additionalProperties: false,
  description:
    'What its models take that is not usual. Where client and vendor speak one style, only fields and streams count.',
  properties,
});
