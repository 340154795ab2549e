/** What an import found in another gateway, in terms of this one. Amounts are micro-quota. */
import type { KeyLimit } from '../../core/contracts/keys.ts';

/** A group or team. */
export interface ForeignDepartment {
  /** Its identifier in the other gateway. */
  readonly id: string;
  readonly name: string;
  /** Price factor in millionths. */
  readonly factorPpm?: number;
  readonly budget?: bigint;
  readonly monthlyBudget?: bigint;
  readonly enabled: boolean;
}

/** A user, or the owner of keys that belong to no user. */
export interface ForeignUser {
  readonly id: string;
  readonly name: string;
  readonly displayName?: string | undefined;
  readonly email?: string | undefined;
  /** `root` becomes the root account of this gateway. */
  readonly role: 'member' | 'admin' | 'root';
  readonly enabled: boolean;
  readonly group?: string | undefined;
  readonly remark?: string | undefined;
  /** Undefined: no limit. Below zero: a debt. */
  readonly balance: bigint | undefined;
  /** The `id` of its department. */
  readonly department?: string | undefined;
  /** False: it only owns keys, so it needs no password. */
  readonly isPerson: boolean;
}

/** A key. */
export interface ForeignKey {
  /** Its hash, or another identifier. */
  readonly id: string;
  /** The `id` of its owner. */
  readonly user: string;
  readonly name: string;
  /** Undefined: its secret cannot be used here, so a new one is created. */
  readonly secret: { readonly hash: string; readonly prefix: string; readonly suffix: string } | undefined;
  /** Undefined: limited by its account's balance only. */
  readonly allowance: bigint | undefined;
  readonly limits?: readonly KeyLimit[] | undefined;
  readonly models?: readonly string[] | undefined;
  readonly addresses?: readonly string[] | undefined;
  readonly expiresMs?: number | undefined;
  readonly enabled: boolean;
}

/** An upstream account. */
export interface ForeignChannel {
  readonly name: string;
  readonly vendor: string;
  readonly url?: string;
  /** A secret that goes into the file of environment variables, or the name of a variable that has it already. */
  readonly key: { readonly secret: string } | { readonly variable: string } | { readonly none: true };
  readonly priority?: number;
  readonly weight?: number;
  /** Other fields of a channel in gateway.yaml. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** A price as gateway.yaml has it: decimal numbers as text. */
export type ForeignPrice = Readonly<Record<string, string>>;

/** A public model. */
export interface ForeignModel {
  /** Channels by name, each with the upstream model. */
  readonly from: { readonly channel: string; readonly model: string }[];
  readonly fallback?: readonly string[];
  readonly price?: ForeignPrice | undefined;
}

/** What is not imported, and why. */
export interface Left {
  readonly what: string;
  readonly why: string;
}

/** All of it. */
export interface Inventory {
  readonly departments: readonly ForeignDepartment[];
  readonly users: readonly ForeignUser[];
  readonly keys: readonly ForeignKey[];
  readonly channels: readonly ForeignChannel[];
  readonly models: ReadonlyMap<string, ForeignModel>;
  /** Other names of models. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly left: readonly Left[];
}

/** One in which nothing was found. */
export const EMPTY: Inventory = {
  departments: [],
  users: [],
  keys: [],
  channels: [],
  models: new Map(),
  aliases: new Map(),
  left: [],
};
