/** Decodes content blocks of clients. */

import type { Json, Warnings } from '../../../../core/plugin.ts';
import {
  type Block,
  type Fields,
  type FileBlock,
  isObject,
  jsonText,
  type Opaque,
  readDataUrl,
  readFields,
  type Source,
  type TextBlock,
  type ThinkingBlock,
  UNSEALED,
  unpackOpaque,
} from '../../../../core/translation/index.ts';
import { decodeCitation } from '../fields/citations.ts';
import { dropRest, readCacheHint } from '../fields/leftovers.ts';

/** Decodes the content of a message or of a tool result: a text, or blocks. */
export function decodeContent(holder: Fields, warnings: Warnings): readonly Block[] {
  const content = holder.get('content');
  if (content === undefined) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return holder.wrong('content', 'must be a string or an array of blocks');
  const path = holder.at('content');
  return withSeals(content.map((block: Json, i) => decodeBlock(block, `${path}[${i}]`, warnings)));
}

/** Decodes the blocks of the `system` prompt, which are texts. */
export function decodeTextBlock(block: Fields, warnings: Warnings): TextBlock {
  const raw = block.list('citations') ?? [];
  const text = block.text('text') ?? block.wrong('text', 'must be a string');
  const citations = raw.map((citation) => decodeCitation(citation, text.length));
  return { type: 'text', text, ...(citations.length > 0 && { citations }), ...readCacheHint(block, warnings) };
}

function decodeBlock(value: Json, path: string, warnings: Warnings): Block {
  const fields = readFields(value, path);
  const type = fields.text('type') ?? fields.wrong('type', 'must be a string');
  // Some client libraries keep the deltas of a stream in addition to their blocks, and send both back.
  if (type.endsWith('_delta')) return fields.wrong('type', `is \`${type}\`, a piece of a stream, not a block`);
  if (isVendors(type)) return { type: 'foreign', style: 'messages', what: type, raw: value };
  const decode = DECODERS.get(type) ?? fields.wrong('type', `must be ${KINDS}, or a block of the vendor's own tools`);
  const block = decode(fields, warnings);
  dropRest(fields, 'messages', warnings);
  return block;
}

const DECODERS: ReadonlyMap<string, (fields: Fields, warnings: Warnings) => Block> = new Map<
  string,
  (fields: Fields, warnings: Warnings) => Block
>([
  ['text', decodeTextBlock],
  ['image', decodeImage],
  ['document', decodeDocument],
  ['search_result', decodeSearchResult],
  ['thinking', decodeThinking],
  ['redacted_thinking', decodeRedacted],
  ['tool_use', decodeToolUse],
  ['tool_result', decodeToolResult],
  ['tool_reference', decodeToolReference],
]);

const KINDS = [...DECODERS.keys()].join(', ');

/** Blocks that only vendors of this style support, and that have no content for others. */
const VENDORS: ReadonlySet<string> = new Set([
  'compaction',
  'container_upload',
  'fallback',
  'server_tool_use',
  'tool_addition',
  'tool_removal',
]);

/** Results of vendor-side tools are recognized by their suffix, so that new tools need no change here. */
function isVendors(type: string): boolean {
  return VENDORS.has(type) || type.startsWith('mcp_') || type.endsWith('_tool_result');
}

function decodeImage(fields: Fields, warnings: Warnings): Block {
  return { type: 'image', source: decodeSource(fields, warnings, 'image/png'), ...readCacheHint(fields, warnings) };
}

function decodeDocument(fields: Fields, warnings: Warnings): FileBlock {
  const title = fields.text('title');
  const context = fields.text('context');
  const citable = isCitable(fields, warnings);
  return {
    type: 'file',
    source: decodeSource(fields, warnings, 'application/pdf'),
    ...(title !== undefined && { title }),
    ...(context !== undefined && { context }),
    ...(citable && { citable }),
    ...readCacheHint(fields, warnings),
  };
}

/** The model shall cite it. */
function isCitable(block: Fields, warnings: Warnings): boolean {
  const citations = block.fields('citations');
  const enabled = citations?.flag('enabled') ?? false;
  if (citations !== undefined) dropRest(citations, 'messages.citations', warnings);
  return enabled;
}

/** `usual`: the media type of base64 without one. */
function decodeSource(holder: Fields, warnings: Warnings, usual: string): Source {
  const fields = holder.fields('source') ?? holder.wrong('source', 'must be an object');
  const source = sourceOf(fields, warnings, usual);
  dropRest(fields, 'messages.source', warnings);
  return source;
}

