/** The response formats of `/api`: success and error envelopes, with a matching HTTP status. */
import { type Answer, answer, errorObject, GatewayError, type Json } from '../../../core/plugin.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

/** A result with a message or cookies in addition to its data. Handlers with the format `envelope` may return it. */
export function done(
  data: unknown,
  more: { readonly message?: string; readonly cookies?: readonly string[]; readonly status?: number } = {},
): Answer {
  const { message = '', cookies = [], status = 200 } = more;
  const body = JSON.stringify({ success: true, message, data: data ?? null });
  return answer(status, body, { ...JSON_TYPE, ...(cookies.length > 0 && { 'set-cookie': cookies }) });
}

/** Encodes a handler's result in the format of its route. */
export function spell(spelling: Spelling, given: unknown): unknown {
  switch (spelling) {
    case 'envelope':
      return { success: true, message: '', data: given ?? null };
    case 'payment':
      return { success: true, message: 'success', ...(given as object) };
    case 'bare':
    case 'error-object':
      return given;
  }
}

/** Encodes an error. API clients read `success`; those of payments also `message` and `data`. */
export function spellError(spelling: Spelling, error: GatewayError): Json {
  if (spelling === 'error-object') return errorObject(error);
  const { code, message, param } = error;
  const about = { code, ...(param !== '' && { param }) };
  return spelling === 'payment'
    ? { success: false, message: 'error', data: message, ...about }
    : { success: false, message, ...about };
}

/** Runs a service's method, and renames the fields in its errors to the names that API clients know (`words`). */
export async function inTheirWords<T>(words: Readonly<Record<string, string>>, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw error.with({ param: words[error.param] ?? error.param });
  }
}

/** The format of responses and errors; API clients depend on it. */
export type Spelling =
  /** `{success, message, data}` */
  | 'envelope'
  /** `{message: "success" | "error", data, url?}`: the handler gives `{data, url?}` */
  | 'payment'
  /** The handler's result as it is; errors in the envelope. */
  | 'bare'
  /** The same, but errors have the format of model APIs, which clients expect when they send a key. */
  | 'error-object';
