/** The phase `inspect` for requests that are no calls, and whose content goes to a vendor all the same. Provided by core. */
import { service } from '../definitions.ts';
import type { StyleName } from './call.ts';
import type { Conversation } from './conversation.ts';
import type { Caller } from './exchange.ts';
import type { JsonObject } from './json.ts';
import type { Holder } from './keys.ts';

/** A request whose tokens are to be counted. */
export interface CountRequest extends Pick<Caller, 'path' | 'headers' | 'ip'> {
  readonly holder: Holder;
  readonly style: StyleName;
  /** The public name. */
  readonly model: string;
  readonly body: JsonObject;
}

/** Asks the plugins that inspect content. */
export interface Inspecting {
  /** Resolves with the conversation that plugins put in the place of the one in `body`; undefined: it stays. Rejects if one refuses. */
  inspect(request: CountRequest): Promise<Conversation | undefined>;
}
export const Inspecting = service<Inspecting>('inspecting');