function sourceOf(source: Fields, warnings: Warnings, usual: string): Source {
  const text = (name: string): string => source.text(name) ?? source.wrong(name, 'must be a string');
  const mediaType = source.text('media_type');
  switch (text('type')) {
    case 'base64': {
      const media = readDataUrl(text('data'), mediaType ?? usual);
      return media === undefined ? source.wrong('data', 'must be base64') : { kind: 'base64', ...media };
    }
    case 'url':
      return { kind: 'url', url: text('url') };
    case 'file':
      return { kind: 'id', id: text('file_id') };
    case 'text':
      return { kind: 'text', text: text('data') };
    case 'content':
      warnings.change('messages.document', 'hint');
      return { kind: 'text', text: plainText(decodeContent(source, warnings), warnings) };
    default:
      return source.wrong('type', 'must be base64, url, file, text or content');
  }
}

/** A document made of blocks; other styles support its texts only. */
function plainText(blocks: readonly Block[], warnings: Warnings): string {
  const texts: string[] = [];
  for (const block of blocks) {
    if (block.type === 'text') texts.push(block.text);
    else warnings.drop(`messages.document.${block.type}`);
  }
  return texts.join('\n\n');
}

/** A client-side search result, as a text with its source. */
function decodeSearchResult(fields: Fields, warnings: Warnings): TextBlock {
  const head = [fields.text('title'), fields.text('source')].filter((line) => line !== undefined);
  const text = plainText(decodeContent(fields, warnings), warnings);
  // Citations of it are lost with it; without citations, only its form is lost.
  warnings.change('messages.search_result', isCitable(fields, warnings) ? undefined : 'hint');
  return { type: 'text', text: [head.join('\n'), text].join('\n\n'), ...readCacheHint(fields, warnings) };
}

/** A tool found by a client-side tool search: for other vendors, all tools are declared from the start, so only its name is needed. */
function decodeToolReference(fields: Fields, warnings: Warnings): TextBlock {
  warnings.change('messages.tool_reference', 'hint');
  return { type: 'text', text: fields.text('tool_name') ?? fields.wrong('tool_name', 'must be a string') };
}

function decodeThinking(fields: Fields): ThinkingBlock {
  const signature = fields.text('signature') ?? '';
  const text = fields.text('thinking') ?? '';
  const opaque = signature === '' ? UNSEALED : seal(signature, 'signature');
  // The gateway packs data without a style if the vendor has no signatures.
  return opaque.style === '' ? { type: 'thinking', text } : { type: 'thinking', text, opaque };
}

function decodeRedacted(fields: Fields): ThinkingBlock {
  const data = fields.text('data') ?? fields.wrong('data', 'must be a string');
  return { type: 'thinking', text: '', opaque: seal(data, 'redacted') };
}

/** If the gateway did not pack it, it comes from a vendor of this style. */
function seal(value: string, kind: Opaque['kind']): Opaque {
  return unpackOpaque(value) ?? { style: 'messages', kind, value };
}

function decodeToolUse(fields: Fields): Block {
  const input = fields.get('input') ?? {};
  if (!isObject(input)) return fields.wrong('input', 'must be an object');
  return {
    type: 'toolCall',
    id: fields.text('id') ?? fields.wrong('id', 'must be a string'),
    name: fields.text('name') ?? fields.wrong('name', 'must be a string'),
    kind: 'function',
    input: jsonText(input),
  };
}

function decodeToolResult(fields: Fields, warnings: Warnings): Block {
  const isError = fields.flag('is_error');
  return {
    type: 'toolResult',
    id: fields.text('tool_use_id') ?? fields.wrong('tool_use_id', 'must be a string'),
    kind: 'function',
    content: decodeContent(fields, warnings),
    ...(isError === true && { isError }),
    ...readCacheHint(fields, warnings),
  };
}

/** Signatures of a tool call are moved to it: in this style, they are in a thinking block next to it. */
function withSeals(blocks: readonly Block[]): readonly Block[] {
  const seals = new Map<string, Opaque>();
  const calls = new Set(blocks.flatMap((block) => (block.type === 'toolCall' ? [block.id] : [])));
  const others = blocks.filter((block) => {
    if (block.type !== 'thinking' || block.text !== '') return true;
    const id = block.opaque?.id;
    if (id === undefined || !calls.has(id)) return true;
    seals.set(id, block.opaque!);
    return false;
  });
  if (seals.size === 0) return blocks;
  return others.map((block) => {
    const opaque = block.type === 'toolCall' ? seals.get(block.id) : undefined;
    return opaque === undefined ? block : { ...block, opaque };
  });
}
