/** Second factors: codes of an authenticator, backup codes, passkeys. Provided by the plugin `second-factors`. */

import { service } from '../definitions.ts';
import type { Account } from './accounts.ts';
import type { Json, JsonObject } from './json.ts';
import type { Step } from './store.ts';

/** What an account has beside its password. */
export interface FactorStatus {
  readonly totp: boolean;
  /** Too many wrong codes: until when none is taken, unix milliseconds; 0: it is not locked. */
  readonly lockedUntilMs: number;
  readonly backupCodes: number;
  /** When it was used last; undefined: there is no passkey. */
  readonly passkey: { readonly createdMs: number; readonly lastUsedMs: number | undefined } | undefined;
}

/** A set-up that waits for its first code. */
export interface TotpSetup {
  /** Base32. */
  readonly secret: string;
  /** `otpauth://totp/…` */
  readonly uri: string;
  /** The same as a picture: an SVG document. */
  readonly qr: string;
  /** Good once each; they count from `enable` on. */
  readonly backupCodes: readonly string[];
}

/**
 * All of them. Every change ends what was verified before, and all sessions but `session`; it takes steps to write `along`, in the
 * same list. Each code is good once, wherever it is taken.
 */
export interface SecondFactors {
  status(accountId: number): Promise<FactorStatus>;
  /** Makes a pending secret in the place of the one before; refuses (409 `two_factor_enabled`) where one is enabled. */
  setUp(account: Account): Promise<TotpSetup>;
  /** Takes a code of the pending secret. Refuses a wrong one (403 `wrong_code`), and (409 `no_setup`) where nothing is pending. */
  enable(account: Account, code: string, session: number | undefined, along?: readonly Step[]): Promise<void>;
  /** Takes a code as `check` does. */
  disable(account: Account, code: string, session: number | undefined, along?: readonly Step[]): Promise<void>;
  /** Takes a code of the authenticator, as `check` does; no backup code. Voids those before. */
  renewBackupCodes(
    account: Account,
    code: string,
    session?: number | undefined,
    along?: readonly Step[],
  ): Promise<readonly string[]>;
  /**
   * Takes a code of the authenticator or a backup code, once. Refuses: 403 `wrong_code`, 429 `codes_locked`, 409 `no_second_factor`
   * where there is none.
   */
  check(accountId: number, code: string): Promise<void>;
  /** Takes everything away, for administrators; refuses (409 `no_second_factor`, `no_passkey`) where there is nothing. */
  reset(accountId: number, what: 'totp' | 'passkey', along?: readonly Step[]): Promise<void>;

  /** The options for the browser, and the ticket that `finish` wants back. Tells not whether anybody has a passkey. */
  beginPasskeyLogin(): Promise<PasskeyStart>;
  /** Whose it is. Refuses (403 `passkey_refused`) what does not fit. */
  finishPasskeyLogin(ticket: string, credential: JsonObject): Promise<Account>;
  /** Refuses (409 `passkey_exists`) where there is one: an account has one at most. */
  beginPasskeyRegistration(account: Account, session: number): Promise<PasskeyStart>;
  /** Refuses (403 `passkey_refused`) what does not fit, and (409 `passkey_exists`, `passkey_taken`) what another was quicker with. */
  finishPasskeyRegistration(
    account: Account,
    session: number,
    ticket: string,
    credential: JsonObject,
    along?: readonly Step[],
  ): Promise<void>;
  /** Refuses (409 `no_passkey`) where there is none. */
  beginPasskeyCheck(account: Account, session: number): Promise<PasskeyStart>;
  /** Refuses (403 `passkey_refused`) what does not fit. */
  finishPasskeyCheck(account: Account, session: number, ticket: string, credential: JsonObject): Promise<void>;
  /** Refuses (409 `no_passkey`) where there is none. */
  removePasskey(account: Account, session: number, along?: readonly Step[]): Promise<void>;
}
/** A ceremony begun. */
export interface PasskeyStart {
  /** What WebAuthn calls public key options, as JSON. */
  readonly options: Json;
  readonly ticket: string;
  readonly expiresMs: number;
}
/** The service of that name. */
export const SecondFactors = service<SecondFactors>('second-factors');
