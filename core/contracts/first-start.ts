/** The first start: secrets that are made once, shown to the operator once, and where they are good. Provided by core. */
import { service } from '../definitions.ts';

/** Core's ear for them. */
export interface FirstStart {
  /** To be called before anything is made that only the first start makes. Throws if this process only runs a command. */
  begin(): void;
  /** Has core print these on the terminal when the gateway is ready. They are stored nowhere and never logged. */
  note(lines: { readonly rootPassword?: string; readonly key?: string }): void;
  /** Where people sign in with the password; shown beside it, on the first start only. */
  signIn(url: string): void;
}
/** The service of that name. */
export const FirstStart = service<FirstStart>('first-start');
