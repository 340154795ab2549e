/** Content of a chat reply other than text: images, audio, citations. */
import type { Answering, Json, JsonObject, Warnings } from '../../../../core/plugin.ts';
import type { Citation, ImageBlock } from '../../../../core/translation/index.ts';
import { dataUrl, isObject, omitUnsaid, readDataUrl } from '../../../../core/translation/index.ts';
import { omitFromImage } from './members.ts';

/** Decodes an entry of `images`, which servers of image models add, or an image part. Undefined if it is not an image. */
export function readImage(entry: Json, warnings: Warnings): ImageBlock | undefined {
  const source = sourceIn(entry);
  if (source === undefined) return undefined;
  omitFromImage(entry, warnings);
  return { type: 'image', source };
}

function sourceIn(entry: Json): ImageBlock['source'] | undefined {
  const holder = isObject(entry) ? entry.image_url : undefined;
  const url = isObject(holder) ? holder.url : holder;
  if (typeof url !== 'string' || url === '') return undefined;
  if (!/^data:/i.test(url)) return { kind: 'url', url };
  const media = readDataUrl(url);
  return media && { kind: 'base64', ...media };
}

/** Encodes an image for clients; undefined if the client cannot get it. */
export function writeImage({ source }: ImageBlock, index: number): JsonObject | undefined {
  const url = source.kind === 'url' ? source.url : source.kind === 'base64' ? dataUrl(source) : undefined;
  return url === undefined ? undefined : { type: 'image_url', index, image_url: { url } };
}

/** Decodes an annotation of a text that starts at offset `base` of the content. */
export function readAnnotation(entry: Json, base: number, warnings: Warnings): Citation | undefined {
  if (!isObject(entry)) {
    warnings.omit('citations');
    return undefined;
  }
  const encoded = isObject(entry.url_citation) ? entry.url_citation : entry;
  const { url, title, start_index: start, end_index: end, content } = encoded;
  return {
    ...(typeof url === 'string' && { url }),
    ...(typeof title === 'string' && { title }),
    ...(typeof start === 'number' && start >= base && { start: start - base }),
    ...(typeof end === 'number' && end >= base && { end: end - base }),
    ...(typeof content === 'string' && { quote: content }),
    style: 'chat',
    raw: entry,
  };
}

/** Encodes a citation for clients, which expect all four members; undefined if it has no URL. */
export function writeAnnotation(
  citation: Citation,
  base: number,
  length: number,
  warnings: Warnings,
): JsonObject | undefined {
  const { url, title = '', start = 0, end = length } = citation;
  if (url === undefined) {
    warnings.omit('citations');
    return undefined;
  }
  const encoded = { start_index: base + start, end_index: base + end, title, url };
  omitUnsaid(citation, encoded, warnings);
  return { type: 'url_citation', url_citation: encoded };
}

/** The id of the audio in an answer whose vendor sent none. */
export function audioId(id: string | undefined, { id: exchange }: Answering): string {
  return id === undefined || id === '' ? `audio_${exchange}` : id;
}
