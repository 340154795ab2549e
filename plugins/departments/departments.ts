/**
 * Departments: a tree in memory. Changes are validated in memory and written with a version check, so that they are still valid when
 * written.
 */
import { Accounts } from '../../core/contracts/accounts.ts';
import type { Department, DepartmentChanges, Departments } from '../../core/contracts/departments.ts';
import { coreErrors, notWritten } from '../../core/contracts/errors.ts';
import type { Host, Step } from '../../core/plugin.ts';
import { readName } from '../../core/sdk.ts';
import { errors } from './errors.ts';
import { LARGEST_BUDGET } from './tables.ts';
import { createTree, fold, type Tree } from './tree.ts';

/** The default price factor, and the maximum: a thousand times the price. */
const USUAL_FACTOR = 1_000_000;
const LARGEST_FACTOR = 1_000_000_000;
/** The `must` that fails if the tree has changed since the list was built. */
const OUTDATED = 'department_tree_changed';

/** The topic that notifies other processes of a changed tree. */
const CHANGED = 'departments.changed';

interface DepartmentRow {
  readonly id: number;
  readonly name: string;
  readonly parent_id: number | null;
  readonly budget: string | null;
  readonly monthly_budget: string | null;
  readonly factor_ppm: number;
  readonly enabled: number;
  readonly created_ms: number;
  readonly updated_ms: number;
}

/** A planned change: its steps, and its effect on the tree in memory after they are written. */
interface Plan<T> {
  readonly steps: readonly Step[];
  apply(tree: Tree): void;
  readonly result: T;
}

/** The service, and its synchronization. */
export interface DepartmentBook extends Departments {
  /** Reads the tree; must be called first, and whenever another process may have changed it. */
  refresh(): Promise<void>;
  /** Subscribes to changes by other processes. */
  listen(): void;
  /** Must be called when an account has changed: deleted users are removed from their department. */
  accountChanged(id: number): Promise<void>;
}

