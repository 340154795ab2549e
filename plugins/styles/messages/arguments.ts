/** The arguments of a tool call: text in the common form, an object in this style. */

import type { JsonObject } from '../../../core/plugin.ts';
import { argumentsOf } from '../../../core/translation/index.ts';

/** The object for what a model wrote: arguments as JSON, or free text. */
export function toInput(kind: 'function' | 'custom', text: string): JsonObject {
  return kind === 'custom' ? { input: text } : argumentsOf(text);
}
