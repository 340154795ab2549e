/** The requests for recorded answers: as recorded if the client uses the vendor's style, otherwise a minimal one. */
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import type { ClientStyle } from './client.ts';
import { eventsIn } from './event-stream.ts';
import type { Recorded } from './folder.ts';
import { isObject, listOf, objectOf } from './json.ts';
import type { DecodedAnswer } from './told.ts';

/** The recorded request, so that the vendor's bytes can be forwarded unchanged. */
export function askAgain(recorded: Recorded, model: string): JsonObject {
  const { request, stream, style } = recorded;
  if (request === undefined) return askAs(style as ClientStyle, undefined, stream, model);
  // References to state that this gateway does not have.
  const { previous_response_id: _, conversation: __, ...rest } = request;
  const usage = style === 'chat' && stream && tellsUsageAlone(recorded) && { stream_options: { include_usage: true } };
  return { ...rest, model, ...(stream ? { stream } : rest.stream === true && { stream: false }), ...usage };
}

/** The event with only usage is removed for clients that did not request it. */
function tellsUsageAlone({ body }: Recorded): boolean {
  return eventsIn(body.toString()).some(
    ({ data }) =>
      isObject(data) && Array.isArray(data.choices) && listOf(data.choices).length === 0 && isObject(data.usage),
  );
}

/**
 * A request in the client's style that fits the answer: the called tools are declared, and reasoning is requested if
 * there is some.
 */
export function askAs(
  style: ClientStyle,
  answer: DecodedAnswer | undefined,
  stream: boolean,
  model: string,
): JsonObject {
  const tools = new Map((answer?.calls ?? []).map((call) => [call.name, call]));
  const declared = [...tools.values()].map(({ name, custom }) => TOOLS[style](name, custom));
  const common = { model, stream, ...(declared.length > 0 && { tools: declared }) };
  const thinks = answer !== undefined && answer.reasoning.length > 0;
  // A token has at least one byte: with this length, the request may have as many input tokens as the vendor will
  // report.
  const text = 'Hello?'.padEnd(Math.min(answer?.usage?.input ?? 0, LONGEST));
  const messages = [{ role: 'user', content: text }];
  switch (style) {
    case 'chat':
      return {
        ...common,
        messages,
        ...(stream && { stream_options: { include_usage: true } }),
        ...(thinks && { reasoning_effort: 'medium' }),
      };
    case 'responses':
      return {
        ...common,
        input: text,
        store: false,
        include: ['reasoning.encrypted_content'],
        ...(thinks && { reasoning: { effort: 'medium', summary: 'auto' } }),
      };
    case 'messages':
      return {
        ...common,
        messages,
        max_tokens: Math.max(16_000, answer?.usage?.output ?? 0),
        ...(thinks && { thinking: { type: 'enabled', budget_tokens: 2_048 } }),
      };
  }
}

/** No model accepts more. */
const LONGEST = 4_000_000;

const PARAMETERS: JsonObject = { type: 'object', properties: {}, additionalProperties: true };

/** How each style declares a tool; a custom tool if the style has them. */
const TOOLS: Readonly<Record<ClientStyle, (name: string, custom: boolean) => JsonObject>> = {
  chat: (name, custom) =>
    custom ? { type: 'custom', custom: { name } } : { type: 'function', function: { name, parameters: PARAMETERS } },
  responses: (name, custom) =>
    custom ? { type: 'custom', name } : { type: 'function', name, parameters: PARAMETERS, strict: false },
  messages: (name) => ({ name, input_schema: PARAMETERS }),
};

/** The error that an answer reports instead; undefined if there is none. */
export function errorOf(body: Json | undefined): { readonly message: string; readonly param: string } | undefined {
  const { message, param } = objectOf(objectOf(body).error);
  if (typeof message !== 'string' || message === '') return undefined;
  return { message, param: typeof param === 'string' ? param : '' };
}
