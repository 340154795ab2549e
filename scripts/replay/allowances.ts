/** Values that another style spells differently, so that they are neither found nor lost. Each rule has its reason. */
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import type { ClientStyle } from './client.ts';
import type { VendorStyle } from './folder.ts';
import { isObject, listOf, objectOf, objectsOf, textOf } from './json.ts';
import { type Leaf, memberOf } from './leaves.ts';

/** A translated request: client style, vendor style, and the body for the vendor. */
export interface Crossing {
  readonly client: ClientStyle;
  readonly vendor: VendorStyle;
  readonly request: JsonObject;
  readonly sent: JsonObject;
  readonly warnings: readonly string[];
}

interface Rule {
  readonly why: string;
  holds(leaf: Leaf, crossing: Crossing): boolean;
}

/** Types that exist in every style; others must arrive or be reported. */
const TYPE_WORDS: ReadonlySet<string> = new Set([
  ...['text', 'input_text', 'output_text', 'refusal', 'message'],
  ...['image', 'image_url', 'input_image', 'input_audio', 'file', 'input_file', 'document', 'base64', 'url'],
  ...['function', 'custom', 'function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output'],
  ...['tool_use', 'tool_result', 'tool', 'allowed_tools'],
  ...['thinking', 'redacted_thinking', 'reasoning', 'summary_text', 'reasoning_text', 'document_url', 'video_url'],
  ...['reasoning.text', 'reasoning.summary', 'reasoning.encrypted', 'additional_tools', 'namespace'],
  ...['image_generation_call'],
  ...['url_citation', 'web_search_result_location', 'search_result_location', 'char_location', 'page_location'],
]);

/** Default values of fields. */
const DEFAULTS: Readonly<Record<string, readonly Json[]>> = {
  n: [1],
  parallel_tool_calls: [true],
  disable_parallel_tool_use: [false],
  is_error: [false],
  background: [false],
  truncation: ['disabled'],
  detail: ['auto'],
  service_tier: ['auto', 'default', 'standard_only'],
  prefix: [false],
  store: [false],
  external_web_access: [true],
  exclude: [false],
  // A vendor with the opposite default gets the value (below).
  strict: [false],
  ttl: ['5m'],
};

