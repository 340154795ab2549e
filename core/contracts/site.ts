/** The console as gateway.yaml describes it: its address, who may come in and how. Provided by the plugin `console`. */
import { service } from '../definitions.ts';

/** What is known of the console without asking a request, which could lie. */
export interface Site {
  /** `https://console.example.com`, without a path: what browsers call the site. */
  readonly origin: string;
  /** The same with the path that a proxy has put the gateway below, if any, and no slash at its end: all links begin with it. */
  readonly root: string;
  /** Served over https: cookies are for that only. */
  readonly secure: boolean;
  /** For browsers on this machine only: `http://localhost:8080`. */
  readonly local: boolean;
  /** What mails and authenticators call it: `Turnpike`. */
  readonly name: string;
  /** How long somebody stays signed in: unused, and at the longest. */
  readonly session: { readonly idleMs: number; readonly longestMs: number };
  /** How long an access token works. */
  readonly accessToken: { readonly longestMs: number };
  /** Who may make an account: anybody, whoever has an invitation, nobody. */
  readonly registration: 'open' | 'invite' | 'closed';
  /** A new account needs an e-mail address that is proven. */
  readonly emailProof: boolean;
  /** `possible`: browsers make none for an address without a name. */
  readonly passkeys: { readonly rpId: string; readonly origins: readonly string[]; readonly possible: boolean };
  /** Providers of sign-in, by the word in their paths. */
  readonly oauth: Readonly<Record<string, OAuthSettings>>;
}

/** How a provider is configured. */
export interface OAuthSettings {
  /** `oidc`: anything that can be discovered at `issuer`; else a provider that the plugin `oauth` knows by this name. */
  readonly type: string;
  /** Empty: it is off. */
  readonly id: string;
  readonly secret: string;
  readonly issuer: string | undefined;
  readonly label: string | undefined;
}
/** The service of that name. */
export const Site = service<Site>('site');
