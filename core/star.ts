/** Patterns with one `*`, which matches any characters: `small-*` matches every name with that prefix. */

/**
 * The part of a name that the `*` of a pattern matches; undefined if the name does not match, or the pattern does not
 * have exactly one `*`.
 */
export function starIn(pattern: string, name: string): string | undefined {
  const at = pattern.indexOf('*');
  if (at === -1 || at !== pattern.lastIndexOf('*') || name.length < pattern.length - 1) return undefined;
  const [before, behind] = [pattern.slice(0, at), pattern.slice(at + 1)];
  if (!name.startsWith(before) || !name.endsWith(behind)) return undefined;
  return name.slice(before.length, name.length - behind.length);
}
