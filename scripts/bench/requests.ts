/** The requests of clients. */

/** The model of every chat request. */
export const MODEL = 'gpt-4o-mini';

/** The text of every turn. */
export const CONTENT: string =
  'Explain how a toll road keeps its books, and what happens when a barrier fails. '.repeat(5);

/** More than any answer has: a longer one would exceed its reservation and be cut off. */
export const MAX_TOKENS = 2_048;

/** A chat request of 2 KB. */
export function chatRequest(stream: boolean): string {
  const messages = ['system', 'user', 'assistant', 'user'].map((role) => ({ role, content: CONTENT }));
  return JSON.stringify({
    model: MODEL,
    stream,
    temperature: 0.2,
    max_tokens: MAX_TOKENS,
    messages,
    user: 'u'.repeat(64),
  });
}
