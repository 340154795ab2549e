/** Keys that a signed-in user selects by id instead of sending them. Provided by the plugin `console`. */
import type { Caller } from './caller.ts';
import { type Awaitable, service } from './definitions.ts';
import type { Holder } from './identity.ts';

/** Reads such a request. */
export interface ChosenKeys {
  /** Whether a request without a key selects one. */
  isNamed(caller: Caller): boolean;
  /** The holder of the selected key; undefined if it is not the account's. Refuses if not signed in (401, 403, 429). */
  find(caller: Caller): Awaitable<Holder | undefined>;
}
/** The service `ChosenKeys`. */
export const ChosenKeys = service<ChosenKeys>('chosen-keys');
