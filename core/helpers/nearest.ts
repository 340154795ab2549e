/** Suggests a known name for a misspelt one. */
import { distance } from 'fastest-levenshtein';

/** The known name nearest to a misspelt one; undefined if none is near. The first of equally near ones. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const wrong = name.toLowerCase();
  let best: string | undefined;
  // A third of the letters may be wrong, at least one.
  let bestDistance = Math.max(1, Math.floor(wrong.length / 3)) + 1;
  for (const candidate of known) {
    const right = candidate.toLowerCase();
    const letters = distance(wrong, right);
    // Prefixes and longer names also match, but a name with a single wrong letter is preferred.
    const far = Math.min(letters, isSwap(wrong, right) ? 1 : isPart(wrong, right) ? 1 + letters / 100 : letters);
    if (far < bestDistance) {
      best = candidate;
      bestDistance = far;
    }
  }
  return best;
}

/** `form` for `from`. */
function isSwap(wrong: string, right: string): boolean {
  return wrong.length === right.length && [...wrong].sort().join('') === [...right].sort().join('');
}

/** `out` for `output`, `models` for `model`. */
function isPart(wrong: string, right: string): boolean {
  return Math.min(wrong.length, right.length) > 2 && (right.startsWith(wrong) || wrong.startsWith(right));
}