/** Fields for the amount of reasoning. */
const AMOUNTS: ReadonlySet<string> = new Set([
  ...[
    'effort',
    'reasoning_effort',
    'budget_tokens',
    'max_tokens',
    'thinking_budget',
    'enabled',
    'enable_thinking',
    'type',
  ],
]);
/** Fields that request visible reasoning. */
const THINKING: readonly string[] = ['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'output_config'];

const RULES: readonly Rule[] = [
  {
    why: 'the model has its upstream name, and at one vendor the path selects streaming',
    holds: ({ members: [top] }) => top === 'model' || top === 'stream' || top === 'stream_options',
  },
  {
    why: 'some vendors take ids of calls of at most 40 characters: longer ones keep their beginning',
    holds: (leaf, { vendor, sent }) => {
      const isId = ['id', 'call_id', 'tool_call_id', 'tool_use_id'].includes(memberOf(leaf));
      const id = String(leaf.value);
      return vendor === 'chat' && isId && id.length > 40 && JSON.stringify(sent).includes(`"${id.slice(0, 30)}`);
    },
  },
  {
    why: 'every style has its own names of roles',
    holds: (leaf) => memberOf(leaf) === 'role',
  },
  {
    why: 'every style has its own names of part and tool types',
    holds: (leaf) => memberOf(leaf) === 'type' && !isInSchema(leaf) && TYPE_WORDS.has(String(leaf.value)),
  },
  {
    why: 'web search is the only tool that several vendors run themselves, each under its own name',
    holds: (leaf, { sent }) =>
      leaf.members[0] === 'tools' &&
      ['type', 'name'].includes(memberOf(leaf)) &&
      String(leaf.value).includes('web_search') &&
      (sent.web_search_options !== undefined || /web_search|googleSearch/.test(JSON.stringify(sent.tools ?? []))),
  },
  {
    why: 'a client-side tool search is a function there, and its result a text that names the tools it found',
    holds: (leaf, { sent }) =>
      leaf.types.some((type) => type.startsWith('tool_search')) &&
      ['type', 'execution', 'status', 'id'].includes(memberOf(leaf)) &&
      /"name":"tool_search"/.test(JSON.stringify(sent.tools ?? [])),
  },
  {
    why: 'a default may be omitted',
    holds: (leaf, { vendor }) =>
      !isInSchema(leaf) &&
      !(vendor === 'responses' && memberOf(leaf) === 'strict') &&
      (DEFAULTS[memberOf(leaf)]?.includes(leaf.value) ?? false),
  },
  {
    why: 'disabling parallel calls is part of the tool choice in messages, and is omitted without tools',
    holds: ({ path, value }, { sent }) =>
      path === 'parallel_tool_calls' &&
      value === false &&
      (objectOf(sent.tool_choice).disable_parallel_tool_use === true || sent.tools === undefined),
  },
  {
    why: 'tools that the choice does not allow are omitted if the style has no such choice',
    holds: (leaf, { request }) => {
      const allowed = objectOf(request.tool_choice);
      const names = objectsOf(allowed.tools ?? objectOf(allowed.allowed_tools).tools).map(nameOf);
      const [, index] = /^tools\[(\d+)\]/.exec(leaf.path) ?? [];
      return (
        names.length > 0 && index !== undefined && !names.includes(nameOf(objectsOf(request.tools)[Number(index)]))
      );
    },
  },
  {
    why: 'the search context size is a number of searches there',
    holds: (leaf, { sent }) =>
      memberOf(leaf) === 'search_context_size' && objectsOf(sent.tools).some((tool) => tool.max_uses !== undefined),
  },
  {
    why: 'schemas are always strict there',
    holds: ({ path, value }, { vendor }) =>
      ['response_format.json_schema.strict', 'text.format.strict'].includes(path) &&
      value === true &&
      (vendor === 'messages' || vendor === 'gemini'),
  },
  {
    why: 'earlier turns are sent in full to a vendor that does not have them; unknown references are refused',
    holds: ({ path }) => path === 'previous_response_id',
  },
  {
    why: 'log probabilities are requested with a separate field',
    holds: ({ members: [top], value }, { sent, warnings }) =>
      top === 'include' &&
      value === 'message.output_text.logprobs' &&
      (sent.logprobs === true ||
        objectOf(sent.generationConfig).responseLogprobs === true ||
        warnings.some((warning) => /logprobs/.test(warning))),
  },
  {
    why: 'they are requested by `include`, or by another field',
    holds: ({ path, value }, { sent }) =>
      path === 'logprobs' &&
      value === true &&
      (listOf(sent.include).includes('message.output_text.logprobs') ||
        objectOf(sent.generationConfig).responseLogprobs === true),
  },
  {
    why: 'an error result has another member there, or is marked in its text',
    holds: (leaf, { sent, vendor }) =>
      memberOf(leaf) === 'is_error' &&
      vendor === 'gemini' &&
      JSON.stringify(sent.contents).includes('"response":{"error":'),
  },
  {
    why: 'a document of blocks is a text there; its blocks are compared',
    holds: (leaf) => memberOf(leaf) === 'type' && leaf.value === 'content' && leaf.types.includes('document'),
  },
  {
    why: 'plain text has no media type; bytes have one',
    holds: (leaf) => memberOf(leaf) === 'media_type' && leaf.value === 'text/plain',
  },
  {
    why: 'adaptive reasoning is the default if nothing is set',
    holds: ({ path, value }) => path === 'thinking.type' && value === 'adaptive',
  },
  {
    why: 'the tool choice is compared by its meaning (shapes.ts); names of tools are compared with the tools',
    holds: ({ members: [top] }) => top === 'tool_choice',
  },
  {
    why: 'the amount of reasoning is an effort, a number of tokens or a level',
    holds: (leaf, { sent }) =>
      THINKING.includes(leaf.members[0] ?? '') &&
      leaf.members[1] !== 'format' &&
      AMOUNTS.has(memberOf(leaf)) &&
      thinksIn(sent),
  },
  {
    why: 'reasoning is always returned, or requested with a flag',
    holds: ({ path, value }) =>
      ['reasoning.summary', 'reasoning.generate_summary'].includes(path)
        ? value === 'auto'
        : path === 'thinking.display' && value === 'summarized',
  },
  {
    why: 'the gateway truncates a conversation if its vendor cannot; the turns are compared',
    holds: ({ path, value }, { vendor }) => path === 'truncation' && value === 'auto' && vendor !== 'chat',
  },
  {
    why: 'the response format has another type in every style; its schema is compared',
    holds: (leaf, { sent }) =>
      ['response_format', 'text', 'output_config'].includes(leaf.members[0] ?? '') &&
      memberOf(leaf) === 'type' &&
      !isInSchema(leaf) &&
      (leaf.value === 'text' || formatsIn(sent)),
  },
  {
    why: 'the gateway itself stores answers, if the client requests it',
    holds: ({ path }, { client }) => path === 'store' && client === 'responses',
  },
  {
    why: 'calls and results are paired by name and order at a vendor without ids',
    holds: (leaf, { vendor }) =>
      vendor === 'gemini' && ['id', 'call_id', 'tool_call_id', 'tool_use_id'].includes(memberOf(leaf)),
  },
  {
    why: 'an id with characters that are not allowed there is replaced on both sides',
    holds: (leaf) =>
      ['id', 'call_id', 'tool_call_id', 'tool_use_id'].includes(memberOf(leaf)) &&
      !/^[a-zA-Z0-9_-]{1,64}$/.test(String(leaf.value)),
  },
  {
    why: 'clients of other styles get sealed reasoning without requesting it',
    holds: ({ members: [top], value }) => top === 'include' && value === 'reasoning.encrypted_content',
  },
  {
    why: 'the id of the end user is sent as a digest if it is too long',
    holds: ({ path, value }, { sent }) =>
      ['user', 'safety_identifier', 'metadata.user_id'].includes(path) &&
      String(value).length > 64 &&
      (sent.user !== undefined || sent.safety_identifier !== undefined || isObject(sent.metadata)),
  },
  {
    why: 'one style requires a name of the format, others have none',
    holds: ({ path }, { vendor }) =>
      ['response_format.json_schema.name', 'text.format.name'].includes(path) &&
      (vendor === 'messages' || vendor === 'gemini'),
  },
];

/** The name of a tool, at whatever depth. */
function nameOf(tool: JsonObject | undefined): string {
  return textOf(tool?.name ?? objectOf(tool?.function ?? tool?.custom).name);
}

/** True inside the schema of a tool or of the answer, where every word counts. */
function isInSchema({ members }: Leaf): boolean {
  return members.slice(0, -1).some((name) => ['parameters', 'input_schema', 'schema'].includes(name));
}

function thinksIn(sent: JsonObject): boolean {
  const { thinkingConfig } = objectOf(sent.generationConfig);
  return THINKING.some((name) => sent[name] !== undefined) || thinkingConfig !== undefined;
}

function formatsIn(sent: JsonObject): boolean {
  return (
    sent.response_format !== undefined ||
    objectOf(sent.text).format !== undefined ||
    objectOf(sent.output_config).format !== undefined ||
    objectOf(sent.generationConfig).responseMimeType !== undefined
  );
}

/** Whether a leaf of a request may be missing in the vendor's body. */
export function excusedInRequest(crossing: Crossing): (leaf: Leaf) => boolean {
  return (leaf) => RULES.some((rule) => rule.holds(leaf, crossing));
}

/** Envelope members of a whole answer: id, time, machine, echo of the request. */
const ENVELOPE: Readonly<Record<VendorStyle, ReadonlySet<string>>> = {
  chat: new Set([
    ...['id', 'object', 'created', 'model', 'system_fingerprint', 'service_tier', 'usage', 'request_id', 'obfuscation'],
    ...['x_groq', 'finish_reason', 'native_finish_reason'],
  ]),
  // Most of it repeats the request.
  responses: new Set([
    ...['id', 'object', 'created_at', 'completed_at', 'model', 'status', 'usage', 'billing', 'background'],
    ...['conversation', 'error', 'incomplete_details', 'instructions', 'max_output_tokens', 'max_tool_calls'],
    ...['metadata', 'parallel_tool_calls', 'previous_response_id', 'prompt_cache_key', 'prompt_cache_retention'],
    ...['prompt', 'reasoning', 'safety_identifier', 'service_tier', 'store', 'temperature', 'text', 'tool_choice'],
    ...['tools', 'top_logprobs', 'top_p', 'truncation', 'user', 'frequency_penalty', 'presence_penalty'],
    ...['prompt_cache_options', 'context_management'],
  ]),
  messages: new Set(['id', 'type', 'role', 'model', 'stop_reason', 'usage']),
  // Details of a normal end add nothing to the finish reason.
  gemini: new Set(['modelVersion', 'responseId', 'createTime', 'usageMetadata', 'finishReason', 'finishMessage']),
};

/** Members of answer blocks that other styles express differently or generate. */
const MADE_ANEW: ReadonlySet<string> = new Set(['id', 'call_id', 'status', 'role', 'object', 'index', 'format']);

/** Offsets, which every style counts differently, and probabilities, which lose digits. */
const COUNTED_ELSEWHERE: ReadonlySet<string> = new Set([
  ...['index', 'start_index', 'end_index', 'startIndex', 'endIndex', 'groundingChunkIndices'],
  ...['logprob', 'logProbability', 'bytes', 'tokenId'],
]);

/** Whether a leaf of an answer may be missing in the client's answer. */
export function excusedInAnswer(vendor: VendorStyle): (leaf: Leaf) => boolean {
  return (leaf) => {
    const { members, value } = leaf;
    const [top = '', next = ''] = members;
    if (ENVELOPE[vendor].has(top)) return true;
    if ((top === 'choices' || top === 'candidates') && ENVELOPE[vendor].has(next)) return true;
    const member = memberOf(leaf);
    // False and zero are the default.
    if (value === false || value === 0 || COUNTED_ELSEWHERE.has(member)) return true;
    // Other styles imply that the model itself calls a tool.
    if (member === 'type' && value === 'direct' && members.at(-2) === 'caller') return true;
    if (member === 'type') return TYPE_WORDS.has(String(value));
    // The finish reason explains an empty answer; the id of the last token has no meaning in other styles.
    if (member === 'blockReason' || (member === 'stop_reason' && typeof value === 'number')) return true;
    // Audio has the requested format.
    if (member === 'mimeType' && String(value).startsWith('audio/')) return true;
    // The block marks reasoning, and its end is the start of the next block.
    if (vendor === 'chat' && member === 'closed') return true;
    if (vendor === 'gemini' && member === 'thought') return true;
    // Results of vendor-side tools are searched completely; only their ids are ignored.
    return MADE_ANEW.has(member);
  };
}
