/** Who makes a request: accounts, keys, sessions and tokens, as far as core reads them. */

import type { Period } from './periods.ts';

/** What a key may use in addition to the limits of all keys: of everything it calls, or of some models. Omitted limits do not apply. */
export interface KeyLimit {
  /** A public name, or a pattern with `*`, whose models share the limits; undefined: all calls of the key. */
  readonly model?: string;
  readonly requestsPerMinute?: number;
  /** Input and output tokens. */
  readonly tokensPerMinute?: number;
  /** Concurrent calls. */
  readonly concurrent?: number;
  /** Micro-quota that may be spent in each day, week or month (UTC). */
  readonly budgets?: Readonly<Partial<Record<Period, bigint>>>;
}

/** A key without its secret. */
export interface KeyRecord {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  /** The name that scopes in gateway.yaml compare, if it is not `name`: the one that the key was created with. */
  readonly scopeName?: string;
  /** `sk-` and the first four characters of the secret. */
  readonly prefix: string;
  /** The last four characters. */
  readonly suffix: string;
  readonly enabled: boolean;
  readonly createdMs: number;
  /** Last use, unix milliseconds, precise to a minute; undefined: never. */
  readonly usedMs: number | undefined;
  /** Unix milliseconds; undefined: never. */
  readonly expiresMs: number | undefined;
  /** The public names this key may call; undefined: all. */
  readonly models: readonly string[] | undefined;
  /** The addresses and networks (`10.0.0.0/8`) it may be used from, as entered; undefined: all. */
  readonly addresses: readonly string[] | undefined;
  /** Translations with warnings that change the answer are refused. */
  readonly strict: boolean;
  /** Its own limits, at most one for each `model`; undefined: none. */
  readonly limits: readonly KeyLimit[] | undefined;
  /** The group of channels that it uses, an entry of the section `groups`; undefined: the group of its account. */
  readonly group?: string | undefined;
}

/** A key and the account that pays for its calls. */
export interface Holder {
  readonly key: KeyRecord;
  readonly account: Account;
}

/** The role of an account in the gateway; there is one `root`, created on the first start. */
export type Role = 'member' | 'admin' | 'root';

/** An account. */
export interface Account {
  readonly id: number;
  readonly name: string;
  /**
   * The name that scopes in gateway.yaml compare, if it is not `name`: the one before the user changed it. It stays reserved. An administrator's
   * change of a name changes both.
   */
  readonly scopeName?: string;
  readonly role: Role;
  /** Its group, named by the operator; undefined: `default`. */
  readonly group?: string;
  /** False: its keys are refused. */
  readonly enabled: boolean;
  /** Unix milliseconds. */
  readonly createdMs: number;
}

/** A user signed in with one browser. */
export interface Session {
  readonly id: number;
  readonly accountId: number;
  /** `password`, `passkey`, or the name of an OAuth provider. */
  readonly method: string;
  readonly ip: string;
  readonly userAgent: string;
  readonly createdMs: number;
  /** Updated at most once a minute. */
  readonly lastSeenMs: number;
  readonly expiresMs: number;
  /** End of the current verification; 0: there was none. */
  readonly verifiedUntilMs: number;
  /** End of the five minutes after sign-in that count as verified; 0: over. */
  readonly recentUntilMs: number;
}

/** A personal access token, without its secret. */
export interface AccessToken {
  readonly accountId: number;
  readonly createdMs: number;
  readonly expiresMs: number;
  /** End of the verification made with it; 0: there was none. */
  readonly verifiedUntilMs: number;
}

/** The groups of operations of `/api`. */
export const SCOPE_GROUPS = [
  'keys',
  'users',
  'departments',
  'usage',
  'prompts',
  'payments',
  'models',
  'system',
  'audit',
  'config',
] as const;

export type ScopeGroup = (typeof SCOPE_GROUPS)[number];

/** What a token may do with a group; `write` includes `read`. */
export type ServiceScope = `${ScopeGroup}:${'read' | 'write'}`;

/** A service token without its secret. Times are unix milliseconds. */
export interface ServiceToken {
  readonly id: number;
  readonly name: string;
  /** The administrator who made it. The token is refused while this account is disabled or not an administrator. */
  readonly accountId: number;
  readonly scopes: readonly ServiceScope[];
  /** Addresses and networks from which it is accepted; undefined: any. */
  readonly addresses: readonly string[] | undefined;
  /** The last four characters of its secret. */
  readonly suffix: string;
  readonly createdMs: number;
  readonly expiresMs: number;
  /** Updated at most once a minute; undefined: never used. */
  readonly usedMs: number | undefined;
  /** The address of that use; empty if there was none. */
  readonly usedIp: string;
  readonly revokedMs: number | undefined;
}
