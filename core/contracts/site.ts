/** The console as gateway.yaml describes it: address, sign-in and registration. Provided by the plugin `console`. */
import { service } from './definitions.ts';

/** Settings of the console that do not depend on request headers, which can be forged. */
export interface Site {
  /** `https://console.example.com`, the origin in browsers. */
  readonly origin: string;
  /** The same with the path prefix of a proxy, if any, without a trailing slash: base of all links. */
  readonly root: string;
  /** Served over https: cookies are set only then. */
  readonly secure: boolean;
  /** For browsers on this machine: `http://localhost:8080`. */
  readonly local: boolean;
  /** Its name in emails and authenticators: `Turnpike`. */
  readonly name: string;
  /** Lifetime of a session: idle, and in total. */
  readonly session: { readonly idleMs: number; readonly longestMs: number };
  /** Lifetime of an access token. */
  readonly accessToken: { readonly longestMs: number };
  /** Default lifetime of an invitation. */
  readonly invitations: { readonly forMs: number };
  /** Who may register: any visitor, users with an invitation, or no visitor. An invited address is always accepted. */
  readonly registration: 'open' | 'invite' | 'closed';
  /** A new account needs a verified email address. */
  readonly emailProof: boolean;
  /** `possible`: browsers do not support passkeys for an IP address. */
  readonly passkeys: { readonly rpId: string; readonly origins: readonly string[]; readonly possible: boolean };
  /** OAuth providers, by their name in paths. */
  readonly oauth: Readonly<Record<string, OAuthSettings>>;
}

/** The configuration of a provider. */
export interface OAuthSettings {
  /** `oidc`: any provider with discovery at `issuer`; otherwise one that the plugin `oauth` knows by this name. */
  readonly type: string;
  /** Empty: disabled. */
  readonly id: string;
  readonly secret: string;
  readonly issuer: string | undefined;
  readonly label: string | undefined;
}
/** The service `Site`. */
export const Site = service<Site>('site');
