/** Reports members of requests that were not read, so that nothing is dropped silently. */

import { restReporter } from '../request-fields.ts';

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
