/** Finds the sentence in a vendor's error, in whatever shape it comes. */
import type { Json } from './contracts/call.ts';

/** Errors inside errors, written as text: one for each gateway they have passed. */
const MAX_LAYERS = 3;
const MAX_LENGTH = 1_000;

/** What a vendor says went wrong; undefined where it does not say. */
export function messageIn(body: Buffer): string | undefined {
  let text = body.toString('utf8');
  let found: string | undefined;
  for (let layer = 0; layer <= MAX_LAYERS; layer++) {
    const message = said(text);
    if (message === undefined) break;
    found = message;
    text = message;
  }
  return found?.slice(0, MAX_LENGTH);
}

function said(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return sentence(JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
}

function sentence(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return text(value);
  // Some wrap the error in an array.
  if (Array.isArray(value)) return sentence(value[0] as Json | undefined);
  if (typeof value !== 'object' || value === null) return undefined;
  const { error, message, detail, msg, loc } = value as { readonly [member: string]: Json };
  return sentence(error) ?? text(message) ?? located(text(msg), loc) ?? sentence(detail);
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Servers made with FastAPI say in `detail` what is wrong and where: `["body", "messages", 0, "content"]`. */
function located(words: string | undefined, place: Json | undefined): string | undefined {
  return words !== undefined && Array.isArray(place) ? `${place.join('.')}: ${words}` : words;
}