/** Creates the service; call `refresh` before use. */
export function createDepartments(host: Host): DepartmentBook {
  const { store, clock, peers } = host;
  let tree = createTree(-1, 0, new Map(), new Map());
  let line: Promise<unknown> = Promise.resolve();

  /** Changes and reads of the tree run one at a time. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = line.then(work);
    line = turn.catch(() => undefined);
    return turn;
  }

  async function load(): Promise<void> {
    // If something is written between these reads, the version is outdated, and the next refresh notices.
    const state = await store.one<{ version: number; last_id: number }>(
      'SELECT version, last_id FROM department_tree WHERE one = 1',
    );
    if (state === undefined) throw new Error('the row of the table department_tree is missing');
    if (state.version === tree.version) return;
    const rows = await store.all<DepartmentRow>(
      `SELECT id, name, parent_id, CAST(budget AS TEXT) AS budget, CAST(monthly_budget AS TEXT) AS monthly_budget,
        factor_ppm, enabled, created_ms, updated_ms FROM department ORDER BY id`,
    );
    const people = await store.all<{ account_id: number; department_id: number }>(
      'SELECT account_id, department_id FROM membership',
    );
    tree = createTree(
      state.version,
      state.last_id,
      new Map(rows.map((row) => [row.id, toDepartment(row)])),
      new Map(people.map((row) => [row.account_id, row.department_id])),
    );
  }

  /** Writes the change that `plan` computes from the tree, and repeats it if another process was faster. */
  function write<T>(
    plan: (tree: Tree) => Plan<T>,
    along: readonly Step[] | ((result: T) => readonly Step[]) = [],
  ): Promise<T> {
    return inTurn(async () => {
      for (;;) {
        const { steps, apply, result } = plan(tree);
        const failed = await store.atomic([
          {
            sql: 'UPDATE department_tree SET version = version + 1 WHERE one = 1 AND version = ?',
            params: [tree.version],
            must: OUTDATED,
          },
          ...steps,
          ...(typeof along === 'function' ? along(result) : along),
        ]);
        if (failed === undefined) {
          apply(tree);
          tree.forget();
          tree.version++;
          peers.tell(CHANGED, null);
          return result;
        }
        if (failed !== OUTDATED) throw notWritten(failed);
        await load();
      }
    });
  }

  /** The resulting department; refuses invalid values. */
  function changed(tree: Tree, before: Department, changes: DepartmentChanges): Department {
    const { name, parentId, budget, monthlyBudget, factorPpm, enabled } = changes;
    const after: Department = {
      id: before.id,
      name: name === undefined ? before.name : readName(name),
      parentId: parentId === undefined ? before.parentId : (parentId ?? undefined),
      budget: budget === undefined ? before.budget : (budget ?? undefined),
      monthlyBudget: monthlyBudget === undefined ? before.monthlyBudget : (monthlyBudget ?? undefined),
      factorPpm: factorPpm ?? before.factorPpm,
      enabled: enabled ?? before.enabled,
      createdMs: before.createdMs,
      updatedMs: clock.now(),
    };
    checkAmounts(after);
    tree.checkPlace(after);
    return after;
  }

  /** A new department without fields of its own. */
  function blank({ lastId }: Tree): Department {
    const now = clock.now();
    return {
      id: lastId + 1,
      name: '',
      parentId: undefined,
      budget: undefined,
      monthlyBudget: undefined,
      factorPpm: USUAL_FACTOR,
      enabled: true,
      createdMs: now,
      updatedMs: now,
    };
  }

  const change: Departments['change'] = (id, changes, along) =>
    write((tree) => updateOf(changed(tree, tree.demand(id), changes)), along);

  async function placeAll(accountIds: readonly number[], departmentId: number | null, along?: readonly Step[]) {
    const accounts = host.use(Accounts);
    for (const id of departmentId === null ? [] : accountIds) {
      const person = await accounts.person(id);
      if (person === undefined || person.deletedMs !== undefined) {
        throw coreErrors.account_not_found(id).with({ param: 'accountIds' });
      }
    }
    await write((tree) => {
      if (departmentId !== null) tree.demand(departmentId);
      return {
        steps: accountIds.map((id) => placeStep(id, departmentId, clock.now())),
        apply({ memberships }) {
          for (const id of accountIds) {
            if (departmentId === null) memberships.delete(id);
            else memberships.set(id, departmentId);
          }
        },
        result: undefined,
      };
    }, along);
  }

  const departmentIdOf = (accountId: number): number | undefined => tree.memberships.get(accountId);

  return {
    refresh: () => inTurn(load),

    listen() {
      peers.on(CHANGED, async () => {
        await inTurn(load);
        return undefined;
      });
    },

    pathOf(accountId) {
      const id = departmentIdOf(accountId);
      return id === undefined ? [] : tree.pathOf(id);
    },
    departmentOf: (accountId) => tree.departments.get(departmentIdOf(accountId) ?? 0),
    get: (id) => tree.departments.get(id),
    all: () => [...tree.departments.values()],
    below: (id) => tree.below(id),

    members(id) {
      const members = [...tree.memberships].filter(([, department]) => department === id);
      return members.map(([account]) => account).sort((a, b) => a - b);
    },

    create: (department, along) =>
      write(
        (tree) => {
          return insertOf(changed(tree, blank(tree), department));
        },
        typeof along === 'function' ? ({ id }) => along(id) : along,
      ),

    check: (department) => void changed(tree, blank(tree), department),
    change,

    addToBudget: (id, amount, along) =>
      write((tree) => {
        const before = tree.demand(id);
        if (before.budget === undefined) {
          throw errors.no_budget(before.name);
        }
        return updateOf(changed(tree, before, { budget: before.budget + amount }));
      }, along),

    remove: (id, along) =>
      write((tree) => {
        const { name } = tree.demand(id);
        if (tree.below(id).length > 0) {
          throw errors.department_not_empty(
            `The department "${name}" has departments below it: move or delete them first.`,
          );
        }
        if ([...tree.memberships.values()].includes(id)) {
          throw errors.department_not_empty(`The department "${name}" has members: move them first.`);
        }
        return {
          steps: [{ sql: 'DELETE FROM department WHERE id = ?', params: [id] }],
          apply: ({ departments }) => void departments.delete(id),
          result: undefined,
        };
      }, along),

    place: (accountId, departmentId, along) => placeAll([accountId], departmentId, along),
    placeAll,

    placeSteps: (accountId, departmentId) => [
      { sql: 'UPDATE department_tree SET version = version + 1 WHERE one = 1' },
      {
        sql: `INSERT INTO membership (account_id, department_id, since_ms)
          SELECT ?, id, ? FROM department WHERE id = ?`,
        params: [accountId, clock.now(), departmentId],
        must: 'department_not_found',
      },
    ],
    async changed() {
      await inTurn(load);
      peers.tell(CHANGED, null);
    },

    async accountChanged(id) {
      if (departmentIdOf(id) === undefined) return;
      const person = await host.use(Accounts).person(id);
      if (person === undefined || person.deletedMs !== undefined) await placeAll([id], null);
    },
  };
}

