/** Second factors: TOTP codes, backup codes, passkeys. Provided by the plugin `second-factors`. */

import { service } from './definitions.ts';
import type { Json, JsonObject } from './formats/json.ts';
import type { Account } from './identity.ts';
import type { Step } from './store.ts';

/** The second factors of an account. */
export interface FactorStatus {
  readonly totp: boolean;
  /** End of the lock after too many wrong codes, unix milliseconds; 0: not locked. */
  readonly lockedUntilMs: number;
  readonly backupCodes: number;
  /** Last use; undefined: there is no passkey. */
  readonly passkey: { readonly createdMs: number; readonly lastUsedMs: number | undefined } | undefined;
}

/** A set-up that waits for its first code. */
export interface TotpSetup {
  /** Base32. */
  readonly secret: string;
  /** `otpauth://totp/…` */
  readonly uri: string;
  /** The QR code as an SVG document. */
  readonly qr: string;
  /** Each is valid once, from `enable` on. */
  readonly backupCodes: readonly string[];
}

/** The second factors of an account that was moved from another program. */
export interface AdoptedFactors {
  /** The secret of an authenticator in use: base32, codes of 6 digits, SHA-1, 30 seconds. */
  readonly totpSecret?: string | undefined;
  readonly passkey?: AdoptedPasskey | undefined;
}

/** A passkey that was registered there. It must be discoverable and verify its user. */
export interface AdoptedPasskey {
  /** The domain that it was registered for. */
  readonly rpId: string;
  /** The user handle that its authenticator returns, the credential's id, and its COSE key: base64url. */
  readonly userHandle: string;
  readonly credentialId: string;
  readonly publicKey: string;
  readonly counter: number;
  readonly transports?: readonly string[] | undefined;
}

/** All second factors. Each code is valid once. Changes end all sessions but `session`; `along`: further steps. */
export interface SecondFactors {
  status(accountId: number): Promise<FactorStatus>;
  /** Creates a pending secret, replacing an earlier one; refuses (409 `two_factor_enabled`) if 2FA is enabled. */
  setUp(account: Account): Promise<TotpSetup>;
  /** Enables 2FA with a code of the pending secret. Refuses: 403 `wrong_code`; 409 `no_setup` if nothing is pending. */
  enable(account: Account, code: string, session: number | undefined, along?: readonly Step[]): Promise<void>;
  /** Disables 2FA; the code is checked as by `check`. */
  disable(account: Account, code: string, session: number | undefined, along?: readonly Step[]): Promise<void>;
  /** New backup codes, which replace the earlier ones. Takes a TOTP code as `check` does; no backup code. */
  renewBackupCodes(
    account: Account,
    code: string,
    session?: number | undefined,
    along?: readonly Step[],
  ): Promise<readonly string[]>;
  /** Verifies a TOTP or backup code, once. Refuses: 403 `wrong_code`, 429 `codes_locked`, 409 `no_second_factor`. */
  check(accountId: number, code: string): Promise<void>;
  /**
   * The steps for the list that creates an account. `problems`: what they do not include, and why, in one sentence
   * without its full stop. What the account has already stays.
   */
  adoptSteps(
    accountId: number,
    factors: AdoptedFactors,
  ): Promise<{
    readonly steps: readonly Step[];
    readonly problems: Readonly<Partial<Record<'totp' | 'passkey', string>>>;
  }>;
  /** Removes second factors, for administrators; refuses (409 `no_second_factor`, `no_passkey`) if there is none. */
  reset(accountId: number, what: 'totp' | 'passkey', along?: readonly Step[]): Promise<void>;

  /** The options for the browser, and the ticket for `finish`. Does not disclose whether an account has a passkey. */
  beginPasskeyLogin(): Promise<PasskeyStart>;
  /** The account. Refuses (403 `passkey_refused`) an invalid response. */
  finishPasskeyLogin(ticket: string, credential: JsonObject): Promise<Account>;
  /** Refuses (409 `passkey_exists`) if there is one: an account has at most one. */
  beginPasskeyRegistration(account: Account, session: number): Promise<PasskeyStart>;
  /**
   * Refuses (403 `passkey_refused`) an invalid response, and (409 `passkey_exists`, `passkey_taken`) if a concurrent
   * request registered one first.
   */
  finishPasskeyRegistration(
    account: Account,
    session: number,
    ticket: string,
    credential: JsonObject,
    along?: readonly Step[],
  ): Promise<void>;
  /** Refuses (409 `no_passkey`) if there is none. */
  beginPasskeyCheck(account: Account, session: number): Promise<PasskeyStart>;
  /** Refuses (403 `passkey_refused`) an invalid response. */
  finishPasskeyCheck(account: Account, session: number, ticket: string, credential: JsonObject): Promise<void>;
  /** Refuses (409 `no_passkey`) if there is none. */
  removePasskey(account: Account, session: number, along?: readonly Step[]): Promise<void>;
}
/** A WebAuthn ceremony that was started. */
export interface PasskeyStart {
  /** The WebAuthn public key options, as JSON. */
  readonly options: Json;
  readonly ticket: string;
  readonly expiresMs: number;
}
/** The service `SecondFactors`. */
export const SecondFactors = service<SecondFactors>('second-factors');
