/** Keys that a signed-in user selects by id instead of sending them. Provided by the plugin `console`. */
import { type Awaitable, service } from '../definitions.ts';
import type { Caller } from './exchange.ts';
import type { Holder } from './keys.ts';

/** Reads such a request. */
export interface ChosenKeys {
  /** Whether a request without a key selects one. */
  isNamed(caller: Caller): boolean;
  /**
   * The holder of the selected key; undefined if it does not exist or belongs to another account. Refuses (401, 403,
   * 429) a request without a valid session.
   */
  find(caller: Caller): Awaitable<Holder | undefined>;
}
/** The service `ChosenKeys`. */
export const ChosenKeys = service<ChosenKeys>('chosen-keys');
