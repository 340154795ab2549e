/**
 * What an import found in another gateway, in terms of this one. A reader of a source fills it, `take-over` writes it into the store and
 * `gateway-file.ts` into gateway.yaml. Amounts are micro-quota, times unix milliseconds, identifiers those of the other gateway.
 */

import type { JsonObject } from '../../core/contracts/formats/json.ts';
import type { Rate } from '../../core/contracts/formats/rates.ts';
import type { KeyLimit } from '../../core/contracts/identity.ts';
import type { AdoptedPasskey } from '../../core/contracts/second-factors.ts';
import type { Decimal } from '../../core/sdk.ts';
import type { Things } from './packed.ts';

/** The programs that can be imported. */
export type Program = 'litellm' | 'new-api' | 'one-api' | 'one-hub';

/** A group or team whose members share a budget. */
export interface ForeignDepartment {
  readonly id: string;
  readonly name: string;
  readonly budget?: bigint;
  readonly monthlyBudget?: bigint;
  readonly enabled: boolean;
}

/** A group of channels with a price factor: an entry of the section `groups`. */
export interface ForeignGroup {
  readonly name: string;
  /** The channels that its keys reach, by their names in `channels`; undefined: it has `of`. */
  readonly channels?: readonly string[];
  /** The part of the price that its calls cost; default: 1. */
  readonly factor?: Decimal | undefined;
  /** Another factor for accounts of a group, by that group. */
  readonly factors?: ReadonlyMap<string, Decimal>;
  /** The groups it stands for: the first of them that serves the model (`auto` of new-api). */
  readonly of?: readonly string[];
  /** The groups of accounts whose users may choose it for their keys; empty: none. */
  readonly for?: readonly string[];
}

/** A person's account at a sign-in service. */
export interface ForeignLink {
  /** How its users sign in. */
  readonly type: 'github' | 'oidc';
  /** The service itself: `https://github.com`, or the issuer of OpenID Connect. */
  readonly issuer: string;
  /** Its name in the section `console.oauth`: `github`. */
  readonly provider: string;
  /** The permanent identifier of the person there. */
  readonly subject: string;
}

/** A passkey that is discoverable and verifies its user. */
export interface ForeignPasskey extends AdoptedPasskey {
  readonly id: string;
  readonly name?: string | undefined;
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
  /** The stored hash of the password, in any format; whether it can be used is decided by `take-over`. */
  readonly passwordHash?: string | undefined;
  /** The secret of an authenticator app that is in use, base32. */
  readonly totpSecret?: string | undefined;
  readonly passkeys?: readonly ForeignPasskey[] | undefined;
  readonly links?: readonly ForeignLink[] | undefined;
  /** A token for the other gateway's management API, in plain text. */
  readonly accessToken?: string | undefined;
  /** The code by which this user invites others. */
  readonly invitationCode?: string | undefined;
  /** A notification is wanted when the balance falls below it. */
  readonly lowBalance?: bigint | undefined;
  /** Other settings, as `PUT /api/user/setting` names them. */
  readonly settings?: JsonObject | undefined;
  /** The secret that signs notifications to a webhook. */
  readonly webhookSecret?: string | undefined;
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
  /** The group of channels it uses; undefined: that of its owner. */
  readonly group?: string | undefined;
  /** False: it is disabled, there or because this gateway could not restrict it as it was. */
  readonly enabled: boolean;
}

/** An upstream account. */
export interface ForeignChannel {
  readonly name: string;
  /** Its name in the other gateway, for the report. */
  readonly title?: string | undefined;
  /** What kind of channel it is there: a number of that program. */
  readonly type?: number | undefined;
  readonly vendor: string;
  readonly url?: string;
  /** Its base URL where the environment has it, instead of `url`. */
  readonly urlFrom?: Variable;
  /** A secret that goes into the file of environment variables, or the name of a variable that has it already. */
  readonly key: { readonly secret: string } | { readonly variable: string } | { readonly none: true };
  /** Further keys of the same channel. */
  readonly moreKeys?: readonly string[] | undefined;
  readonly priority?: number;
  readonly weight?: number;
  /** Other fields of a channel in gateway.yaml. */
  readonly more?: Readonly<Record<string, Setting>>;
}

