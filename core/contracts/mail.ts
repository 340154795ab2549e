/** Email. Provided by the plugin `mail`. */
import { service } from '../definitions.ts';

/** A plain-text email. */
export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Failures are not logged, because the caller reports them. */
  readonly isQuiet?: true;
}

/** Sends email. */
export interface Mail {
  /** False if no server is configured: emails are written to the log instead, so that a new installation works. */
  readonly delivers: boolean;
  /**
   * Resolves when the server has accepted it; rejects after a few failed attempts, which are logged. Routes must not
   * wait for it: their duration must not disclose whether an address is registered.
   */
  send(letter: Letter): Promise<void>;
}
/** The service `Mail`. */
export const Mail = service<Mail>('mail');
