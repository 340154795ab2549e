/** A changed field of what an earlier run imported, and how it is written. */
import type { Json, Step } from '../../../core/plugin.ts';

/** One value that differs. */
export interface Difference {
  readonly field: string;
  readonly was: Json;
  readonly is: Json;
}

/** Notes what became of differences, and writes the row that remembers them. */
export interface Updating {
  /** The steps to write along with a change of these fields. */
  along(fields: readonly string[]): readonly Step[];
  /** They were written, or would be. */
  applied(fields: readonly string[]): void;
  /**
   * It was changed here to the same value. It is not remembered as imported: if it changes back there, it stays as it is here, for example disabled by
   * an administrator.
   */
  same(field: string): void;
  conflict(field: string, why: string): void;
}
