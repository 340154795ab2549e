/** The cache key of a call, and which calls cannot be cached. */
import { createHash } from 'node:crypto';
import type { Awaitable, Content, Known } from '../../core/plugin.ts';
import type { Conversation } from '../../core/translation/index.ts';

/** Larger bodies may have names in place of their media, which differ each time. */
const LARGEST_BODY = 1_024 * 1_024;

/** The key; undefined if the answer must not be cached. A promise only if the body is decoded in several turns. */
export function keyOf(x: Known, content: Content, calls: 'deterministic' | 'all'): Awaitable<string | undefined> {
  if (content.purpose !== 'call' || x.call.body.bytes.length >= LARGEST_BODY) return undefined;
  const conversation = content.conversation();
  return conversation instanceof Promise
    ? conversation.then((decoded) => keyOfConversation(x, content, decoded, calls))
    : keyOfConversation(x, content, conversation, calls);
}

function keyOfConversation(
  x: Known,
  content: Content,
  conversation: Conversation | undefined,
  calls: 'deterministic' | 'all',
): string | undefined {
  if (conversation === undefined || content.refusal() !== undefined) return undefined;
  // What the conversation leaves out could distinguish two requests.
  if (content.omitted().length > 0) return undefined;
  if (calls === 'deterministic' && conversation.sampling.temperature !== 0) return undefined;
  // The results of the vendor's tools change with time.
  if (conversation.tools.some(({ type }) => type === 'hosted')) return undefined;
  const request = canonicalJson([x.identity.account.id, x.call.model, betasOf(x), conversation]);
  return createHash('sha256').update(request).digest('base64');
}

/** Headers that select features of an API, and are forwarded to vendors of the same API. */
function betasOf({ headers }: Known): readonly (readonly [string, string])[] {
  return Object.entries(headers).filter(([name]) => name.endsWith('-beta'));
}

/** JSON that does not depend on the order of members. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
