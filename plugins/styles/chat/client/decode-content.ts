/** Decodes the content of a chat message: a text, or a list of parts. */

import type { Warnings } from '../../../../core/plugin.ts';
import { type Block, type Fields, readDataUrl, type Source } from '../../../../core/translation/index.ts';
import { readCache } from '../fields/cache.ts';
import { dropRest } from '../fields/leftovers.ts';
import { thinkingText } from '../fields/thinking.ts';

/** Decodes the member `content` of a message. Empty texts are omitted: no style needs them, and some vendors refuse them. */
export function decodeContent(message: Fields, warnings: Warnings): readonly Block[] {
  const content = message.get('content');
  const mark = readCache(message, warnings);
  const blocks =
    typeof content === 'string'
      ? textBlocks(content)
      : content === undefined || Array.isArray(content)
        ? message.each('content').flatMap((part) => readPart(part, warnings))
        : message.wrong('content', 'must be a string or an array of parts');
  const last = blocks.at(-1);
  if (mark.cache === undefined) return blocks;
  // A mark on the message applies to its end.
  if (last !== undefined) return [...blocks.slice(0, -1), { ...last, ...mark }];
  warnings.drop('messages.cache_control', 'hint');
  return blocks;
}

function textBlocks(text: string): readonly Block[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

function readPart(part: Fields, warnings: Warnings): readonly Block[] {
  const blocks = blocksOf(part, warnings);
  const mark = readCache(part, warnings);
  dropRest(part, 'messages', warnings);
  return mark.cache === undefined ? blocks : blocks.map((block) => ({ ...block, ...mark }));
}

function blocksOf(part: Fields, warnings: Warnings): readonly Block[] {
  const type = part.text('type');
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return textBlocks(part.text('text') ?? '');
    case 'refusal': {
      const text = part.text('refusal') ?? '';
      return text === '' ? [] : [{ type: 'refusal', text }];
    }
    case 'thinking': {
      // Some servers put reasoning into the content: a text, or a list of text parts.
      const text = thinkingText(part.get('thinking') ?? null);
      return text === '' ? [] : [{ type: 'thinking', text }];
    }
    case 'image_url': {
      const { fields, url } = link(part, 'image_url');
      const detail = fields.text('detail');
      if (fields !== part) dropRest(fields, 'messages.image_url', warnings);
      return [{ type: 'image', source: sourceOf(fields, url, 'image/png'), ...(detail !== undefined && { detail }) }];
    }
    case 'input_audio': {
      const audio = part.fields('input_audio') ?? part.wrong('input_audio', 'must be an object');
      const data = audio.text('data') ?? audio.wrong('data', 'must be base64');
      const media = readDataUrl(data, 'audio/wav') ?? audio.wrong('data', 'must be base64');
      const format = audio.text('format') ?? 'wav';
      dropRest(audio, 'messages.input_audio', warnings);
      return [{ type: 'audio', data: media.data, format }];
    }
    case 'file':
      return [readFile(part.fields('file') ?? part.wrong('file', 'must be an object'), warnings)];
    // Non-standard parts that some servers accept.
    case 'document_url':
    case 'video_url': {
      const { fields, url } = link(part, type);
      const name = part.text('document_name');
      const declared = type === 'video_url' ? 'video/mp4' : 'application/pdf';
      if (fields !== part) dropRest(fields, `messages.${type}`, warnings);
      return [{ type: 'file', source: sourceOf(fields, url, declared), ...(name !== undefined && { name }) }];
    }
    default:
      return part.wrong('type', 'is not a known type of part');
  }
}

/** A URL, in the part itself or in an object inside it. */
function link(part: Fields, name: string): { readonly fields: Fields; readonly url: string } {
  const value = part.get(name);
  if (typeof value === 'string') return { fields: part, url: value };
  const fields = part.fields(name) ?? part.wrong(name, 'must be an object with a `url`');
  return { fields, url: fields.text('url') ?? fields.wrong('url', 'must be a string') };
}

function readFile(file: Fields, warnings: Warnings): Block {
  const name = file.text('filename');
  const id = file.text('file_id');
  const data = file.text('file_data') ?? file.text('file_url');
  dropRest(file, 'messages.file', warnings);
  const named = name === undefined ? {} : { name };
  if (data !== undefined) return { type: 'file', source: sourceOf(file, data, 'application/pdf'), ...named };
  if (id !== undefined) return { type: 'file', source: { kind: 'id', id }, ...named };
  return file.wrong('file_data', 'must be base64, or there must be a `file_id`');
}

/** `declared`: the media type of base64 without one. */
function sourceOf(fields: Fields, text: string, declared: string): Source {
  const scheme = /^[a-z][a-z\d+.-]*:/i.exec(text.slice(0, 64))?.[0].toLowerCase();
  if (scheme !== undefined && scheme !== 'data:') {
    return declared.startsWith('image/') ? { kind: 'url', url: text } : { kind: 'url', url: text, mediaType: declared };
  }
  const media = readDataUrl(text, declared);
  if (media === undefined) return fields.wrong('url', 'must be a URL, or a base64 data URL');
  return { kind: 'base64', mediaType: media.mediaType, data: media.data };
}
