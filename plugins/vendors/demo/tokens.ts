/** The demo model's tokens: up to four letters or digits with the space before them, or one other character. */
const TOKEN = /\s?[\p{L}\p{N}]{1,4}|\s?[^\p{L}\p{N}\s]|\s/gu;

/** Characters of a text that are counted exactly: counting megabytes would block the process. */
export const MOST_READ = 65_536;

/** The number of tokens of a text; extrapolated for long ones. */
export function countTokens(text: string): number {
  const read = text.slice(0, MOST_READ);
  const count = read.match(TOKEN)?.length ?? 0;
  return read.length === text.length ? count : Math.round((count * text.length) / read.length);
}

/** The first tokens of a text. */
export function firstTokens(text: string, limit: number): string {
  return (text.match(TOKEN) ?? []).slice(0, limit).join('');
}

/** The words of a text, each with the space before it; joined, they are the text. */
export function wordsOf(text: string): readonly string[] {
  return text.match(/\s*\S+|\s+$/gu) ?? [];
}
