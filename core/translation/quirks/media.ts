/** Fetches media given by URL, for vendors that require the bytes. */

import { trueType } from '../../bytes/data-url.ts';
import type { Block, Conversation, Source } from '../../contracts/formats/conversation.ts';
import type { Quirks } from '../../contracts/formats/quirks.ts';
import type { Warnings } from '../../contracts/formats/warnings.ts';
import type { GuardOptions } from '../../outgoing/guarded-fetch.ts';
import { type Asker, fetchFor, MAX_FETCHES } from '../../outgoing/guarded-fetch.ts';
import { fitFile, fitImage } from './media-types.ts';

/** The conversation with all media that the vendor would not fetch itself. If one fails, the others are aborted. */
export function fetchMedia(
  conversation: Conversation,
  quirks: Quirks,
  warnings: Warnings,
  asker: Asker,
  guard?: GuardOptions,
): Conversation | Promise<Conversation> {
  const isOurs = (block: Block): block is Fetchable => {
    if (block.type !== 'image' && block.type !== 'file') return false;
    const { source } = block;
    if (source.kind !== 'url' || quirks[block.type].url !== 'fetch') return false;
    return !quirks.file.native_urls.some((start) => source.url.startsWith(start));
  };
  if (!conversation.turns.some(({ blocks }) => blocks.some(mayShow))) return conversation;
  const urls = new Set(conversation.turns.flatMap(({ blocks }) => urlsIn(blocks, isOurs)));
  if (urls.size === 0) return conversation;
  if (urls.size > MAX_FETCHES) warnings.refuse('messages', `contain more than ${MAX_FETCHES} URLs to fetch.`);

  return fetchAll(urls, warnings.nameOf('messages'), asker, guard).then((sources) => {
    const complete = (block: Block): Block => {
      if (block.type === 'toolResult') return { ...block, content: block.content.map(complete) };
      if (!isOurs(block)) return block;
      const whole = { ...block, source: sources.get(block.source.url)! };
      // The type is only known now.
      return whole.type === 'image' ? fitImage(whole, quirks, warnings) : fitFile(whole, quirks, warnings);
    };
    return {
      ...conversation,
      turns: conversation.turns.map((turn) => ({ ...turn, blocks: turn.blocks.map(complete) })),
    };
  });
}

/** No other block can contain a URL to fetch. */
function mayShow({ type }: Block): boolean {
  return type === 'image' || type === 'file' || type === 'toolResult';
}

/** An image or a file given by its URL. */
type Fetchable = Extract<Block, { readonly type: 'image' | 'file' }> & {
  readonly source: Extract<Source, { readonly kind: 'url' }>;
};

function urlsIn(blocks: readonly Block[], isOurs: (block: Block) => block is Fetchable): readonly string[] {
  return blocks.flatMap((block) => {
    if (block.type === 'toolResult') return urlsIn(block.content, isOurs);
    return isOurs(block) ? [block.source.url] : [];
  });
}

/** The first failure aborts all others. */
async function fetchAll(
  urls: ReadonlySet<string>,
  param: string,
  asker: Asker,
  guard: GuardOptions | undefined,
): Promise<ReadonlyMap<string, Source>> {
  const failed = new AbortController();
  const sources = new Map<string, Source>();
  const fetching = [...urls].map(async (url) => {
    const { mediaType, bytes } = await fetchFor(asker, url, param, failed.signal, guard);
    const data = bytes.toString('base64');
    sources.set(url, { kind: 'base64', mediaType: trueType(data, mediaType), data });
  });
  try {
    await Promise.all(fetching);
  } catch (error) {
    failed.abort();
    throw error;
  }
  return sources;
}
