/** Reports members of messages, parts and replies that were not read, so that nothing is dropped silently. */

import { isBlank } from '../../../../core/translation/index.ts';
import { restReporter } from '../../request-fields.ts';

/** Members that do not affect the model: labels, and what client libraries add to answers they send back. */
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

export const dropRest = restReporter((name, value) => HARMLESS.has(name) || isBlank(value));
