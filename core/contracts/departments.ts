/** Departments: a tree of people, with budgets and a price factor. Provided by the plugin `departments`. */

import { service } from '../definitions.ts';
import type { Step } from './store.ts';

/** One department. Amounts are micro-quota. */
export interface Department {
  readonly id: number;
  readonly name: string;
  readonly parentId: number | undefined;
  /** What all its people, and those below, may use in all; undefined: no limit. */
  readonly budget: bigint | undefined;
  /** The same for a calendar month (UTC). */
  readonly monthlyBudget: bigint | undefined;
  /** What calls of its people cost, in millionths of the price: 1,000,000 is the price. That of the nearest department counts. */
  readonly factorPpm: number;
  readonly enabled: boolean;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** What a department is to be; what is absent stays, or is usual. */
export interface DepartmentChanges {
  readonly name?: string;
  readonly parentId?: number | null;
  readonly budget?: bigint | null;
  readonly monthlyBudget?: bigint | null;
  readonly factorPpm?: number;
  readonly enabled?: boolean;
}

/** The tree, and who is in it. It is in memory, so questions are answered at once; another gateway's changes take five seconds. */
export interface Departments {
  /** From the account's own department up to the top; empty where it is in none. */
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
   * Refuses a name that is taken under the same parent (409), a circle and a tree that is too deep (400), a parent that is not there
   * (404). `along` may ask for the id that it is about to get.
   */
  create(
    department: DepartmentChanges & { readonly name: string },
    along?: readonly Step[] | ((id: number) => readonly Step[]),
  ): Promise<Department>;
  /** Refuses as `create` does; 404 where there is no such department. */
  change(id: number, changes: DepartmentChanges, along?: readonly Step[]): Promise<Department>;
  /** Adds to the total budget, whoever else changes it meanwhile. Refuses (409) where there is none. */
  addToBudget(id: number, amount: bigint, along?: readonly Step[]): Promise<Department>;
  /** Refuses (409) while it has departments or people. */
  remove(id: number, along?: readonly Step[]): Promise<void>;
  /** Puts an account into a department, or (null) into none. 404 where there is no such account or department. */
  place(accountId: number, departmentId: number | null, along?: readonly Step[]): Promise<void>;
  /** The same for several, all or none. */
  placeAll(accountIds: readonly number[], departmentId: number | null, along?: readonly Step[]): Promise<void>;
}
/** The service of that name. */
export const Departments = service<Departments>('departments');
