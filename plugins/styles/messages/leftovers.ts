/** What a request holds and nobody has read: it is named, so that nothing vanishes silently. */

import type { Losses } from '../../../core/plugin.ts';
import type { Fields } from '../../../core/translation/index.ts';

/** Members without a meaning for the model. */
const HARMLESS: ReadonlySet<string> = new Set([
  'allowed_callers',
  'cache_control',
  'caller',
  'id',
  'name',
  'title',
  'toolset_name',
]);

/** Names the rest of one object of a request; `place` is where it stands: `messages`, `tools`. */
export function dropRest(fields: Fields, place: string, losses: Losses): void {
  for (const name of Object.keys(fields.rest())) {
    losses.drop(`${place}.${name}`, HARMLESS.has(name) ? 'hint' : undefined);
  }
}
