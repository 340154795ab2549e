/** Encodes and decodes images, audio and files. */
import { isUtf8 } from 'node:buffer';
import type { JsonObject, Warnings } from '../../../core/plugin.ts';
import type { AudioBlock, Block, FileBlock, ImageBlock, Source } from '../../../core/translation/index.ts';
import { readDataUrl } from '../../../core/translation/index.ts';

/** Audio formats by the vendor's media type. Raw samples have `audio/L16;codec=pcm;rate=24000`. */
const SOUNDS: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/mp3': 'mp3',
  'audio/mpeg': 'mp3',
  'audio/flac': 'flac',
  'audio/ogg': 'opus',
  'audio/aac': 'aac',
  'audio/l16': 'pcm16',
  'audio/pcm': 'pcm16',
};

const SOUND_TYPES: Readonly<Record<string, string>> = {
  wav: 'audio/wav',
  mp3: 'audio/mp3',
  flac: 'audio/flac',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  pcm16: 'audio/L16;rate=24000',
};

/** Media types by file extension; the vendor requires one for a URL. */
const ENDINGS: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
  gif: 'image/gif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  html: 'text/html',
  csv: 'text/csv',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  mpeg: 'video/mpeg',
  mp3: 'audio/mp3',
  wav: 'audio/wav',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
};

/** Encodes an image, audio or a file as a part; undefined if it cannot be expressed. */
export function mediaPart(block: ImageBlock | AudioBlock | FileBlock, warnings: Warnings): JsonObject | undefined {
  if (block.type === 'audio') return soundPart(block, warnings);
  if (block.type === 'image' && block.detail !== undefined && block.detail !== 'auto') {
    warnings.drop('image.detail', 'hint');
  }
  if (block.type === 'file' && block.name !== undefined) warnings.drop('messages.file.filename', 'hint');
  return sourcePart(block.source, warnings);
}

/** Audio that only references an earlier answer is sent as its transcript. */
function soundPart({ data, format, transcript }: AudioBlock, warnings: Warnings): JsonObject | undefined {
  if (data !== '') return { inlineData: { mimeType: SOUND_TYPES[format] ?? `audio/${format}`, data } };
  if (transcript === undefined || transcript === '') {
    warnings.drop('messages.audio');
    return undefined;
  }
  warnings.change('messages.audio');
  return { text: transcript };
}

function sourcePart(source: Source, warnings: Warnings): JsonObject | undefined {
  switch (source.kind) {
    case 'text':
      return source.text === '' ? undefined : { text: source.text };
    case 'base64': {
      const text = isText(source.mediaType) ? Buffer.from(source.data, 'base64') : undefined;
      if (text !== undefined && text.length > 0 && isUtf8(text)) return { text: text.toString('utf8') };
      return { inlineData: { mimeType: source.mediaType, data: source.data } };
    }
    case 'url': {
      const inline = readDataUrl(source.url);
      if (inline !== undefined) return sourcePart({ kind: 'base64', ...inline }, warnings);
      const mimeType = source.mediaType ?? typeByEnding(source.url);
      return { fileData: { ...(mimeType !== undefined && { mimeType }), fileUri: source.url } };
    }
    case 'id':
      return warnings.refuse('messages', 'refers to an uploaded file that the vendor of this model does not have.');
  }
}

/** Text documents are sent as text, because the vendor accepts few of their media types. */
function isText(mediaType: string): boolean {
  return /^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml|yaml|javascript|x-[a-z-]*(?:sh|yaml|python|javascript))$/.test(
    mediaType,
  );
}

function typeByEnding(url: string): string | undefined {
  const ending = /\.([a-z0-9]{2,4})(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase();
  return ending === undefined ? undefined : ENDINGS[ending];
}

/** Decodes inline data. */
export function mediaBlock(mediaType: string, data: string): ImageBlock | AudioBlock | FileBlock {
  const bare = mediaType.split(';')[0]!.trim().toLowerCase();
  if (bare.startsWith('audio/')) return { type: 'audio', data, format: SOUNDS[bare] ?? bare.slice('audio/'.length) };
  const source: Source = { kind: 'base64', mediaType: bare, data };
  return { type: bare.startsWith('image/') ? 'image' : 'file', source };
}

/** Decodes file data with a URI. */
export function linkedBlock(mediaType: string | undefined, url: string): Block {
  const source: Source = { kind: 'url', url, ...(mediaType !== undefined && { mediaType }) };
  return { type: mediaType?.startsWith('image/') ? 'image' : 'file', source };
}
