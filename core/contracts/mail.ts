/** Email. Provided by the plugin `mail`. */
import { service } from './definitions.ts';
import type { JsonObject } from './formats/json.ts';

/** A plain-text email. */
export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Failures are not logged, because the caller reports them. */
  readonly isQuiet?: true;
}

/** The languages of emails to users. */
export type MailLanguage = 'en' | 'zh';

/** The language in the settings of an account (`Person.settings`); if there is none, the first of a request's `accept-language`. */
export function mailLanguage(settings: JsonObject | undefined, accepted = ''): MailLanguage {
  const { language } = settings ?? {};
  return /^zh\b/i.test(typeof language === 'string' && language !== '' ? language : accepted) ? 'zh' : 'en';
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
