/** A request as a vendor of another style would get it, for token counting. */
import type { Conversation } from '../contracts/conversation.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { Origin, Style, Target } from '../contracts/style.ts';
import { adapt } from './adapt.ts';
import { withFieldQuirks } from './field-quirks.ts';
import { collectLosses } from './losses.ts';

/**
 * Translates a client's request; nothing is fetched for it. `replaced`: the conversation that a plugin put in place of
 * the one in `body`. Undefined if the styles cannot be translated; throws if this request cannot.
 */
export function retell(
  body: JsonObject,
  clientStyle: Style,
  vendorStyle: Style,
  to: Origin & Pick<Target, 'quirks'>,
  replaced?: Conversation,
): JsonObject | undefined {
  if (clientStyle.client === undefined || vendorStyle.vendor === undefined) return undefined;
  // Warnings are ignored: there will be no answer.
  const losses = collectLosses(clientStyle.client.names);
  const target: Target = { ...to, stream: false, askUsage: false };
  const source = replaced ?? clientStyle.client.decodeRequest(body, losses);
  const { conversation } = adapt(source, vendorStyle.name, target, losses);
  return withFieldQuirks(vendorStyle.vendor.encodeRequest(conversation, target, losses), to.quirks, losses);
}
