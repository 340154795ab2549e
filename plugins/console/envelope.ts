/** How `/api` spells answers and refusals, with an HTTP status that says the same. */
import { type Answer, answer, errorObject, GatewayError, type Json } from '../../core/plugin.ts';
import type { Spelling } from './route.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

/** An answer that says more than its data: a sentence for people, cookies. Handlers of the spelling `envelope` may give it. */
export function done(
  data: unknown,
  more: { readonly message?: string; readonly cookies?: readonly string[]; readonly status?: number } = {},
): Answer {
  const { message = '', cookies = [], status = 200 } = more;
  const body = JSON.stringify({ success: true, message, data: data ?? null });
  return answer(status, body, { ...JSON_TYPE, ...(cookies.length > 0 && { 'set-cookie': cookies }) });
}

/** What a handler gave, in the spelling of its row. */
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

/** A refusal. Tools look at `success`, and those that pay at `message` and `data`. */
export function spellError(spelling: Spelling, error: GatewayError): Json {
  if (spelling === 'error-object') return errorObject(error);
  const { code, message, param } = error;
  const about = { code, ...(param !== '' && { param }) };
  return spelling === 'payment'
    ? { success: false, message: 'error', data: message, ...about }
    : { success: false, message, ...about };
}

/** Does what a service does, and calls the fields of its refusals as tools do: `words` has their name for ours. */
export async function inTheirWords<T>(words: Readonly<Record<string, string>>, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw error.with({ param: words[error.param] ?? error.param });
  }
}
