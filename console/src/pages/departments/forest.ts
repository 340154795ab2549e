/** The department tree: ancestors, visible rows, and the budget that is used up first. */
import type { DepartmentNode } from '../../api/operations.ts';

/** A department from `/api`; `children` are departments. */
type Node = DepartmentNode;

/** A department with its position. */
export interface Department extends Omit<Node, 'children'> {
  readonly above: Department | undefined;
  readonly children: readonly Department[];
  /** Depth from 1. */
  readonly level: number;
  /** Members, including departments below. */
  readonly people: number;
}

/** All of them. */
export interface Forest {
  readonly tops: readonly Department[];
  readonly byId: ReadonlyMap<number, Department>;
}

/** What siblings can be sorted by: the name, or the largest number of members, the most used this month, the least left. */
export const SORTS = ['name', 'people', 'used', 'left'] as const;
export type Sort = (typeof SORTS)[number];

/** Builds the tree, with siblings in an order; equal ones by name. */
export function forestOf(nodes: readonly Node[], sort: Sort = 'name'): Forest {
  const order = (a: Department, b: Department): number => ORDERS[sort](a, b) || byName(a, b);
  const byId = new Map<number, Department>();
  const grown = (each: Node, above: Department | undefined): Department => {
    const children: Department[] = [];
    const department = { ...each, above, children, level: (above?.level ?? 0) + 1, people: each.member_count };
    byId.set(each.id, department);
    for (const below of each.children as unknown as readonly Node[]) {
      const child = grown(below, department);
      children.push(child);
      department.people += child.people;
    }
    children.sort(order);
    return department;
  };
  return { tops: nodes.map((each) => grown(each, undefined)).sort(order), byId };
}

const byName = (a: Department, b: Department): number => a.name.localeCompare(b.name, undefined, { numeric: true });
/** What is left for a department; without a budget there is no end to it. */
const leftOf = (department: Department): number => tightestOf(department)?.left ?? Number.MAX_VALUE;
const ORDERS: Readonly<Record<Sort, (a: Department, b: Department) => number>> = {
  name: byName,
  people: (a, b) => b.people - a.people,
  used: (a, b) => b.monthly_used_quota - a.monthly_used_quota,
  left: (a, b) => leftOf(a) - leftOf(b),
};

/** A department and its ancestors up to the top. */
export function pathUp(department: Department): readonly Department[] {
  return department.above === undefined ? [department] : [department, ...pathUp(department.above)];
}

/** A budget that calls of a department are charged to. */
export interface Budget {
  readonly of: Department;
  readonly period: 'month' | 'total';
  readonly limit: number;
  readonly used: number;
  readonly left: number;
}

/** The budgets of the department itself. */
export function ownBudgets(of: Department): readonly Budget[] {
  const budget = (period: Budget['period'], limit: number | null, used: number): readonly Budget[] =>
    limit === null ? [] : [{ of, period, limit, used, left: Math.max(0, limit - used) }];
  return [...budget('month', of.monthly_quota, of.monthly_used_quota), ...budget('total', of.quota, of.used_quota)];
}

/** All budgets that a call is charged to: those of the department and its ancestors. */
export function budgetsOf(department: Department): readonly Budget[] {
  return pathUp(department).flatMap(ownBudgets);
}

/** The budget with the least left; undefined if there is none. */
export function tightestOf(department: Department): Budget | undefined {
  const [first, ...others] = budgetsOf(department);
  return others.reduce((least, each) => (least !== undefined && each.left < least.left ? each : least), first);
}

/** The disabled department among the department and its ancestors: calls are refused. */
export function disabledBy(department: Department): Department | undefined {
  return pathUp(department).find(({ status }) => status === 0);
}

/** A visible row of the tree. */
export interface Row {
  readonly department: Department;
  /** Undefined: no departments below. */
  readonly expanded: boolean | undefined;
  /** Its position among its siblings from 1, and their number. */
  readonly place: number;
  readonly beside: number;
}

/** The visible rows: those below `open` departments. With a search, the matches and their ancestors. */
export function rowsOf({ tops }: Forest, open: ReadonlySet<number>, search: string): readonly Row[] {
  const query = search.trim().toLowerCase();
  const rows: Row[] = [];
  const fits = (department: Department): boolean =>
    department.name.toLowerCase().includes(query) || department.children.some(fits);
  const add = (departments: readonly Department[], isFound: boolean): void => {
    const visible = isFound ? departments : departments.filter(fits);
    visible.forEach((department, at) => {
      const matches = isFound || department.name.toLowerCase().includes(query);
      // A match is collapsed until opened; ancestors of matches are expanded.
      const leads = !isFound && query !== '' && department.children.some(fits);
      const expanded = department.children.length === 0 ? undefined : leads || open.has(department.id);
      rows.push({ department, expanded, place: at + 1, beside: visible.length });
      if (expanded === true) add(department.children, matches && !leads);
    });
  };
  add(tops, query === '');
  return rows;
}
