/** The limit of an answer, within what the model allows. */
import type { Quirks } from '../contracts/quirks.ts';
import type { Losses } from '../contracts/style.ts';

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
