/** Sign-in with an account elsewhere. Provided by the plugin `oauth`. */

import { service } from '../definitions.ts';
import type { Step } from './store.ts';

/** A provider that is configured. */
export interface OAuthProvider {
  /** The word in its paths. */
  readonly name: string;
  readonly label: string;
}

/** What a flow is for. */
export type OAuthIntent = 'login' | 'bind';

/** Who somebody is elsewhere. */
export interface Identity {
  readonly provider: string;
  /** What the provider calls them for ever: `sub`. */
  readonly subject: string;
  /** A name that may be free here. */
  readonly name: string;
  /** Only where the provider says that it is proven. */
  readonly email: string | undefined;
}

/** Flows and bindings. */
export interface OAuth {
  readonly providers: readonly OAuthProvider[];
  /**
   * Begins a flow: where to send the browser, and what its cookie must hold when it comes back (it is part of what is checked).
   * 404 for a provider that is not configured.
   */
  begin(
    provider: string,
    intent: OAuthIntent,
    accountId: number | undefined,
  ): Promise<{ readonly url: string; readonly state: string; readonly binding: string; readonly expiresMs: number }>;
  /**
   * Ends it: exchanges the code. Refuses (400 `oauth_state`) a state that is unknown, used, old, of another browser (`binding` is
   * its cookie), of another provider; a code that is not good (400 `oauth_code`); and (502) where the provider does not play along.
   * `iss`: what the provider calls itself in the address that brings the code.
   */
  finish(
    provider: string,
    answer: {
      readonly state: string;
      readonly code: string;
      readonly binding: string;
      readonly iss?: string | undefined;
    },
  ): Promise<{ readonly intent: OAuthIntent; readonly accountId: number | undefined; readonly identity: Identity }>;
  /** Whose identity that is; undefined: nobody's. */
  accountOf(identity: Identity): Promise<number | undefined>;
  /** Refuses (409 `identity_taken`, `provider_bound`) where it is somebody else's, or the account has one of that provider. */
  bind(accountId: number, identity: Identity, along?: readonly Step[]): Promise<void>;
  /** The steps of that, for the list that makes the account. `must`: `identity_taken`. */
  bindSteps(accountId: number, identity: Identity): readonly Step[];
  /**
   * False where there was none. `keepOne`: refuses (409 `last_login_method`) to take the last one away; for an account that has no
   * other way to sign in.
   */
  unbind(
    accountId: number,
    provider: string,
    more?: { readonly keepOne?: boolean; readonly along?: readonly Step[] },
  ): Promise<boolean>;
  bindings(accountId: number): Promise<readonly { readonly provider: string; readonly subject: string }[]>;
}
/** The service of that name. */
export const OAuth = service<OAuth>('oauth');
