/** The first start: secrets that are created and shown to the operator once. Provided by core. */
import { service } from './definitions.ts';

/** Collects them for core. */
export interface FirstStart {
  /** Call it before creating anything that only the first start creates. Throws if this process only runs a command. */
  begin(): void;
  /** Has core print these on the terminal when the gateway is ready. They are stored nowhere and never logged. */
  note(lines: { readonly rootPassword?: string; readonly key?: string }): void;
  /** The sign-in page, shown with the password on the first start only. */
  signIn(url: string): void;
}
/** The service `FirstStart`. */
export const FirstStart = service<FirstStart>('first-start');
