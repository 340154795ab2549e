/** Marks for the vendor's prompt cache, which chat servers write in two ways. */

import type { JsonObject, Warnings } from '../../../../core/plugin.ts';
import type { CacheHint, Fields, Quirks } from '../../../../core/translation/index.ts';

/** The mark on a message, a part or a tool. */
export function readCache(fields: Fields, warnings: Warnings): { readonly cache?: CacheHint } {
  const mark = fields.fields('cache_control') ?? fields.fields('prompt_cache_breakpoint');
  if (mark === undefined) return {};
  // Each notation has one kind of mark.
  for (const name of ['type', 'mode']) mark.get(name);
  const ttlSeconds = seconds(mark.text('ttl'));
  for (const name of Object.keys(mark.rest())) warnings.drop(`messages.cache_control.${name}`, 'hint');
  return { cache: ttlSeconds === undefined ? {} : { ttlSeconds } };
}

/** The mark in this vendor's notation. */
export function writeCache(
  cache: CacheHint | undefined,
  hint: Quirks['cache']['hint'],
  warnings: Warnings,
): JsonObject {
  if (cache === undefined) return {};
  const { ttlSeconds = 0 } = cache;
  if (hint === 'cache_control') {
    return { cache_control: { type: 'ephemeral', ...(ttlSeconds > FIVE_MINUTES && { ttl: '1h' }) } };
  }
  if (hint === 'breakpoint') {
    return { prompt_cache_breakpoint: { mode: 'explicit', ...(ttlSeconds > HALF_AN_HOUR && { ttl: '12h' }) } };
  }
  warnings.drop('messages.cache_control', 'hint');
  return {};
}

const FIVE_MINUTES = 300;
const HALF_AN_HOUR = 1_800;

/** A lifetime: `5m`, `1h`. */
function seconds(ttl: string | undefined): number | undefined {
  const match = /^(\d+)([mh])$/.exec(ttl ?? '');
  return match === null ? undefined : Number(match[1]) * (match[2] === 'h' ? 3_600 : 60);
}
