/** A growing text, of which a part is held back so that no match is released before it is complete. */
import { type Match, Scanner } from '../../core/contracts/matching.ts';
import { MOST_MATCHES, replaceMatches, type Search, tooManyMatches } from '../../core/sdk.ts';
import { Shifts, type TextFlow } from '../../core/translation/index.ts';
import type { Rule } from './section.ts';

/** Characters before the held text that a pattern may look at (`\b`). */
const CONTEXT = 16;
/** A match that still grows is held back for at most this many windows. */
const MOST_WINDOWS = 4;

/** The rules that apply to one call, and what happens if one of them matches. */
export interface Applied {
  readonly refusing: readonly Rule[];
  readonly redacting: readonly Rule[];
  /** A rule has matched. Throws if it refuses. */
  matched(rule: Rule): void;
}

/** A text that is complete. */
export function applyRules(applied: Applied, text: string): string {
  const flow = createFlow(applied, 0);
  return flow.push(text) + flow.end();
}

/** The same for a large text, which a thread searches. `all`: the rules that it knows, in their order. */
export async function applyToLarge(
  { refusing, redacting, matched }: Applied,
  all: readonly Rule[],
  search: Search,
  text: string,
): Promise<string> {
  const indexes = (rules: readonly Rule[]): readonly number[] => rules.map((rule) => all.indexOf(rule));
  if (refusing.length > 0) {
    const [, , refused] = await search.find(text, indexes(refusing), 1);
    if (refused !== undefined) matched(all[refused]!);
  }
  if (redacting.length === 0) return text;
  const matches = await search.find(text, indexes(redacting), MOST_MATCHES + 1);
  if (matches.length > MOST_MATCHES * 3) tooManyMatches();
  const found = new Set<number>();
  const replaced = await replaceMatches(text, matches, (index) => {
    found.add(index);
    return all[index]!.replacement;
  });
  for (const index of found) matched(all[index]!);
  return replaced;
}

/** `window`: characters that are held back. */
export function createFlow({ refusing, redacting, matched }: Applied, window: number): TextFlow {
  /** The end of what was released, as it came. */
  let before = '';
  let held = '';
  /** Where `held` begins in the whole text. */
  let offset = 0;
  const shifts = new Shifts();

  /** Whether more text could extend a match; does not wait for matches that are too long. */
  function grows({ start, end }: Match, text: string, isLast: boolean): boolean {
    return end === text.length && !isLast && end - start < window * MOST_WINDOWS;
  }

  /**
   * Applies the rules. Rules that refuse see the original text, even if a part of it is redacted. Returns the start of a match that may
   * still grow.
   */
  function refuseIn(text: string, from: number, isLast: boolean): number {
    const match = new Scanner(refusing, text, from).next(from);
    if (match === undefined) return text.length;
    if (!grows(match, text, isLast)) matched(match.by);
    return match.start;
  }

  function release(isLast: boolean): string {
    const text = before + held;
    const from = before.length;
    const growing = refuseIn(text, from, isLast);
    let limit = isLast ? text.length : Math.min(growing, Math.max(from, text.length - window));
    // A surrogate pair is not split.
    if (!isLast && isSecondHalf(text.charCodeAt(limit))) limit = Math.max(from, limit - 1);
    const scanner = new Scanner(redacting, text, from);
    let at = from;
    let out = '';
    while (at < limit) {
      const match = scanner.next(at);
      if (match === undefined || grows(match, text, isLast) || match.start >= limit) {
        const end = Math.min(limit, match?.start ?? limit);
        out += text.slice(at, end);
        at = end;
        break;
      }
      matched(match.by);
      out += text.slice(at, match.start) + match.by.replacement;
      shifts.add(offset + match.start - from, offset + match.end - from, match.by.replacement.length);
      at = match.end;
    }
    offset += at - from;
    before = text.slice(Math.max(0, at - CONTEXT), at);
    held = text.slice(at);
    return out;
  }

  return {
    push(text) {
      held += text;
      return release(false);
    },
    end: () => release(true),
    moved: (place) => shifts.moved(place),
  };
}

function isSecondHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