function checkAmounts({ budget = 0n, monthlyBudget = 0n, factorPpm }: Department): void {
  for (const [amount, param] of [
    [budget, 'budget'],
    [monthlyBudget, 'monthlyBudget'],
  ] as const) {
    if (amount >= 0n && amount <= LARGEST_BUDGET) continue;
    throw coreErrors.invalid_amount('A budget must be from 0 to 4,000,000,000,000 quota.').with({ param });
  }
  if (!Number.isInteger(factorPpm) || factorPpm < 0 || factorPpm > LARGEST_FACTOR) {
    throw coreErrors
      .invalid_ratio('A price factor must be from 0 to 1000, with at most six decimal places.')
      .with({ param: 'factorPpm' });
  }
}

function insertOf(department: Department): Plan<Department> {
  return {
    steps: [
      {
        sql: `INSERT INTO department
          (name, folded, parent_id, budget, monthly_budget, factor_ppm, enabled, updated_ms, created_ms, id)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        params: [...valuesOf(department), department.createdMs, department.id],
      },
      { sql: 'UPDATE department_tree SET last_id = ? WHERE one = 1', params: [department.id] },
    ],
    apply(tree) {
      tree.departments.set(department.id, department);
      tree.lastId = department.id;
    },
    result: department,
  };
}

function updateOf(department: Department): Plan<Department> {
  return {
    steps: [
      {
        sql: `UPDATE department SET name = ?, folded = ?, parent_id = ?, budget = ?, monthly_budget = ?, factor_ppm = ?,
          enabled = ?, updated_ms = ? WHERE id = ?`,
        params: [...valuesOf(department), department.id],
      },
    ],
    apply: ({ departments }) => void departments.set(department.id, department),
    result: department,
  };
}

const valuesOf = (department: Department) => [
  department.name,
  fold(department.name),
  department.parentId ?? null,
  department.budget ?? null,
  department.monthlyBudget ?? null,
  department.factorPpm,
  department.enabled ? 1 : 0,
  department.updatedMs,
];

function placeStep(accountId: number, departmentId: number | null, nowMs: number): Step {
  if (departmentId === null) return { sql: 'DELETE FROM membership WHERE account_id = ?', params: [accountId] };
  return {
    sql: `INSERT INTO membership (account_id, department_id, since_ms) VALUES (?, ?, ?)
      ON CONFLICT (account_id) DO UPDATE SET department_id = excluded.department_id, since_ms = excluded.since_ms`,
    params: [accountId, departmentId, nowMs],
  };
}

const toDepartment = (row: DepartmentRow): Department => ({
  id: row.id,
  name: row.name,
  parentId: row.parent_id ?? undefined,
  budget: row.budget === null ? undefined : BigInt(row.budget),
  monthlyBudget: row.monthly_budget === null ? undefined : BigInt(row.monthly_budget),
  factorPpm: row.factor_ppm,
  enabled: row.enabled === 1,
  createdMs: row.created_ms,
  updatedMs: row.updated_ms,
});
