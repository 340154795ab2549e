/** The output limit, within the model's maximum and the balance. */

import type { Conversation } from '../../contracts/formats/conversation.ts';
import type { JsonBody } from '../../contracts/formats/json.ts';
import type { Quirks } from '../../contracts/formats/quirks.ts';
import type { Patch } from '../../contracts/formats/style.ts';
import type { Warnings } from '../../contracts/formats/warnings.ts';

/** The output limit for a vendor if it is lower than the client's own (`requested`) and the model's (`maximum`). */
function limitToTell(requested: number | undefined, most: number | undefined, maximum: number | undefined) {
  if (most === undefined || (requested ?? maximum ?? Number.POSITIVE_INFINITY) <= most) return undefined;
  return most;
}

/** The same conversation with an output limit that the balance allows. */
export function limitAnswer(
  conversation: Conversation,
  most: number | undefined,
  { max_output }: Quirks['limits'],
  warnings: Warnings,
): Conversation {
  const maxTokens = limitToTell(conversation.maxTokens, most, max_output);
  if (maxTokens === undefined) return conversation;
  // Allowed even in strict mode: the finish reason shows it to the client, and without the limit the call would be
  // refused.
  warnings.change('max_tokens', 'hint');
  return { ...conversation, maxTokens };
}

const UNLIMITED: Readonly<Record<string, string>> = Object.freeze({});

/** Changes of a forwarded body for the balance's output limit: in its fields among `names`, or else the first. */
export function answerLimits(
  body: JsonBody,
  names: readonly string[],
  { maxOutput, quirks, warnings }: Pick<Patch, 'maxOutput' | 'quirks' | 'warnings'>,
): Readonly<Record<string, string>> {
  if (maxOutput === undefined) return UNLIMITED;
  const changes: Record<string, string> = {};
  const limits = names.filter((name) => typeof body.get(name) === 'number');
  for (const name of limits.length > 0 ? limits : names.slice(0, 1)) {
    const limit = limitToTell(
      limits.length > 0 ? (body.get(name) as number) : undefined,
      maxOutput,
      quirks.limits.max_output,
    );
    if (limit === undefined) continue;
    changes[name] = String(limit);
    warnings.change(name, 'hint');
  }
  return changes;
}

/** Some vendors refuse a limit above the model's maximum, or below a minimum. */
export function fitMaxTokens(
  requested: number | undefined,
  { max_output, min_output }: Quirks['limits'],
  warnings: Warnings,
): number | undefined {
  if (requested === undefined) return undefined;
  const fitted = Math.max(min_output, Math.min(requested, max_output ?? requested));
  if (fitted !== requested) warnings.change('max_tokens');
  return fitted;
}
