/** Responses that can be continued. Provided by the plugin `styles`. */

import { service } from './definitions.ts';
import type { Step } from './store.ts';

/** Stored responses of calls. */
export interface StoredResponses {
  /** The steps that delete the stored responses of an account or of keys, for the list that deletes these. */
  deleteSteps(owner: { readonly account: number } | { readonly keys: readonly number[] }): readonly Step[];
}
/** The service `StoredResponses`. */
export const StoredResponses = service<StoredResponses>('stored-responses');
