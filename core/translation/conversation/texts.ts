/** Maps the texts of a conversation, so that plugins can inspect or replace them without knowing its structure. */

import { isObject } from '../../bytes/fields.ts';
import { parsed } from '../../bytes/values.ts';
import type {
  Block,
  Citation,
  Conversation,
  CustomTool,
  FileBlock,
  FunctionTool,
  HostedTool,
  Labels,
  Output,
  RefusalBlock,
  Source,
  TextBlock,
  ThinkingBlock,
  Tool,
  Turn,
  WebSearch,
} from '../../contracts/formats/conversation.ts';
import type { Json, JsonObject } from '../../contracts/formats/json.ts';
import { mapChanged, withBlocks } from '../unchanged.ts';

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

/** Gives `see` each text in any JSON, once, and each name of a member. Not what `mapJson` leaves out, and not arguments of tools, which are JSON. */
export function eachText(value: Json, see: (text: string) => void): void {
  const seen = new Set<string>();
  const once = (text: string): void => {
    if (seen.has(text)) return;
    seen.add(text);
    see(text);
  };
  const visit = (each: Json): void => {
    if (typeof each === 'string') once(each);
    else if (Array.isArray(each)) for (const item of each as readonly Json[]) visit(item);
    else if (isObject(each)) {
      for (const [name, member] of Object.entries(each)) {
        once(name);
        const isNoText = FOR_MACHINES.has(name) || name.endsWith('_id') || name === 'arguments' || name === 'name';
        if (typeof member !== 'string' || !isNoText) visit(member);
      }
    }
  };
  visit(value);
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

/** How the members of an object are mapped; one that is missing stays missing. */
type Mappers<T> = { readonly [K in keyof T]?: (value: Exclude<T[K], undefined>, map: TextMap) => T[K] };

/** The object with these members mapped, in their order; itself if none changes. */
function mapMembers<T extends object>(object: T, mappers: Mappers<T>, map: TextMap): T {
  let changed: T | undefined;
  for (const name in mappers) {
    const value = object[name];
    if (value === undefined) continue;
    const own = mappers[name]!(value as Exclude<T[typeof name], undefined>, map);
    if (own === value) continue;
    changed ??= { ...object };
    changed[name] = own;
  }
  return changed ?? object;
}

function mapText(text: string, map: TextMap): string {
  return map(text);
}

/** First those that are the same in each request of a conversation: tools and labels. */
const IN_CONVERSATION: Mappers<Conversation> = {
  tools: (tools, map) => mapChanged(tools, (tool) => mapTool(tool, map)),
  labels: (labels, map) => mapMembers(labels, IN_LABELS, map),
  output: (output, map) => mapMembers(output, IN_OUTPUT, map),
  stop: mapChanged,
  extras: mapJson,
  turns: (turns, map) => mapChanged(turns, (turn) => mapTurn(turn, map)),
};
const IN_FUNCTION: Mappers<FunctionTool> = { description: mapText, schema: mapSchema, extras: mapJson };
const IN_CUSTOM: Mappers<CustomTool> = { description: mapText, format: mapJson, extras: mapJson };
const IN_SEARCH: Mappers<WebSearch> = { location: mapJson, extras: mapJson };
const IN_HOSTED: Mappers<HostedTool> = {
  raw: mapJson,
  search: (search, map) => mapMembers(search, IN_SEARCH, map),
};
const IN_LABELS: Mappers<Labels> = { user: mapText, metadata: mapMetadata, cacheKey: mapText };
const IN_FORMAT: Mappers<Extract<Output['format'], { readonly type: 'schema' }>> = {
  description: mapText,
  schema: mapSchema,
};
const IN_OUTPUT: Mappers<Output> = {
  format: (format, map) => (format.type === 'schema' ? mapMembers(format, IN_FORMAT, map) : format),
};
const IN_CITATION: Mappers<Citation> = { title: mapText, quote: mapText, raw: mapJson };
const IN_TEXT: Mappers<TextBlock> = {
  text: mapText,
  citations: (citations, map) => mapChanged(citations, (each) => mapCitation(each, map)),
};
const IN_FILE: Mappers<FileBlock> = { name: mapText, title: mapText, context: mapText, source: mapSource };

/** Maps every text of a conversation. */
export function mapConversation(conversation: Conversation, map: TextMap): Conversation {
  return mapMembers(conversation, IN_CONVERSATION, map);
}

function mapTool(tool: Tool, map: TextMap): Tool {
  switch (tool.type) {
    case 'function':
      return mapMembers(tool, IN_FUNCTION, map);
    case 'custom':
      return mapMembers(tool, IN_CUSTOM, map);
    case 'hosted':
      return mapMembers(tool, IN_HOSTED, map);
  }
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
    const own = mapKeyword(name, member, map);
    if (own === member) continue;
    changed ??= { ...schema };
    changed[name] = own;
  }
  return (changed ?? schema) as T;
}

function mapKeyword(name: string, member: Json, map: TextMap): Json {
  // Arguments have the names of properties, too, and get them back.
  if (name === 'properties' && isObject(member)) return mapNames(mapProperties(member, map), map);
  if (NAME_LISTS.has(name) && Array.isArray(member)) return mapJson(member, map);
  // A property named like a keyword is a schema itself.
  return SCHEMA_TEXTS.has(name) && !isSchema(member) ? mapJson(member, map) : mapSchema(member, map);
}

