/** Decodes and encodes the content of messages and tool results. */

import type { Json, JsonObject, Warnings } from '../../../../core/plugin.ts';
import type {
  Block,
  CacheHint,
  Fields,
  FileBlock,
  ImageBlock,
  Quirks,
  Source,
} from '../../../../core/translation/index.ts';
import { dataUrl, given, readDataUrl } from '../../../../core/translation/index.ts';
import { restReporter } from '../../request-fields.ts';

/** Members that vendors ignore: dropping them changes no answer. */
const HINTS = new Set(['id', 'status', 'phase', 'annotations', 'logprobs', 'caller', 'async', 'created_by', 'agent']);

/** Reports the unread members of an item, a part or another object; empty lists are not reported. */
export const dropRest = restReporter(
  (name) => HINTS.has(name),
  (value) => Array.isArray(value) && value.length === 0,
);

/** A required text. */
export function required(fields: Fields, name: string): string {
  return fields.text(name) ?? fields.wrong(name, 'must be a string');
}

/** The blocks of a member that is a string or an array of parts. */
export function readContent(fields: Fields, name: string, warnings: Warnings): readonly Block[] {
  const content = fields.get(name);
  if (content === undefined) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return fields.wrong(name, 'must be a string or an array of content parts');
  return fields.each(name).map((part) => {
    const block = readPart(part, warnings);
    dropRest(part, 'messages', warnings);
    return block;
  });
}

function readPart(part: Fields, warnings: Warnings): Block {
  const type = required(part, 'type');
  const breakpoint = readBreakpoint(part, warnings);
  const cache = breakpoint && { cache: breakpoint };
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: required(part, 'text'), ...cache };
    case 'refusal':
      return { type: 'refusal', text: required(part, 'refusal') };
    case 'input_image':
      return given<ImageBlock>({
        type: 'image',
        source: imageSource(part),
        detail: part.text('detail'),
        cache: breakpoint,
      });
    case 'input_file':
      if (part.get('detail') !== undefined) warnings.drop('file.detail', 'hint');
      return given<FileBlock>({
        type: 'file',
        source: fileSource(part),
        name: part.text('filename'),
        cache: breakpoint,
      });
    case 'input_audio': {
      const audio = part.fields('input_audio') ?? part.wrong('input_audio', 'must be an object');
      const [data, format] = [required(audio, 'data'), required(audio, 'format')];
      dropRest(audio, 'messages.input_audio', warnings);
      return { type: 'audio', data, format, ...cache };
    }
    default:
      return part.wrong(
        'type',
        'must be input_text, output_text, text, refusal, input_image, input_file or input_audio',
      );
  }
}

function imageSource(part: Fields): Source {
  const id = part.text('file_id');
  if (id !== undefined) return { kind: 'id', id };
  const url = required(part, 'image_url');
  if (!/^data:/i.test(url)) return { kind: 'url', url };
  const media = readDataUrl(url) ?? part.wrong('image_url', 'must be a URL, or a base64 data URL');
  return { kind: 'base64', ...media };
}

function fileSource(part: Fields): Source {
  const id = part.text('file_id');
  if (id !== undefined) return { kind: 'id', id };
  const url = part.text('file_url');
  if (url !== undefined) return { kind: 'url', url };
  const data = part.text('file_data') ?? part.wrong('file_data', 'is missing: send it, `file_url` or `file_id`');
  const media =
    readDataUrl(data, 'application/octet-stream') ?? part.wrong('file_data', 'must be base64, or a base64 data URL');
  return { kind: 'base64', ...media };
}

const TTL_SECONDS: Readonly<Record<string, number>> = { '30m': 1_800, '12h': 43_200 };

function readBreakpoint(part: Fields, warnings: Warnings): CacheHint | undefined {
  const breakpoint = part.fields('prompt_cache_breakpoint');
  if (breakpoint === undefined) return undefined;
  breakpoint.get('mode');
  const ttlSeconds = TTL_SECONDS[String(breakpoint.get('ttl'))];
  for (const name of Object.keys(breakpoint.rest())) warnings.drop(`cache_control.${name}`, 'hint');
  return ttlSeconds === undefined ? {} : { ttlSeconds };
}

