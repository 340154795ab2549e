/** A request as a vendor of another style would get it, for questions about it. */
import type { Conversation } from '../contracts/conversation.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { Origin, Style, Target } from '../contracts/style.ts';
import { adapt } from './adapt.ts';
import { withFieldQuirks } from './field-quirks.ts';
import { collectLosses } from './losses.ts';

/**
 * Says a client's request in the vendor's style; nothing is fetched for it. `replaced`: the conversation that a plugin put in the place
 * of the one in `body`. Undefined where there is no translation between the two; throws where this request cannot be said.
 */
export function retell(
  body: JsonObject,
  asked: Style,
  spoken: Style,
  to: Origin & Pick<Target, 'quirks'>,
  replaced?: Conversation,
): JsonObject | undefined {
  if (asked.client === undefined || spoken.vendor === undefined) return undefined;
  // What is lost concerns nobody: there will be no answer.
  const losses = collectLosses(asked.client.names);
  const target: Target = { ...to, stream: false, askUsage: false };
  const said = replaced ?? asked.client.decodeRequest(body, losses);
  const { conversation } = adapt(said, spoken.name, target, losses);
  return withFieldQuirks(spoken.vendor.encodeRequest(conversation, target, losses), to.quirks, losses);
}
