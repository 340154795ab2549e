/** The phase `inspect` for requests that are not calls but send content to a vendor. Provided by core. */
import { service } from '../definitions.ts';
import type { StyleName } from './call.ts';
import type { Conversation } from './conversation.ts';
import type { Caller } from './exchange.ts';
import type { JsonObject } from './json.ts';
import type { Holder } from './keys.ts';

/** A token counting request. */
export interface CountRequest extends Pick<Caller, 'path' | 'headers' | 'ip'> {
  readonly holder: Holder;
  readonly style: StyleName;
  /** The public name. */
  readonly model: string;
  readonly body: JsonObject;
}

/** Runs the plugins that inspect content. */
export interface Inspecting {
  /** Resolves with the conversation that replaces that in `body`; undefined: unchanged. Rejects if a plugin refuses. */
  inspect(request: CountRequest): Promise<Conversation | undefined>;
}
export const Inspecting = service<Inspecting>('inspecting');