/** Creates the encoder for these quirks. */
export function createPartsWriter(quirks: Quirks, warnings: Warnings) {
  function breakpoint(hint: CacheHint | undefined): JsonObject {
    if (hint === undefined) return {};
    if (quirks.cache.hint !== 'breakpoint') {
      warnings.drop('cache_control', 'hint');
      return {};
    }
    const ttl = hint.ttlSeconds !== undefined && hint.ttlSeconds > 1_800 ? { ttl: '12h' } : {};
    return { prompt_cache_breakpoint: { mode: 'explicit', ...ttl } };
  }

  /** Content that requests of no style have here. */
  function drop(block: Block): undefined {
    warnings.drop(`messages.${block.type === 'foreign' ? block.what : block.type}`);
    return undefined;
  }

  return {
    /** A part of a user, system or tool message. Undefined if it cannot be expressed. */
    input(block: Block): JsonObject | undefined {
      switch (block.type) {
        case 'text':
          return { type: 'input_text', text: block.text, ...breakpoint(block.cache) };
        case 'refusal':
          return { type: 'input_text', text: block.text };
        case 'image':
          return { ...imagePart(block, warnings), ...breakpoint(block.cache) };
        case 'file':
          return { ...filePart(block, warnings), ...breakpoint(block.cache) };
        case 'audio':
          if (block.data === '') return drop(block);
          return {
            type: 'input_audio',
            input_audio: { data: block.data, format: block.format },
            ...breakpoint(block.cache),
          };
        default:
          return drop(block);
      }
    },
    /** A part of an assistant message. */
    output(block: Block): JsonObject | undefined {
      switch (block.type) {
        case 'text':
          breakpoint(block.cache);
          if (block.citations !== undefined && block.citations.length > 0)
            warnings.drop('messages.annotations', 'hint');
          return { type: 'output_text', text: block.text };
        case 'refusal':
          return { type: 'refusal', refusal: block.text };
        case 'audio':
          warnings.drop('messages.audio');
          return block.transcript === undefined ? undefined : { type: 'output_text', text: block.transcript };
        default:
          return drop(block);
      }
    },
  };
}

/** Encodes parts for one vendor. */
export type PartsWriter = ReturnType<typeof createPartsWriter>;

const DETAILS = ['auto', 'low', 'high', 'original'];

function imagePart({ source, detail }: ImageBlock, warnings: Warnings): JsonObject {
  const isKnown = detail === undefined || DETAILS.includes(detail);
  if (!isKnown) warnings.drop('image.detail');
  // The official types require the member; this is its default.
  const options = { detail: isKnown ? (detail ?? 'auto') : 'auto' };
  switch (source.kind) {
    case 'base64':
      return { type: 'input_image', image_url: dataUrl(source), ...options };
    case 'url':
      return { type: 'input_image', image_url: source.url, ...options };
    case 'id':
      return { type: 'input_image', file_id: source.id, ...options };
    default:
      return { type: 'input_text', text: source.text };
  }
}

function filePart({ source, name, title, context, citable }: FileBlock, warnings: Warnings): JsonObject {
  if (citable === true) warnings.drop('file.citations');
  if (source.kind === 'text') {
    return {
      type: 'input_text',
      text: [title, context, source.text].filter((text) => text !== undefined).join('\n\n'),
    };
  }
  if (context !== undefined) warnings.drop('file.context');
  switch (source.kind) {
    case 'base64': {
      if (/^(video|audio)\//.test(source.mediaType)) {
        warnings.refuse(
          'messages',
          `contain a file of the type ${source.mediaType}, which this model does not accept.`,
        );
      }
      const filename = name ?? title ?? `file.${source.mediaType.split('/')[1]?.replace(/[^a-z0-9]/g, '') ?? 'bin'}`;
      return { type: 'input_file', filename, file_data: dataUrl(source) };
    }
    case 'url':
      return { type: 'input_file', file_url: source.url };
    case 'id':
      return { type: 'input_file', file_id: source.id };
  }
}

/** The raw JSON of an item that only this style supports. */
export function foreignItem(block: Block): Json | undefined {
  return block.type === 'foreign' && block.style === 'responses' ? block.raw : undefined;
}
