/** What all parts of one import need: the services, what was imported before, and what has been found out so far. */
import { type AccountPlan, type Accounts, Accounts as accountsService } from '../../../core/contracts/accounts.ts';
import { type Actor, Audit, COMMAND_LINE } from '../../../core/contracts/audit.ts';
import { Departments } from '../../../core/contracts/departments.ts';
import { type KeyPlan, Keys } from '../../../core/contracts/keys.ts';
import { Ledger } from '../../../core/contracts/ledger.ts';
import { GatewayError, type Host, type JsonObject, type Step } from '../../../core/plugin.ts';
import type { Note } from '../inventory.ts';
import { withSuffix } from '../names.ts';
import { Packed } from '../packed.ts';
import type { Handout, Taken } from '../planned.ts';
import { type Imports, readImports } from '../tables.ts';

/** How many names are tried for an account or a department. */
const MOST_NAMES = 100;

/** How much to take over, and from what. */
export interface TakeoverOptions {
  /** The other gateway: `new-api`. */
  readonly kind: string;
  /** What it shares identifiers with: `one-api`. */
  readonly family: string;
  /** Who imports; default: the command line. */
  readonly actor?: Actor | undefined;
  /** Only find out what would be done. */
  readonly isDry: boolean;
  /** Apply what has changed there since an earlier import. */
  readonly update?: boolean;
  /** Hand out links for a new password again: to everyone who never signed in. */
  readonly links?: boolean | undefined;
  /** Only find out whether it can be done: nothing is kept of what was found out. */
  readonly isRehearsal?: boolean;
  /** Keeps a secret for its user. */
  handOut(handout: Handout): void;
}

/** A value that has changed there since it was imported. */
export interface Change {
  readonly kind: 'department' | 'account' | 'key';
  /** The name of the thing there. */
  readonly name: string;
  /** `balance`, `enabled`, `models`; `deleted`: it is not there any more. */
  readonly field: string;
  readonly was: string;
  readonly is: string;
  /** The difference of an amount, micro-quota. */
  readonly by?: bigint;
  /** `told`: nothing was done. `conflict`: it was changed here, too, or cannot be had here, so it was left. */
  readonly state: 'told' | 'applied' | 'conflict';
  readonly why?: string;
}

/** The state of one import. */
export interface Run extends TakeoverOptions {
  readonly host: Host;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly ledger: Ledger;
  readonly departments: Departments;
  /** Replaced if another request has changed something. */
  imports: Imports;
  readonly taken: Packed<Taken>;
  readonly changed: Change[];
  readonly notes: Note[];
  readonly handouts: Omit<Handout, 'secret'>[];
  /** The names that accounts have here, by id: read when accounts of an earlier import are compared. */
  readonly accountNames: Map<number, string>;
  /** Days of usage that were added: they may be a million, so they are only counted. */
  days: number;
  /** Made with the first new account or key. */
  accountPlan(): Promise<AccountPlan>;
  keyPlan(): Promise<KeyPlan>;
  /** Call it when a list was written. */
  written(): Promise<void>;
  /** Reads everything again that others may have changed. */
  refresh(): Promise<void>;
  /** The audit entry of a change. */
  audited(action: string, object: string, facts?: JsonObject): readonly Step[];
}

/** Begins one. */
export async function beginRun(host: Host, options: TakeoverOptions): Promise<Run> {
  const accounts = host.use(accountsService);
  const keys = host.use(Keys);
  let accountPlan: Promise<AccountPlan> | undefined;
  let keyPlan: Promise<KeyPlan> | undefined;
  const run: Run = {
    ...options,
    host,
    accounts,
    keys,
    ledger: host.use(Ledger),
    departments: host.use(Departments),
    imports: await readImports(host, options.family),
    taken: new Packed(),
    changed: [],
    notes: [],
    handouts: [],
    accountNames: new Map(),
    days: 0,
    accountPlan() {
      accountPlan ??= accounts.plan();
      return accountPlan;
    },
    keyPlan() {
      keyPlan ??= keys.plan();
      return keyPlan;
    },
    async written() {
      (await keyPlan)?.written();
    },
    async refresh() {
      accountPlan = undefined;
      keyPlan = undefined;
      run.imports = await readImports(host, options.family);
    },
    audited: (action, object, facts = {}) =>
      host.find(Audit)?.steps({
        actor: options.actor ?? COMMAND_LINE,
        action,
        object,
        facts: { imported: options.kind, ...facts },
      }) ?? [],
  };
  return run;
}

/** A note that a thing is not here. */
export function leftThing(what: string, why: string): Note {
  return { kind: 'left', where: 'store', what, why };
}

/** Refusals of one thing are noted, and the import goes on. Other errors end it, with the name of the thing. */
export async function orNote<T>(run: Run, what: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GatewayError))
      throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    run.notes.push(leftThing(what, error.message));
    return undefined;
  }
}

/** The name, and the names to try if it is taken. */
export function* namesFor(name: string, kind: string): Generator<string> {
  yield name;
  yield withSuffix(name, `-${kind}`);
  for (let number = 2; number < MOST_NAMES; number++) yield withSuffix(name, `-${kind}-${number}`);
}

/** The `ref` of an entry in the ledger, which is written once. */
export function refOf(family: string, what: string, id: string): string {
  return `import:${family}:${what}:${id}`;
}

export function hasCode(error: unknown, ...codes: readonly string[]): error is GatewayError {
  return error instanceof GatewayError && codes.includes(error.code);
}