/** Lists of names of properties. */
const NAME_LISTS: ReadonlySet<string> = new Set(['required', 'propertyOrdering']);

/** The schemas of properties, whatever their names are. */
function mapProperties(properties: JsonObject, map: TextMap): JsonObject {
  let changed: Record<string, Json> | undefined;
  for (const [name, schema] of Object.entries(properties)) {
    const own = mapSchema(schema, map);
    if (own === schema) continue;
    changed ??= { ...properties };
    changed[name] = own;
  }
  return changed ?? properties;
}

/** Maps names of members that clients choose. */
function mapNames(object: JsonObject, map: TextMap): JsonObject {
  const names = Object.keys(object);
  const mapped = names.map(map);
  if (mapped.every((name, i) => name === names[i])) return object;
  return Object.fromEntries(mapped.map((name, i) => [name, object[names[i]!]!]));
}

function isSchema(value: Json): boolean {
  return isObject(value) && ('type' in value || 'anyOf' in value || '$ref' in value);
}

/** Clients choose its member names, even those that are for machines otherwise. */
function mapMetadata(metadata: JsonObject, map: TextMap): JsonObject {
  const mapped = Object.entries(metadata).map(([name, value]) => [name, mapJson(value, map)] as const);
  const isSame = mapped.every(([name, value]) => value === metadata[name]);
  return mapNames(isSame ? metadata : Object.fromEntries(mapped), map);
}

function mapTurn(turn: Turn, map: TextMap): Turn {
  const own = withBlocks(turn, mapAdjacent(turn.blocks, map));
  if (turn.name === undefined) return own;
  const name = map(turn.name);
  // Styles allow little more than letters and digits in a name.
  return name === turn.name ? own : { ...own, name: name.replaceAll(/[^\w-]/g, '') };
}

/**
 * Maps the texts of blocks that a request has. A model reads adjacent texts as one, so they are also mapped together, on lines of their own and
 * without anything between them: if that changes more, they become one text.
 */
function mapAdjacent(blocks: readonly Block[], map: TextMap): readonly Block[] {
  const mapped = mapBlocks(blocks, map);
  let joined: Block[] | undefined;
  for (let from = 0; from < blocks.length; ) {
    const end = endOfTexts(blocks, from);
    if (end - from > 1) {
      const text = mapTogether(textsOf(blocks.slice(from, end)), textsOf(mapped.slice(from, end)), map);
      if (text !== undefined) joined ??= mapped.slice(0, from);
      if (text !== undefined) joined!.push({ type: 'text', text });
      else joined?.push(...mapped.slice(from, end));
    } else {
      joined?.push(mapped[from]!);
    }
    from = Math.max(end, from + 1);
  }
  return joined ?? mapped;
}

/** The end of the texts that begin here. */
function endOfTexts(blocks: readonly Block[], from: number): number {
  let end = from;
  while (blocks[end]?.type === 'text') end++;
  return end;
}

function textsOf(blocks: readonly Block[]): readonly string[] {
  return blocks.map((block) => (block.type === 'text' ? block.text : ''));
}

/** The texts as one, mapped; undefined if it has no more to change than each of them. */
function mapTogether(texts: readonly string[], mapped: readonly string[], map: TextMap): string | undefined {
  const lines = map(texts.join('\n'));
  const together = texts.join('');
  const words = map(together);
  if (lines !== mapped.join('\n')) return lines;
  const isUnchanged = texts.every((text, i) => text === mapped[i]);
  return isUnchanged && words !== together ? words : undefined;
}

/** Maps the texts of blocks, of a turn or of an answer. */
export function mapBlocks(blocks: readonly Block[], map: TextMap): readonly Block[] {
  return mapChanged(blocks, (block) => mapBlock(block, map));
}

function mapBlock(block: Block, map: TextMap): Block {
  switch (block.type) {
    case 'text': {
      const own = mapMembers(block, IN_TEXT, map);
      // Log probabilities contain the original text token by token.
      if (own.text === block.text || own.logprobs === undefined) return own;
      const { logprobs: _, ...rest } = own;
      return rest;
    }
    case 'refusal':
    case 'thinking':
      return mapMembers<RefusalBlock | ThinkingBlock>(block, { text: mapText }, map);
    case 'audio':
      return mapMembers(block, { transcript: mapText }, map);
    case 'file':
      return mapMembers(block, IN_FILE, map);
    case 'image':
      return mapMembers(block, { source: mapSource }, map);
    case 'toolCall': {
      const input = mapInput(block.kind, block.input, map);
      return input === block.input ? block : { ...block, input };
    }
    case 'toolResult':
      return mapMembers(block, { content: mapAdjacent }, map);
    case 'foreign':
      return mapMembers(block, { raw: mapJson }, map);
  }
}

function mapSource(source: Source, map: TextMap): Source {
  return source.kind === 'text' ? mapMembers(source, { text: mapText }, map) : source;
}

/** Maps the input of a tool call of this kind. */
export function mapInput(kind: 'function' | 'custom', input: string, map: TextMap): string {
  return kind === 'function' ? mapArguments(input, map) : map(input);
}

/** Maps the quoted words of a citation. Its offsets stay. */
export function mapCitation(citation: Citation, map: TextMap): Citation {
  return mapMembers(citation, IN_CITATION, map);
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
