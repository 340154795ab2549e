/** Departments: a tree of accounts, with budgets and a price factor. Provided by the plugin `departments`. */

import { service } from './definitions.ts';
import type { Step } from './store.ts';

/** One department. Amounts are micro-quota. */
export interface Department {
  readonly id: number;
  readonly name: string;
  readonly parentId: number | undefined;
  /** Total budget of all members, those below included; undefined: no limit. */
  readonly budget: bigint | undefined;
  /** The same for a calendar month (UTC). */
  readonly monthlyBudget: bigint | undefined;
  /** Price factor for calls of its members, in millionths: 1,000,000 is the full price. The nearest one counts. */
  readonly factorPpm: number;
  readonly enabled: boolean;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** Fields of a department; absent fields stay, or get their default. */
export interface DepartmentChanges {
  readonly name?: string;
  readonly parentId?: number | null;
  readonly budget?: bigint | null;
  readonly monthlyBudget?: bigint | null;
  readonly factorPpm?: number;
  readonly enabled?: boolean;
}

/** The departments and their members, in memory: lookups are synchronous, other gateways' changes take five seconds. */
export interface Departments {
  /** From the account's own department up to the root; empty if it has none. */
  pathOf(accountId: number): readonly Department[];
  get(id: number): Department | undefined;
  /** By id. */
  all(): readonly Department[];
  /** All departments below one, at any depth. */
  below(id: number): readonly Department[];
  /** Direct members, by id. */
  members(id: number): readonly number[];
  departmentOf(accountId: number): Department | undefined;
  /**
   * Refuses a name that is taken under the same parent (409), a cycle or a tree that is too deep (400), and a missing
   * parent (404). `along` may be a function of the new id.
   */
  create(
    department: DepartmentChanges & { readonly name: string },
    along?: readonly Step[] | ((id: number) => readonly Step[]),
  ): Promise<Department>;
  /** Refuses as `create` does, and creates nothing. */
  check(department: DepartmentChanges & { readonly name: string }): void;
  /** Refuses as `create` does; 404 if there is no such department. */
  change(id: number, changes: DepartmentChanges, along?: readonly Step[]): Promise<Department>;
  /** Adds to the total budget, atomically with concurrent changes. Refuses (409) if there is none. */
  addToBudget(id: number, amount: bigint, along?: readonly Step[]): Promise<Department>;
  /** Refuses (409) while it has subdepartments or members. */
  remove(id: number, along?: readonly Step[]): Promise<void>;
  /** Moves an account into a department or (null) out of any. 404 if the account or department does not exist. */
  place(accountId: number, departmentId: number | null, along?: readonly Step[]): Promise<void>;
  /** The same for several accounts, all or none. */
  placeAll(accountIds: readonly number[], departmentId: number | null, along?: readonly Step[]): Promise<void>;
  /**
   * The steps that place an account, for the list that creates it; call `changed` after it is written. `must`:
   * `department_not_found`.
   */
  placeSteps(accountId: number, departmentId: number): readonly Step[];
  /** Reads what the steps of `placeSteps` have written. */
  changed(): Promise<void>;
}
/** The service `Departments`. */
export const Departments = service<Departments>('departments');