/** A price as gateway.yaml has it; every number as a decimal text (`2.5`). */
export type ForeignPrice = { readonly [field: string]: string | ForeignPrice | readonly ForeignPrice[] };

/** A public model. */
export interface ForeignModel {
  /** Channels by name, each with the upstream model. */
  readonly from: { readonly channel: string; readonly model: string }[];
  readonly fallback?: readonly string[];
  readonly price?: ForeignPrice | undefined;
  /** Its calls cost nothing there. */
  readonly free?: true | undefined;
}

/** A value of a section of gateway.yaml. */
export type Setting =
  | string
  | number
  | boolean
  | Secret
  | Variable
  | readonly Setting[]
  | { readonly [member: string]: Setting };

/** A value that the environment has already: the section gets `${NAME}`, and the text behind it. */
export class Variable {
  readonly name: string;
  readonly suffix: string;
  constructor(name: string, suffix = '') {
    this.name = name;
    this.suffix = suffix;
  }
}

/** A value that goes into the file of environment variables; the section gets `${VARIABLE}`. */
export class Secret {
  /** `SMTP_PASSWORD`: `IMPORTED_` is put in front. */
  readonly variable: string;
  readonly value: string;
  constructor(variable: string, value: string) {
    this.variable = variable;
    this.value = value;
  }
}

/** A redemption code. */
export interface ForeignCode {
  readonly id: string;
  readonly name: string;
  /** The code that was sold. */
  readonly code: string;
  readonly amount: bigint;
  readonly expiresMs?: number | undefined;
  readonly enabled: boolean;
  /** It was redeemed there: it is not taken over, but one that was imported before is disabled. */
  readonly used?: true;
}

