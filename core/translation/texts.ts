/** Maps the texts of a conversation, so that plugins can inspect or replace them without knowing its structure. */
import type {
  Block,
  Citation,
  Conversation,
  Labels,
  Output,
  Tool,
  Turn,
  WebSearch,
} from '../contracts/conversation.ts';
import type { Json, JsonObject } from '../contracts/json.ts';
import { isObject } from './fields.ts';
import { mapChanged, withBlocks } from './unchanged.ts';
import { parsed } from './values.ts';

/** Maps one text. */
export type TextMap = (text: string) => string;

/** Members whose strings are not texts: ids, types, URLs, media, encrypted data. */
const FOR_MACHINES: ReadonlySet<string> = new Set([
  ...[
    'type',
    'id',
    'role',
    'status',
    'phase',
    'object',
    'style',
    'format',
    'encrypted_content',
    'encrypted_index',
    'signature',
  ],
  ...['data', 'b64_json', 'file_data', 'image', 'image_url', 'file_url', 'url', 'source', 'media_type', 'model'],
]);

/** Maps the strings in any JSON, except names of members and what is no text. The same value if none changes. */
export function mapJson<T extends Json>(value: T, map: TextMap): T {
  if (typeof value === 'string') return map(value) as T;
  if (Array.isArray(value))
    return mapChanged<Json>(value as readonly Json[], (item) => mapJson(item, map)) as unknown as T;
  if (!isObject(value)) return value;
  let changed: Record<string, Json> | undefined;
  for (const name of Object.keys(value)) {
    const member = value[name]!;
    if (typeof member === 'string' && (FOR_MACHINES.has(name) || name.endsWith('_id'))) continue;
    const own = mapJson(member, map);
    if (own === member) continue;
    changed ??= { ...value };
    changed[name] = own;
  }
  return (changed ?? value) as T;
}

/** String and number tokens. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/gs;

/**
 * Maps the strings in JSON text, names of members included, and its numbers; a changed number becomes a string. The
 * rest of the text is unchanged. Text that is not JSON is one text.
 */
export function mapArguments(text: string, map: TextMap): string {
  if (text === '') return text;
  if (parsed(text) === undefined) return map(text);
  return text.replace(TOKENS, (token) => {
    const text = token.startsWith('"') ? (JSON.parse(token) as string) : token;
    const own = map(text);
    return own === text ? token : JSON.stringify(own);
  });
}

/** Maps every text of a conversation, first those that are the same in each of its requests: tools and labels. */
export function mapConversation(conversation: Conversation, map: TextMap): Conversation {
  const tools = mapChanged(conversation.tools, (tool) => mapTool(tool, map));
  const labels = mapLabels(conversation.labels, map);
  const output = mapOutput(conversation.output, map);
  const stop = mapChanged(conversation.stop, map);
  const extras = mapJson(conversation.extras, map);
  const turns = mapChanged(conversation.turns, (turn) => mapTurn(turn, map));
  const isSame =
    tools === conversation.tools &&
    labels === conversation.labels &&
    output === conversation.output &&
    stop === conversation.stop &&
    extras === conversation.extras &&
    turns === conversation.turns;
  return isSame ? conversation : { ...conversation, tools, labels, output, stop, extras, turns };
}

/** The object with these members; itself if they are equal. */
function withMembers<T extends object>(object: T, members: Partial<T>): T {
  for (const name in members) if (members[name] !== object[name]) return { ...object, ...members };
  return object;
}

function mapTool(tool: Tool, map: TextMap): Tool {
  switch (tool.type) {
    case 'function':
      return withMembers(tool, {
        ...(tool.description !== undefined && { description: map(tool.description) }),
        ...(tool.schema !== undefined && { schema: mapSchema(tool.schema, map) }),
        ...(tool.extras !== undefined && { extras: mapJson(tool.extras, map) }),
      });
    case 'custom':
      return withMembers(tool, {
        ...(tool.description !== undefined && { description: map(tool.description) }),
        ...(tool.format !== undefined && { format: mapJson(tool.format, map) }),
        ...(tool.extras !== undefined && { extras: mapJson(tool.extras, map) }),
      });
    case 'hosted':
      return withMembers(tool, {
        raw: mapJson(tool.raw, map),
        ...(tool.search !== undefined && { search: mapSearch(tool.search, map) }),
      });
  }
}

/** The web search options in the common form. */
function mapSearch(search: WebSearch, map: TextMap): WebSearch {
  return withMembers(search, {
    ...(search.location !== undefined && { location: mapJson(search.location, map) }),
    ...(search.extras !== undefined && { extras: mapJson(search.extras, map) }),
  });
}

/** In a schema, names of members are arbitrary: only its keywords for descriptions, and its constants, are texts. */
const SCHEMA_TEXTS: ReadonlySet<string> = new Set([
  'description',
  'title',
  'default',
  'const',
  'enum',
  'examples',
  '$comment',
]);

