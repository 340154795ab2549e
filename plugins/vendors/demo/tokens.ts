/** The demo model's tokens: up to four letters or digits with the space before them, or one other character. */
const TOKEN = /\s?[\p{L}\p{N}]{1,4}|\s?[^\p{L}\p{N}\s]|\s/gu;

/** How many tokens a text has. */
export function countTokens(text: string): number {
  return text.match(TOKEN)?.length ?? 0;
}

/** The first so many tokens of a text. */
export function firstTokens(text: string, limit: number): string {
  return (text.match(TOKEN) ?? []).slice(0, limit).join('');
}

/** The words of a text, each with the space before it; joined they are the text. */
export function wordsOf(text: string): readonly string[] {
  return text.match(/\s*\S+|\s+$/gu) ?? [];
}
