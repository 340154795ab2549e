/** The phases `screen` and `inspect` for requests that are not calls but send content to a vendor. Provided by core. */
import type { Caller } from './caller.ts';
import { type Awaitable, type StyleName, service } from './definitions.ts';
import type { Conversation } from './formats/conversation.ts';
import type { JsonBody } from './formats/json.ts';
import type { Holder } from './identity.ts';

/** A token counting request. */
export interface CountRequest extends Pick<Caller, 'path' | 'headers' | 'ip'> {
  readonly holder: Holder;
  readonly style: StyleName;
  /** The JSON body, as received. */
  readonly bytes: Buffer;
}

/** The request while it is counted. */
export interface Counting {
  /** Scanned, and not parsed: that is for requests that were screened. */
  readonly body: Pick<JsonBody, 'get' | 'tree'>;
  /** Rejects if a plugin refuses to do anything for a call of this model (its public name) and size. */
  screen(model: string): Awaitable<void>;
  /** The conversation that plugins put in place of that in the body; undefined: unchanged. Rejects if a plugin refuses. Behind `screen`. */
  inspect(): Awaitable<Conversation | undefined>;
}

/** Runs the plugins that screen calls and inspect content. */
export interface Inspecting {
  /** Runs `use`, and then gives back what plugins took for the request. Refuses (400) what is no JSON object. */
  count<T>(request: CountRequest, use: (counting: Counting) => Promise<T>): Promise<T>;
}
export const Inspecting = service<Inspecting>('inspecting');
