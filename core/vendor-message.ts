/** Finds the message and the code in a vendor's error, in whatever format. */
import type { Json } from './contracts/json.ts';
import { readVendorError, type VendorError } from './translation/vendor-errors.ts';

/** Maximum nesting of errors inside errors as text: one level for each gateway they have passed. */
const MAX_LAYERS = 3;
const MAX_LENGTH = 1_000;

/** The vendor's error; undefined if there is none. The code is that of the innermost error that has one. */
export function refusalIn(body: Buffer): VendorError | undefined {
  let text = body.toString('utf8');
  let error: VendorError | undefined;
  for (let layer = 0; layer <= MAX_LAYERS; layer++) {
    const inner = nestedError(text);
    if (inner === undefined) break;
    error = { message: inner.message, code: inner.code || (error?.code ?? '') };
    text = inner.message;
  }
  return error && { ...error, message: error.message.slice(0, MAX_LENGTH) };
}

function nestedError(text: string): VendorError | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    const message = sentence(value);
    return message === undefined ? undefined : { message, code: codeIn(value) };
  } catch {
    return undefined;
  }
}

function sentence(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return nonEmpty(value);
  // Some vendors wrap the error in an array.
  if (Array.isArray(value)) return sentence(value[0] as Json | undefined);
  if (typeof value !== 'object' || value === null) return undefined;
  const { error, message, detail, msg, loc } = value as { readonly [member: string]: Json };
  return sentence(error) ?? nonEmpty(message) ?? located(nonEmpty(msg), loc) ?? sentence(detail);
}

function codeIn(value: Json | undefined): string {
  if (Array.isArray(value)) return codeIn(value[0] as Json | undefined);
  if (typeof value !== 'object' || value === null) return '';
  const { error, ...around } = value as { readonly [member: string]: Json };
  return codeIn(error) || readVendorError(around).code;
}

function nonEmpty(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** FastAPI servers put the message and the path in `detail`: `["body", "messages", 0, "content"]`. */
function located(words: string | undefined, place: Json | undefined): string | undefined {
  return words !== undefined && Array.isArray(place) ? `${place.join('.')}: ${words}` : words;
}