function mapSchema<T extends Json>(schema: T, map: TextMap): T {
  if (Array.isArray(schema)) {
    return mapChanged<Json>(schema as readonly Json[], (item) => mapSchema(item, map)) as unknown as T;
  }
  if (!isObject(schema)) return schema;
  let changed: Record<string, Json> | undefined;
  for (const name of Object.keys(schema)) {
    const member = schema[name]!;
    // A property named like a keyword is a schema itself.
    const own = SCHEMA_TEXTS.has(name) && !isSchema(member) ? mapJson(member, map) : mapSchema(member, map);
    if (own === member) continue;
    changed ??= { ...schema };
    changed[name] = own;
  }
  return (changed ?? schema) as T;
}

function isSchema(value: Json): boolean {
  return isObject(value) && ('type' in value || 'anyOf' in value || '$ref' in value);
}

function mapLabels(labels: Labels, map: TextMap): Labels {
  return withMembers(labels, {
    ...(labels.user !== undefined && { user: map(labels.user) }),
    ...(labels.metadata !== undefined && { metadata: mapMetadata(labels.metadata, map) }),
    ...(labels.cacheKey !== undefined && { cacheKey: map(labels.cacheKey) }),
  });
}

/** Clients choose its member names. */
function mapMetadata(metadata: JsonObject, map: TextMap): JsonObject {
  const mapped = Object.entries(metadata).map(([name, value]) => [name, mapJson(value, map)] as const);
  return mapped.every(([name, value]) => value === metadata[name]) ? metadata : Object.fromEntries(mapped);
}

function mapOutput(output: Output, map: TextMap): Output {
  const { format } = output;
  if (format?.type !== 'schema') return output;
  const own = withMembers(format, {
    ...(format.description !== undefined && { description: map(format.description) }),
    schema: mapSchema(format.schema, map),
  });
  return withMembers(output, { format: own });
}

function mapTurn(turn: Turn, map: TextMap): Turn {
  const own = withBlocks(turn, mapBlocks(turn.blocks, map));
  if (turn.name === undefined) return own;
  const name = map(turn.name);
  // Styles allow little more than letters and digits in a name.
  return name === turn.name ? own : { ...own, name: name.replaceAll(/[^\w-]/g, '') };
}

/** Maps the texts of blocks, of a turn or of an answer. */
export function mapBlocks(blocks: readonly Block[], map: TextMap): readonly Block[] {
  return mapChanged(blocks, (block) => mapBlock(block, map));
}

function mapBlock(block: Block, map: TextMap): Block {
  switch (block.type) {
    case 'text': {
      const text = map(block.text);
      const { citations } = block;
      const own = withMembers(block, {
        text,
        ...(citations !== undefined && { citations: mapChanged(citations, (each) => mapCitation(each, map)) }),
      });
      // Log probabilities contain the original text token by token.
      if (text === block.text || own.logprobs === undefined) return own;
      const { logprobs: _, ...rest } = own;
      return rest;
    }
    case 'refusal':
    case 'thinking':
      return withMembers(block, { text: map(block.text) });
    case 'audio':
      return block.transcript === undefined ? block : withMembers(block, { transcript: map(block.transcript) });
    case 'file':
      return withMembers(block, {
        ...(block.name !== undefined && { name: map(block.name) }),
        ...(block.title !== undefined && { title: map(block.title) }),
        ...(block.context !== undefined && { context: map(block.context) }),
        ...(block.source.kind === 'text' && { source: withMembers(block.source, { text: map(block.source.text) }) }),
      });
    case 'image':
      return block.source.kind === 'text'
        ? withMembers(block, { source: withMembers(block.source, { text: map(block.source.text) }) })
        : block;
    case 'toolCall':
      return withMembers(block, { input: mapInput(block.kind, block.input, map) });
    case 'toolResult':
      return withMembers(block, { content: mapBlocks(block.content, map) });
    case 'foreign':
      return withMembers(block, { raw: mapJson(block.raw, map) });
  }
}

/** Maps the input of a tool call of this kind. */
export function mapInput(kind: 'function' | 'custom', input: string, map: TextMap): string {
  return kind === 'function' ? mapArguments(input, map) : map(input);
}

/** Maps the quoted words of a citation. Its offsets stay. */
export function mapCitation(citation: Citation, map: TextMap): Citation {
  return withMembers(citation, {
    ...(citation.title !== undefined && { title: map(citation.title) }),
    ...(citation.quote !== undefined && { quote: map(citation.quote) }),
    raw: mapJson(citation.raw, map),
  });
}

/** Maps the strings in some members of a body, in order. */
export function textsIn(values: readonly (Json | undefined)[]): readonly string[] {
  const found: string[] = [];
  for (const value of values) {
    if (value === undefined) continue;
    mapJson(value, (text) => {
      found.push(text);
      return text;
    });
  }
  return found;
}

/** Whether a value is token ids, or a list of them. */
export function isTokens(value: Json | undefined): boolean {
  if (!Array.isArray(value)) return false;
  const first = (value as readonly Json[])[0];
  return typeof first === 'number' || (Array.isArray(first) && typeof first[0] === 'number');
}

/** A JSON object with some members replaced; undefined ones stay. */
export function changedMembers(
  members: Readonly<Record<string, Json | undefined>>,
  texts: readonly string[],
): JsonObject {
  const left = texts.values();
  const changes: Record<string, Json> = {};
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    const own = mapJson(value, (text) => left.next().value ?? text);
    if (own !== value) changes[name] = own;
  }
  return changes;
}
