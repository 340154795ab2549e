/** Encodes the blocks of a turn as the content of a chat message. */

import type { JsonObject, Warnings } from '../../../../core/plugin.ts';
import type { AudioBlock, Block, FileBlock, Quirks, Source } from '../../../../core/translation/index.ts';
import { dataUrl } from '../../../../core/translation/index.ts';
import { writeCache } from '../fields/cache.ts';

/** The context that every message encoder needs. */
export interface Writing {
  readonly quirks: Quirks;
  readonly warnings: Warnings;
}

/**
 * A string if text is enough, otherwise a list of parts. `gap` separates texts that are merged: always if `joined`,
 * because not every server accepts a list there, and always for models that accept strings only.
 */
export function writeContent(
  blocks: readonly Block[],
  { gap, joined }: { readonly gap: string; readonly joined: boolean },
  writing: Writing,
): string | readonly JsonObject[] {
  const { quirks, warnings } = writing;
  const parts: JsonObject[] = [];
  for (const block of blocks) for (const part of partsOf(block, writing)) parts.push(part);
  if ((parts.length < 2 || joined || !quirks.content.array) && parts.every(isBareText)) {
    return parts.length === 1 ? parts[0]!.text : parts.map(({ text }) => text).join(gap);
  }
  if (quirks.content.array) return parts;
  const strings = parts.map(({ text }) => text);
  if (strings.every((text) => typeof text === 'string')) return strings.join(gap);
  return warnings.refuse('messages', 'must be text only for this model: it accepts neither images nor files.');
}

/** A text part without further members. */
function isBareText(part: JsonObject): part is { readonly type: 'text'; readonly text: string } {
  if (part.type !== 'text') return false;
  let members = 0;
  for (const _ in part) members++;
  return members === 2;
}

function partsOf(block: Block, writing: Writing): readonly JsonObject[] {
  const { warnings } = writing;
  switch (block.type) {
    case 'text':
      // Chat requests have no citations.
      if (block.citations !== undefined) warnings.drop('messages.annotations', 'hint');
      return block.text === '' ? [] : [{ type: 'text', text: block.text, ...mark(block, writing) }];
    case 'refusal':
      return block.text === '' ? [] : [{ type: 'text', text: block.text }];
    case 'image': {
      const url = address(block.source, writing);
      const detail = block.detail === undefined ? {} : { detail: block.detail };
      return [{ type: 'image_url', image_url: { url, ...detail }, ...mark(block, writing) }];
    }
    case 'audio':
      return writeAudio(block, writing);
    case 'file':
      return writeFile(block, writing);
    case 'foreign':
      warnings.drop(`messages.${block.what}`);
      return [];
    // These are encoded as messages or members of their own.
    default:
      return [];
  }
}

function mark(block: Extract<Block, { readonly cache?: unknown }>, { quirks, warnings }: Writing): JsonObject {
  return writeCache(block.cache, quirks.cache.hint, warnings);
}

/** The source of an image; refuses references that only another vendor can resolve. */
function address(source: Source, { warnings }: Writing): string {
  if (source.kind === 'url') return source.url;
  if (source.kind === 'base64') return dataUrl(source);
  if (source.kind === 'id') return foreignFile(warnings);
  return dataUrl({ mediaType: 'text/plain', data: Buffer.from(source.text).toString('base64') });
}

function foreignFile(warnings: Warnings): never {
  return warnings.refuse(
    'messages.file_id',
    'refers to a file that the vendor of this model does not have: send the file itself.',
  );
}

function writeAudio(block: AudioBlock, writing: Writing): readonly JsonObject[] {
  if (block.data === '') return block.transcript === undefined ? [] : [{ type: 'text', text: block.transcript }];
  const { data, format } = block;
  return [{ type: 'input_audio', input_audio: { data, format }, ...mark(block, writing) }];
}

function writeFile(block: FileBlock, writing: Writing): readonly JsonObject[] {
  const { quirks, warnings } = writing;
  const { source, name, title, context } = block;
  const marks = mark(block, writing);
  const text = textOf(source);
  if (block.citable === true) warnings.drop('messages.citations');
  if (text !== undefined) {
    // Chat supports inline documents only; the metadata goes into the first lines of a text.
    const head = [title ?? name, context].filter((line) => line !== undefined).join('\n');
    return [{ type: 'text', text: head === '' ? text : `${head}\n\n${text}`, ...marks }];
  }
  if (context !== undefined) warnings.drop('messages.file.context');
  if (source.kind === 'id') return foreignFile(warnings);
  if (source.kind === 'text') return [];
  const isVideo = source.mediaType?.startsWith('video/') === true;
  const url = source.kind === 'url' ? source.url : dataUrl(source);
  if (isVideo || quirks.file.pdf === 'image_url') {
    if ((name ?? title) !== undefined) warnings.drop('messages.file.filename', 'hint');
    return isVideo
      ? [{ type: 'video_url', video_url: { url }, ...marks }]
      : [{ type: 'image_url', image_url: { url }, ...marks }];
  }
  const filename = name ?? title ?? `document.${source.mediaType?.split(/[/+]/)[1] ?? 'pdf'}`;
  return [{ type: 'file', file: { filename, file_data: url }, ...marks }];
}

/** The content of a text file. */
export function textOf(source: Source): string | undefined {
  if (source.kind === 'text') return source.text;
  if (source.kind !== 'base64' || !source.mediaType.startsWith('text/')) return undefined;
  return Buffer.from(source.data, 'base64').toString('utf8');
}
