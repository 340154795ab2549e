/** Mail. Provided by the plugin `mail`. */
import { service } from '../definitions.ts';

/** A letter in plain text. */
export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends letters. */
export interface Mail {
  /** False where no server is configured: letters are written to the log instead, so that a newcomer can go on. */
  readonly delivers: boolean;
  /**
   * Resolves when the server has taken it; rejects where it did not after a few tries, which is logged. Routes do not wait for it: how
   * long they take must not tell whether anybody has the address.
   */
  send(letter: Letter): Promise<void>;
}
/** The service of that name. */
export const Mail = service<Mail>('mail');
