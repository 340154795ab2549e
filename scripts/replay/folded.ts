/** A folded stream: what a client has of it at its end. */
import type { JsonObject } from '../../core/contracts/formats/json.ts';

/** The result of a stream. */
export interface Folded {
  /** The whole answer, as far as it was received. */
  readonly body: JsonObject;
  /** The error in the stream. */
  readonly error: string | undefined;
  /** True if the stream ended properly. */
  readonly ended: boolean;
  /**
   * True if it contradicts itself: another answer starts before the end, or its pieces differ from its final output.
   */
  readonly torn: boolean;
}
