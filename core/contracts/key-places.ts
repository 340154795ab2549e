/** Where a request may carry its key, for whoever must not pass it on. Provided by the plugin `auth`. */
import { service } from '../definitions.ts';

/** The places, as gateway.yaml names them. */
export interface KeyPlaces {
  /** Headers a key may stand in, in lower case. */
  readonly headers: readonly string[];
  /** The member of the query that may hold one. */
  readonly query: string;
}
/** The service of that name. */
export const KeyPlaces = service<KeyPlaces>('key-places');
