/** The findings of `turnpike doctor`. */

/** A finding. */
export interface Diagnosis {
  /** What was examined, in one or two words: `clock`, `channel main`. */
  readonly topic: string;
  /** `problem`: something does not work, or will soon not. `warning`: it works, but is not advisable. */
  readonly level: 'ok' | 'warning' | 'problem';
  /** What was found, as one line. */
  readonly text: string;
  /** What to do about it; undefined: nothing. */
  readonly advice?: string;
}
