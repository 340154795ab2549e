/** Which known name did they mean? */
import { distance } from 'fastest-levenshtein';

/** The known name nearest to a misspelt one; undefined where none is near. The first of equally near ones. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const wrong = name.toLowerCase();
  let best: string | undefined;
  // A third of the letters may be wrong, and one in any case.
  let bestDistance = Math.max(1, Math.floor(wrong.length / 3)) + 1;
  for (const candidate of known) {
    const right = candidate.toLowerCase();
    const far = isSlip(wrong, right) ? 1 : distance(wrong, right);
    if (far < bestDistance) {
      best = candidate;
      bestDistance = far;
    }
  }
  return best;
}

/** `form` for `from`; `out` for `output`, `models` for `model`. */
function isSlip(wrong: string, right: string): boolean {
  if (wrong.length === right.length) return [...wrong].sort().join('') === [...right].sort().join('');
  return Math.min(wrong.length, right.length) > 2 && (right.startsWith(wrong) || wrong.startsWith(right));
}
