/** The departments as the page works with them: who is above whom, which rows are to be seen, which budget ends a call first. */
import type { DepartmentNode } from '../../api/operations.ts';

/** What `/api` tells of one; `children` are more of these. */
type Told = DepartmentNode;

/** A department in its place. */
export interface Department extends Omit<Told, 'children'> {
  readonly above: Department | undefined;
  readonly children: readonly Department[];
  /** From 1. */
  readonly level: number;
  /** Those of departments below included. */
  readonly people: number;
}

/** All of them. */
export interface Forest {
  readonly tops: readonly Department[];
  readonly byId: ReadonlyMap<number, Department>;
}

/** Makes it of what `/api` tells; departments of one level stand by name. */
export function forestOf(told: readonly Told[]): Forest {
  const byId = new Map<number, Department>();
  const grown = (each: Told, above: Department | undefined): Department => {
    const children: Department[] = [];
    const department = { ...each, above, children, level: (above?.level ?? 0) + 1, people: each.member_count };
    byId.set(each.id, department);
    for (const below of (each.children as unknown as readonly Told[]).toSorted(byName)) {
      const child = grown(below, department);
      children.push(child);
      department.people += child.people;
    }
    return department;
  };
  return { tops: told.toSorted(byName).map((each) => grown(each, undefined)), byId };
}

const byName = (a: Told, b: Told): number => a.name.localeCompare(b.name, undefined, { numeric: true });

/** From a department up to the top, itself included. */
export function pathUp(department: Department): readonly Department[] {
  return department.above === undefined ? [department] : [department, ...pathUp(department.above)];
}

/** A budget that calls of a department are taken from. */
export interface Budget {
  readonly of: Department;
  readonly period: 'month' | 'total';
  readonly limit: number;
  readonly used: number;
  readonly left: number;
}

/** Its own budgets. */
export function ownBudgets(of: Department): readonly Budget[] {
  const budget = (period: Budget['period'], limit: number | null, used: number): readonly Budget[] =>
    limit === null ? [] : [{ of, period, limit, used, left: Math.max(0, limit - used) }];
  return [...budget('month', of.monthly_quota, of.monthly_used_quota), ...budget('total', of.quota, of.used_quota)];
}

/** All that a call of its people is taken from: its own, and those on the way up. */
export function budgetsOf(department: Department): readonly Budget[] {
  return pathUp(department).flatMap(ownBudgets);
}

/** The one that refuses first; undefined where there is none. */
export function tightestOf(department: Department): Budget | undefined {
  const [first, ...others] = budgetsOf(department);
  return others.reduce((least, each) => (least !== undefined && each.left < least.left ? each : least), first);
}

/** The department, itself or above, that is disabled: calls are refused then. */
export function disabledBy(department: Department): Department | undefined {
  return pathUp(department).find(({ status }) => status === 0);
}

/** A row of the tree. */
export interface Row {
  readonly department: Department;
  /** Undefined: nothing is below. */
  readonly expanded: boolean | undefined;
  /** Its place among those beside it, from 1, and how many they are. */
  readonly place: number;
  readonly beside: number;
}

/** Which rows are to be seen: of `open` departments those below, too. With words to search for: what fits, and the way to it. */
export function rowsOf({ tops }: Forest, open: ReadonlySet<number>, words: string): readonly Row[] {
  const wanted = words.trim().toLowerCase();
  const rows: Row[] = [];
  const fits = (department: Department): boolean =>
    department.name.toLowerCase().includes(wanted) || department.children.some(fits);
  const add = (departments: readonly Department[], isFound: boolean): void => {
    const shown = isFound ? departments : departments.filter(fits);
    shown.forEach((department, at) => {
      const found = isFound || department.name.toLowerCase().includes(wanted);
      // What is found by its name shows those below when it is opened; what only leads there is open.
      const leads = !isFound && wanted !== '' && department.children.some(fits);
      const expanded = department.children.length === 0 ? undefined : leads || open.has(department.id);
      rows.push({ department, expanded, place: at + 1, beside: shown.length });
      if (expanded === true) add(department.children, found && !leads);
    });
  };
  add(tops, wanted === '');
  return rows;
}
