/** Verification of API keys. Provided by the plugin `auth`. */

import { service } from './definitions.ts';
import type { Holder } from './identity.ts';

/** The check that every call uses. */
export interface KeyCheck {
  /** Refuses (401, 403) a key that is unknown (undefined), disabled, expired, or whose account is disabled. */
  judge(holder: Holder | undefined): Holder;
}
/** The service `KeyCheck`. */
export const KeyCheck = service<KeyCheck>('key-check');
