/** Keys that are named instead of sent, by somebody who proves in another way that they are theirs. Provided by the plugin `console`. */
import { type Awaitable, service } from '../definitions.ts';
import type { Caller } from './exchange.ts';
import type { Holder } from './keys.ts';

/** Reads such a request. */
export interface ChosenKeys {
  /** Whether a request that carries no key names one. */
  isNamed(caller: Caller): boolean;
  /** Who holds the key it names; undefined: nobody, or somebody else. Refuses (401, 403, 429) whoever does not prove who they are. */
  find(caller: Caller): Awaitable<Holder | undefined>;
}
/** The service of that name. */
export const ChosenKeys = service<ChosenKeys>('chosen-keys');
