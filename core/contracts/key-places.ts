/** Where requests may contain their API key, so that it is not forwarded. Provided by the plugin `auth`. */
import { service } from './definitions.ts';

/** The configured places. */
export interface KeyPlaces {
  /** Headers that may contain a key, in lower case. */
  readonly headers: readonly string[];
  /** The query parameter that may contain a key. */
  readonly query: string;
}
/** The service `KeyPlaces`. */
export const KeyPlaces = service<KeyPlaces>('key-places');
