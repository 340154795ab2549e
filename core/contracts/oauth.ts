/** Sign-in with OAuth accounts. Provided by the plugin `oauth`. */

import { service } from './definitions.ts';
import type { Step } from './store.ts';

/** A configured provider. */
export interface OAuthProvider {
  /** Its name in paths. */
  readonly name: string;
  readonly label: string;
}

/** The purpose of a flow. */
export type OAuthIntent = 'login' | 'bind';

/** A user's identity at a provider. */
export interface Identity {
  readonly provider: string;
  /** The provider's permanent id of the user: `sub`. */
  readonly subject: string;
  /** A suggested user name. */
  readonly name: string;
  /** Only if the provider says that it is verified. */
  readonly email: string | undefined;
}

/** An identity that another program has recorded. */
export interface AdoptedIdentity {
  /** The type of its provider, as in `OAuthSettings`. */
  readonly type: string;
  /** The provider itself: its issuer, `https://id.example.com`. */
  readonly issuer: string;
  /** The name that its provider would have in `console.oauth` if it is not there under another one. */
  readonly name: string;
  /** The provider's permanent id of the user: never a name or an address, which can go to another one. */
  readonly subject: string;
}

/** OAuth flows and linked accounts. */
export interface OAuth {
  readonly providers: readonly OAuthProvider[];
  /**
   * Starts a flow: returns the URL for the browser, and the value for its cookie, which is checked when the browser
   * comes back. 404 for a provider that is not configured. `invitation`: its code, which `finish` returns.
   */
  begin(
    provider: string,
    intent: OAuthIntent,
    accountId: number | undefined,
    invitation?: string,
  ): Promise<{ readonly url: string; readonly state: string; readonly binding: string; readonly expiresMs: number }>;
  /**
   * Finishes a flow: exchanges the code. Refuses (400 `oauth_state`) a state that is unknown, used, expired, of another
   * browser (`binding` is its cookie) or of another provider; (400 `oauth_code`) an invalid code; and (502) if the
   * provider fails. `iss`: the issuer parameter of the callback URL.
   */
  finish(
    provider: string,
    answer: {
      readonly state: string;
      readonly code: string;
      readonly binding: string;
      readonly iss?: string | undefined;
    },
  ): Promise<{
    readonly intent: OAuthIntent;
    readonly accountId: number | undefined;
    readonly identity: Identity;
    /** Empty: none. */
    readonly invitation: string;
  }>;
  /** The account linked to an identity; undefined: none. */
  accountOf(identity: Identity): Promise<number | undefined>;
  /** Links an identity. Refuses (409) that of another account (`identity_taken`), a second one (`provider_bound`). */
  bind(accountId: number, identity: Identity, along?: readonly Step[]): Promise<void>;
  /** The steps of `bind`, for the list that creates the account. `must`: `identity_taken`. */
  bindSteps(accountId: number, identity: Identity): readonly Step[];
  /**
   * The steps that link an identity of another program to an account that is created in the same list, and its provider; or why it is not
   * linked, in one sentence without its full stop. The link is valid for its issuer only. `isConfigured`: false until `console.oauth` has
   * the provider.
   */
  adoptSteps(
    accountId: number,
    identity: AdoptedIdentity,
  ): Promise<{ readonly provider: string; readonly isConfigured: boolean; readonly steps: readonly Step[] } | string>;
  /**
   * Unlinks it; false if there was none. `keepOne`: refuses (409 `last_login_method`) to unlink the last one; for an
   * account without another sign-in method.
   */
  unbind(
    accountId: number,
    provider: string,
    more?: { readonly keepOne?: boolean; readonly along?: readonly Step[] },
  ): Promise<boolean>;
  bindings(accountId: number): Promise<readonly { readonly provider: string; readonly subject: string }[]>;
}
/** The service `OAuth`. */
export const OAuth = service<OAuth>('oauth');