/** A running subscription. */
export interface ForeignSubscription {
  readonly id: string;
  /** The `id` of the user. */
  readonly user: string;
  /** A name in the section `plans` of `sections`; undefined: it cannot be a plan here, and its remainder is credited. */
  readonly plan: string | undefined;
  /** The period after which `amount` is new, as plans have it; undefined: never. */
  readonly period?: 'daily' | 'weekly' | 'monthly' | undefined;
  /** When it is new next; undefined: that is not recorded. */
  readonly resetsMs?: number | undefined;
  /** What may be spent in each period, or in all, and what was spent in the current one. */
  readonly amount: bigint;
  readonly used: bigint;
  /** Its name there, for the report. */
  readonly title: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** A top-up or another order, as history. */
export interface ForeignOrder {
  readonly id: string;
  readonly user: string;
  /** Credited. */
  readonly amount: bigint;
  /** The plan that it bought; undefined: balance. */
  readonly plan?: string | undefined;
  /** Paid, in `currency` (empty: from the balance): a decimal text. */
  readonly money: string;
  readonly currency: string;
  /** The payment method, by its name there. */
  readonly method?: string | undefined;
  /** Its number at the payment provider. */
  readonly tradeNumber: string;
  readonly state: 'paid' | 'open' | 'failed';
  readonly atMs: number;
  /** When it was paid; default: `atMs`. */
  readonly paidMs?: number | undefined;
}

/** What an operator should know: something was left, changed, or needs a decision before the switch. */
export interface Note {
  /** `decide`: the operator has to act before the switch. `changed`: it is here, but not as it was. `left`: it is not here. */
  readonly kind: 'decide' | 'changed' | 'left';
  /** The table or option it is about: `channels`, `options.SMTPServer`, `model_list`. */
  readonly where: string;
  /** The thing: `channel Main`. Things with the same `where` and `why` are told together. */
  readonly what: string;
  /** In one sentence, without its full stop. */
  readonly why: string;
  /** How many rows or values it stands for; default: 1. */
  readonly count?: number | undefined;
}

/** A note that something is not here. */
export const leftOut = (where: string, what: string, why: string): Note => ({ kind: 'left', where, what, why });

/** All of it. */
export interface Inventory {
  readonly departments: readonly ForeignDepartment[];
  readonly groups: readonly ForeignGroup[];
  readonly users: readonly ForeignUser[];
  readonly keys: Things<ForeignKey>;
  readonly channels: readonly ForeignChannel[];
  readonly models: ReadonlyMap<string, ForeignModel>;
  /** Other names of models. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Other sections of gateway.yaml, by name: `mail`, `plans`. */
  readonly sections: Readonly<Record<string, Setting>>;
  readonly codes: readonly ForeignCode[];
  readonly subscriptions: readonly ForeignSubscription[];
  readonly orders: readonly ForeignOrder[];
  readonly notes: readonly Note[];
}

/** One in which nothing was found. */
export const EMPTY: Inventory = {
  departments: [],
  groups: [],
  users: [],
  keys: [],
  channels: [],
  models: new Map(),
  aliases: new Map(),
  sections: {},
  codes: [],
  subscriptions: [],
  orders: [],
  notes: [],
};

/** A call as the other gateway recorded it: `--prove` computes it again. */
export interface ForeignUsage {
  readonly id: string;
  readonly atMs: number;
  /** The public model. */
  readonly model: string;
  /** The group that its factor is of, and the group of its user. */
  readonly group?: string | undefined;
  readonly userGroup?: string | undefined;
  /** What it was charged. */
  readonly charged: bigint;
  /** Its tokens by rate; `input` and `output` are totals that include the others, as in `Usage`. */
  readonly tokens: Readonly<Partial<Record<Rate, number>>>;
  /** Images (of one size and quality), characters of speech, seconds of audio, uses of tools, where it has some. */
  readonly units?:
    | {
        readonly images?: number;
        readonly size?: string;
        readonly quality?: string;
        readonly characters?: number;
        readonly seconds?: number;
        readonly uses?: Readonly<Record<string, number>>;
      }
    | undefined;
  /** The smallest amount that is charged there, in micro-quota; undefined: one quota unit here. */
  readonly unit?: bigint | undefined;
  /** The prices that the row itself says it was computed with, in words, to tell a cause: `model ratio 3, completion ratio 2.5`. */
  readonly rates?: string | undefined;
  /** Whether a price, and a factor, are those that the row says; undefined: it says none. */
  readonly says?:
    | { readonly price: (price: ForeignPrice) => boolean; readonly factor: (factor: number) => boolean }
    | undefined;
  /** Why it cannot be computed again; undefined: it can. */
  readonly unknown?: string | undefined;
}

/** The usage of one UTC day. */
export interface ForeignDay {
  /** The first millisecond of the day. */
  readonly dayMs: number;
  readonly user: string;
  /** The `id` of the key, if it is known. */
  readonly key?: string | undefined;
  readonly model: string;
  readonly calls: number;
  readonly input: number;
  readonly output: number;
  readonly charged: bigint;
  /** For how many quota units there one currency unit is counted: a decimal text. Undefined: amounts there are in currency. */
  readonly unit?: string | undefined;
  /** The number there now, if it was changed since this day was imported. */
  readonly unitNow?: string | undefined;
}

/** Another gateway, open for reading, in one snapshot. */
export interface Source {
  readonly program: Program;
  /** What is known of its version: `set up with v0.6.3`. */
  readonly version?: string | undefined;
  /** Programs of one family share the identifiers of users and keys. */
  readonly family: 'litellm' | 'one-api' | 'one-hub';
  inventory(): Promise<Inventory>;
  /** Recorded calls, the newest first. */
  usage(most: number): AsyncIterable<ForeignUsage>;
  /** Sums of recorded calls, in order of days. `unitOf`: the `unit` that a day was imported with, which is kept. */
  history(unitOf?: (dayMs: number) => string | undefined): AsyncIterable<ForeignDay>;
  close(): Promise<void>;
}
