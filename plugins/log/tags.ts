/** Tags of calls: from the header `x-turnpike-tags` and from `metadata` of the body. */
import { LRUCache } from 'lru-cache';
import type { Call, Json, Known } from '../../core/plugin.ts';
import { isObject } from '../../core/translation/index.ts';
import { dayOf } from './additions.ts';

const HEADER = 'x-turnpike-tags';
/** Further tags, and tags that are longer, are ignored: a call never fails because of them. */
const MOST_TAGS = 8;
const LONGEST_TAG = 64;
/** The number of different tags of an account and day that have their own sums; all others share one. */
const MOST_SUMMED = 1_000;
/** The tag of the sum that further tags of an account and day share. */
export const FURTHER_TAGS = '(further tags)';
/** Lists of tags that are kept, so that the same tags of many calls are stored once. */
const MOST_LISTS = 1_000;

/** Reads the tags of a call; undefined: it has none. */
export type ReadTags = (x: Pick<Known, 'headers'>, call: Call | undefined) => readonly string[] | undefined;

/** Creates the reader. `names`: members of `metadata` that are tags, `name=value`. */
export function createTags(names: readonly string[]): ReadTags {
  const lists = new LRUCache<string, readonly string[]>({ max: MOST_LISTS });

  return ({ headers }, call) => {
    const header = headers[HEADER];
    const metadata = call?.body.get('metadata');
    if (header === undefined && !isObject(metadata)) return undefined;
    const tags = new Set<string>();
    for (const text of header?.split(',') ?? []) add(tags, text);
    if (isObject(metadata)) {
      for (const text of listed(metadata.tags)) add(tags, text);
      for (const name of names) if (isScalar(metadata[name])) add(tags, `${name}=${metadata[name]}`);
    }
    if (tags.size === 0) return undefined;
    const key = [...tags].join(',');
    const list = lists.get(key) ?? [...tags];
    lists.set(key, list);
    return list;
  };
}

/** `metadata.tags`: a list, or a text with commas; OpenAI accepts only texts. */
function listed(tags: Json | undefined): readonly string[] {
  if (typeof tags === 'string') return tags.split(',');
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [];
}

const isScalar = (value: Json | undefined): boolean => ['string', 'number', 'boolean'].includes(typeof value);

function add(tags: Set<string>, text: string): void {
  const tag = text.replace(/\s*=\s*/, '=').trim();
  if (tag === '' || tag.length > LONGEST_TAG || tags.size >= MOST_TAGS || UNUSABLE.test(tag)) return;
  tags.add(tag);
}
/** Invisible characters, and commas, which separate tags. */
const UNUSABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp},]/u;

/** Limits the rows of sums, because clients choose tags: returns a tag's name in the sums. Counted by process. */
export function createSummedTags(): (accountId: number, tag: string, atMs: number) => string {
  const seen = new Map<number, Set<string>>();
  let dayMs = 0;

  return (accountId, tag, atMs) => {
    if (dayOf(atMs) > dayMs) {
      dayMs = dayOf(atMs);
      seen.clear();
    }
    const tags = seen.get(accountId) ?? new Set<string>();
    seen.set(accountId, tags);
    if (tags.has(tag)) return tag;
    if (tags.size >= MOST_SUMMED) return FURTHER_TAGS;
    tags.add(tag);
    return tag;
  };
}
