/** What a message, a part or an answer holds and nobody has read: it is named, so that nothing vanishes silently. */

import type { Losses } from '../../../core/plugin.ts';
import type { Fields } from '../../../core/translation/index.ts';
import { isBlank } from '../../../core/translation/index.ts';

/** Members without a meaning for the model: names of things, and what client libraries add to an answer they send back. */
const HARMLESS: ReadonlySet<string> = new Set([
  'annotations',
  'cache_control',
  'citations',
  'closed',
  'created',
  'finish_reason',
  'id',
  'include_obfuscation',
  'index',
  'name',
  'object',
  'parsed',
  'parsed_arguments',
  'prompt_cache_breakpoint',
  'signature',
  'status',
]);

/** Names the rest of one object of a request; `place` is where it stands: `messages`, `tools`. */
export function dropRest(fields: Fields, place: string, losses: Losses): void {
  for (const [name, value] of Object.entries(fields.rest())) {
    losses.drop(`${place}.${name}`, HARMLESS.has(name) || isBlank(value) ? 'hint' : undefined);
  }
}
