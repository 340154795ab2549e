/** Decodes citations: the vendor lists sources separately from the text, with the byte ranges that they support. */

import type { Json, JsonObject, Warnings } from '../../../core/plugin.ts';
import { type Citation, isObject, member, objectsIn, omitRest, textIn } from '../../../core/translation/index.ts';
import { isEmpty, numberIn } from './looking.ts';

/** Limited, because each is searched in the text. */
const MAX_SUPPORTS = 1_000;

/** A source and what it supports; without `segment`, the whole answer. */
export interface Source {
  readonly url: string | undefined;
  readonly title: string | undefined;
  readonly segment: JsonObject | undefined;
  readonly raw: Json;
}

const SUPPORT: ReadonlySet<string> = new Set(['segment', 'groundingChunkIndices']);

/** The members of a grounding chunk that contain a source. */
const KINDS = ['web', 'retrievedContext', 'maps', 'image'];

/** The sources of a candidate. Other grounding metadata is reported as dropped. */
export function sourcesIn(candidate: JsonObject, warnings: Warnings): readonly Source[] {
  // Checked first, because few events of a stream have one.
  if (!candidate.groundingMetadata && !candidate.citationMetadata) return [];
  const grounding = member(candidate, 'groundingMetadata');
  const chunks = objectsIn(grounding, 'groundingChunks');
  const supports = objectsIn(grounding, 'groundingSupports');
  if (supports.length > MAX_SUPPORTS) warnings.omit('citations');
  for (const [name, value] of Object.entries((grounding ?? {}) as JsonObject)) {
    if (!name.startsWith('grounding') && !isEmpty(value)) warnings.omit(name);
  }
  const used = new Set<JsonObject>();
  const supported = supports.slice(0, MAX_SUPPORTS).flatMap((support) => {
    omitRest(support, SUPPORT, { omit: (name) => warnings.omit(`citations.${name}`) });
    const indices = member(support, 'groundingChunkIndices');
    return (Array.isArray(indices) ? indices : []).flatMap((index) => {
      const chunk = typeof index === 'number' ? chunks[index] : undefined;
      if (chunk === undefined) return [];
      used.add(chunk);
      return [sourceOf(chunk, member(support, 'segment') as JsonObject | undefined)];
    });
  });
  // A source without supported text applies to the whole answer.
  const others = chunks.filter((chunk) => !used.has(chunk)).map((chunk) => sourceOf(chunk, undefined));
  // Recitations; the list has two names, by API version.
  const recited = [...recitedIn(candidate, 'citationSources'), ...recitedIn(candidate, 'citations')];
  return [...supported, ...others, ...recited];
}

function sourceOf(chunk: JsonObject, segment: JsonObject | undefined): Source {
  const kind = KINDS.map((name) => member(chunk, name)).find((source) => source !== undefined);
  return {
    url: textIn(kind, 'uri') ?? textIn(kind, 'sourceUri'),
    title: textIn(kind, 'title'),
    segment,
    raw: segment === undefined ? chunk : { ...chunk, segment },
  };
}

function recitedIn(candidate: JsonObject, list: string): readonly Source[] {
  return objectsIn(member(candidate, 'citationMetadata'), list).map((source) => ({
    url: textIn(source, 'uri'),
    title: textIn(source, 'title'),
    segment: source,
    raw: source,
  }));
}

/** A source as a citation of a text; undefined if this text does not contain what it supports. */
export function citationAt(source: Source, text: string): Citation | undefined {
  const place = source.segment && placeOf(source.segment, text);
  return place && { ...citationOf({ ...source, raw: withoutWords(source.raw) }), ...place };
}

/** The cited words are redundant if their position is known. */
function withoutWords(raw: Json): Json {
  if (!isObject(raw) || !isObject(raw.segment)) return raw;
  const { text: _, ...segment } = raw.segment;
  return { ...raw, segment };
}

/** A source as a citation without a position. */
export function citationOf({ url, title, segment, raw }: Source): Citation {
  const quote = textIn(segment, 'text');
  return {
    ...(url !== undefined && { url }),
    ...(title !== undefined && { title }),
    ...(quote !== undefined && { quote }),
    style: 'gemini',
    raw,
  };
}

/** The last searched text and its bytes: many sources support one text. */
let looked = { text: '', bytes: Buffer.alloc(0) };

function bytesOf(text: string): Buffer {
  if (looked.text !== text) looked = { text, bytes: Buffer.from(text) };
  return looked.bytes;
}

/** Offsets are in bytes of UTF-8. If they do not match the cited words, the words are searched. */
function placeOf(segment: JsonObject, text: string): { readonly start: number; readonly end: number } | undefined {
  const quote = textIn(segment, 'text');
  const bytes = bytesOf(text);
  const first = numberIn(segment, 'startIndex');
  const last = numberIn(segment, 'endIndex');
  if (first < last && last <= bytes.length) {
    const words = bytes.toString('utf8', first, last);
    if (quote === undefined || words === quote) {
      const start = bytes.toString('utf8', 0, first).length;
      return { start, end: start + words.length };
    }
  }
  const start = quote === undefined || quote === '' ? -1 : text.indexOf(quote);
  return start < 0 ? undefined : { start, end: start + quote!.length };
}
