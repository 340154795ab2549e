/** Under which key the answer to a call is kept, and which calls have none. */
import { createHash } from 'node:crypto';
import type { Awaitable, Content, Known } from '../../core/plugin.ts';
import type { Conversation } from '../../core/translation/index.ts';

/** Bytes of a body from which on names can stand for its media, which are other names each time. */
const LARGEST_BODY = 1_024 * 1_024;

/** The key; undefined if the answer to this call is not to be cached. A promise only if the body is decoded in turns. */
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
  // What the conversation lacks could make two requests differ.
  if (content.omitted().length > 0) return undefined;
  if (calls === 'deterministic' && conversation.sampling.temperature !== 0) return undefined;
  // What a tool of the vendor's finds changes with time.
  if (conversation.tools.some(({ type }) => type === 'hosted')) return undefined;
  const request = canonicalJson([x.identity.account.id, x.call.model, betasOf(x), conversation]);
  return createHash('sha256').update(request).digest('base64');
}

/** Headers that select features of an API, and are forwarded to vendors of the same API. */
function betasOf({ headers }: Known): readonly (readonly [string, string])[] {
  return Object.entries(headers).filter(([name]) => name.endsWith('-beta'));
}

/** JSON in which the order of members does not matter. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
