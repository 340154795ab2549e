/** `cache_control` as clients write it, and members of requests that were not read: they are reported, so that nothing is dropped silently. */

import type { Warnings } from '../../../../core/plugin.ts';
import type { CacheHint, Fields } from '../../../../core/translation/index.ts';
import { restReporter } from '../../request-fields.ts';

/** Members that do not affect the model. */
const HARMLESS: ReadonlySet<string> = new Set([
  'allowed_callers',
  'cache_control',
  'caller',
  'id',
  'name',
  'title',
  'toolset_name',
]);

export const dropRest = restReporter((name) => HARMLESS.has(name));

/** The hint on a block or a tool, to be spread into it. */
export function readCacheHint(fields: Fields, warnings: Warnings): { readonly cache?: CacheHint } {
  const control = fields.fields('cache_control');
  if (control === undefined) return {};
  control.get('type');
  const ttl = control.text('ttl');
  for (const name of Object.keys(control.rest())) warnings.drop(`cache_control.${name}`, 'hint');
  if (ttl === undefined) return { cache: {} };
  if (ttl !== '5m' && ttl !== '1h') return control.wrong('ttl', 'must be 5m or 1h');
  return { cache: { ttlSeconds: ttl === '1h' ? 3_600 : 300 } };
}
