/** What a chat answer holds beside words: images, sound, and where a statement comes from. */
import type { Answering, Json, JsonObject, Losses } from '../../../core/plugin.ts';
import type { Citation, ImageBlock } from '../../../core/translation/index.ts';
import { dataUrl, isObject, omitUnsaid, readDataUrl } from '../../../core/translation/index.ts';
import { omitFromImage } from './members.ts';

/** One entry of `images`, which servers of image models add; also a part of a content. Undefined where it is none. */
export function readImage(entry: Json, losses: Losses): ImageBlock | undefined {
  const source = sourceIn(entry);
  if (source === undefined) return undefined;
  omitFromImage(entry, losses);
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

/** The same for clients; undefined where it cannot be shown. */
export function writeImage({ source }: ImageBlock, index: number): JsonObject | undefined {
  const url = source.kind === 'url' ? source.url : source.kind === 'base64' ? dataUrl(source) : undefined;
  return url === undefined ? undefined : { type: 'image_url', index, image_url: { url } };
}

/** One annotation of a text that begins at `base` of the whole content. */
export function readAnnotation(entry: Json, base: number, losses: Losses): Citation | undefined {
  if (!isObject(entry)) {
    losses.omit('citations');
    return undefined;
  }
  const told = isObject(entry.url_citation) ? entry.url_citation : entry;
  const { url, title, start_index: start, end_index: end, content } = told;
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

/** The same for clients, who expect all four members; undefined where there is no address to show. */
export function writeAnnotation(
  citation: Citation,
  base: number,
  length: number,
  losses: Losses,
): JsonObject | undefined {
  const { url, title = '', start = 0, end = length } = citation;
  if (url === undefined) {
    losses.omit('citations');
    return undefined;
  }
  const told = { start_index: base + start, end_index: base + end, title, url };
  omitUnsaid(citation, told, losses);
  return { type: 'url_citation', url_citation: told };
}

/** The name of what was said aloud, for an answer whose vendor gave it none. */
export function audioId(id: string | undefined, { id: exchange }: Answering): string {
  return id === undefined || id === '' ? `audio_${exchange}` : id;
}
