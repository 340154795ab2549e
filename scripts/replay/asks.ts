/** The requests of clients who get recorded answers: as recorded where the client speaks the vendor's style, else the least of its own. */
import type { Json, JsonObject } from '../../core/contracts/json.ts';
import type { ClientStyle } from './client.ts';
import { eventsIn } from './event-stream.ts';
import type { Recorded } from './folder.ts';
import { isObject, listOf, objectOf } from './json.ts';
import type { Told } from './told.ts';

/** Asks as the recorded client did, so that the vendor's bytes may come through untouched. */
export function askAgain(recorded: Recorded, model: string): JsonObject {
  const { request, stream, style } = recorded;
  if (request === undefined) return askAs(style as ClientStyle, undefined, stream, model);
  // Whatever these refer to was never said to this gateway.
  const { previous_response_id: _, conversation: __, ...rest } = request;
  const usage = style === 'chat' && stream && tellsUsageAlone(recorded) && { stream_options: { include_usage: true } };
  return { ...rest, model, ...(stream ? { stream } : rest.stream === true && { stream: false }), ...usage };
}

/** The event that holds nothing but the usage is kept from clients that did not ask for it. */
function tellsUsageAlone({ body }: Recorded): boolean {
  return eventsIn(body.toString()).some(
    ({ data }) =>
      isObject(data) && Array.isArray(data.choices) && listOf(data.choices).length === 0 && isObject(data.usage),
  );
}

/**
 * Asks in the client's own style for what the vendor is going to say: the tools it calls are declared, and thoughts are asked
 * for where there will be some.
 */
export function askAs(style: ClientStyle, told: Told | undefined, stream: boolean, model: string): JsonObject {
  const tools = new Map((told?.calls ?? []).map((call) => [call.name, call]));
  const declared = [...tools.values()].map(({ name, custom }) => TOOLS[style](name, custom));
  const common = { model, stream, ...(declared.length > 0 && { tools: declared }) };
  const thinks = told !== undefined && told.reasoning.length > 0;
  // No token is shorter than a byte: as long as this, the request may cost what the vendor is going to say it does.
  const text = 'Hello?'.padEnd(Math.min(told?.usage?.input ?? 0, LONGEST));
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
        max_tokens: Math.max(16_000, told?.usage?.output ?? 0),
        ...(thinks && { thinking: { type: 'enabled', budget_tokens: 2_048 } }),
      };
  }
}

/** More no model reads. */
const LONGEST = 4_000_000;

const PARAMETERS: JsonObject = { type: 'object', properties: {}, additionalProperties: true };

/** How each style declares a tool; one that is called with free text where the style has such. */
const TOOLS: Readonly<Record<ClientStyle, (name: string, custom: boolean) => JsonObject>> = {
  chat: (name, custom) =>
    custom ? { type: 'custom', custom: { name } } : { type: 'function', function: { name, parameters: PARAMETERS } },
  responses: (name, custom) =>
    custom ? { type: 'custom', name } : { type: 'function', name, parameters: PARAMETERS, strict: false },
  messages: (name) => ({ name, input_schema: PARAMETERS }),
};

/** The error that an answer tells instead of what was asked for; undefined where there is no proper one. */
export function errorOf(body: Json | undefined): { readonly message: string; readonly param: string } | undefined {
  const { message, param } = objectOf(objectOf(body).error);
  if (typeof message !== 'string' || message === '') return undefined;
  return { message, param: typeof param === 'string' ? param : '' };
}
