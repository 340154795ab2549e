/** Checks of what phases of plugins return. */

import type { Offer } from '../contracts/formats/call.ts';
import type { Inspection } from '../contracts/formats/content.ts';
import type { Conversation, Reply } from '../contracts/formats/conversation.ts';
import type { Holder } from '../contracts/identity.ts';
import { describe } from '../helpers/shape-checks.ts';

/** The problem with a result of `authenticate`, as a sentence; undefined: none. */
export function problemOfHolder(holder: Holder): string | undefined {
  // The members that are used for every call: this runs for each of them.
  if (typeof holder?.key?.id === 'number' && typeof holder.account?.id === 'number') return undefined;
  return `\`authenticate\` must return a Holder, with \`key\` and \`account\`, or undefined, and returned ${describe(holder)}`;
}

/** The same of `route`. */
export function problemOfOffers(offers: Iterable<Offer>): string | undefined {
  if (typeof offers?.[Symbol.iterator] === 'function') return undefined;
  return `\`route\` must return a list of targets, or undefined, and returned ${describe(offers)}`;
}

/** The same of `inspect`. */
export function problemOfInspection(inspection: Inspection): string | undefined {
  const given = inspection as Partial<Record<'answer' | 'charge' | 'conversation' | 'texts', unknown>> | null;
  if (Array.isArray(given?.texts)) return undefined;
  if (Array.isArray((given?.conversation as Conversation | undefined)?.turns)) return undefined;
  if (given?.answer !== undefined) return problemOfAnswer(given.answer, given.charge);
  return `\`inspect\` must return an object with \`conversation\`, \`texts\` or \`answer\`, or undefined, and returned ${describe(inspection)}`;
}

function problemOfAnswer(answer: unknown, charge: unknown): string | undefined {
  const isParts = typeof (answer as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === 'function';
  if (!isParts && !Array.isArray((answer as Partial<Reply>).blocks))
    return '`inspect` returned an `answer` that is neither a reply nor an asynchronous iterable of parts';
  return charge === 'usage' || charge === 'nothing' ? undefined : '`charge` of an `answer` must be usage or nothing';
}
