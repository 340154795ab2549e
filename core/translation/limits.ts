/** The limit of an answer, within what the model allows and what can be paid. */
import type { Conversation } from '../contracts/conversation.ts';
import type { JsonBody } from '../contracts/json.ts';
import type { Quirks } from '../contracts/quirks.ts';
import type { Losses, Patch } from '../contracts/style.ts';

/**
 * The limit of output that a vendor must be told, beside the client's own and the model's; undefined where these are lower, or nothing
 * limits it. `asked`: the client's.
 */
function limitToTell(asked: number | undefined, most: number | undefined, maximum: number | undefined) {
  if (most === undefined || (asked ?? maximum ?? Number.POSITIVE_INFINITY) <= most) return undefined;
  return most;
}

/** The same conversation with an answer that is no longer than can be paid. */
export function limitAnswer(
  conversation: Conversation,
  most: number | undefined,
  { max_output }: Quirks['limits'],
  losses: Losses,
): Conversation {
  const maxTokens = limitToTell(conversation.maxTokens, most, max_output);
  if (maxTokens === undefined) return conversation;
  // Even `strict` does not mind: the end of the answer says so, and without it there would be none.
  losses.change('max_tokens', 'hint');
  return { ...conversation, maxTokens };
}

const UNLIMITED: Readonly<Record<string, string>> = Object.freeze({});

/**
 * The changes of a body that passes as bytes, so that its answer is no longer than can be paid. `names`: the members that may limit it;
 * the first is added where none of them is there.
 */
export function answerLimits(
  body: JsonBody,
  names: readonly string[],
  { maxOutput, quirks, losses }: Pick<Patch, 'maxOutput' | 'quirks' | 'losses'>,
): Readonly<Record<string, string>> {
  if (maxOutput === undefined) return UNLIMITED;
  const changes: Record<string, string> = {};
  const said = names.filter((name) => typeof body.get(name) === 'number');
  for (const name of said.length > 0 ? said : names.slice(0, 1)) {
    const limit = limitToTell(
      said.length > 0 ? (body.get(name) as number) : undefined,
      maxOutput,
      quirks.limits.max_output,
    );
    if (limit === undefined) continue;
    changes[name] = String(limit);
    losses.change(name, 'hint');
  }
  return changes;
}

/** Some vendors refuse a limit above the model's own, and some one that is too low to be worth the trouble. */
export function fitMaxTokens(
  asked: number | undefined,
  { max_output, min_output }: Quirks['limits'],
  losses: Losses,
): number | undefined {
  if (asked === undefined) return undefined;
  const fitted = Math.max(min_output, Math.min(asked, max_output ?? asked));
  if (fitted !== asked) losses.change('max_tokens');
  return fitted;
}
