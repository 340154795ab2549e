/** The tree in memory: departments by id, who is in which, and what may become of them. */
import type { Department } from '../../core/contracts/departments.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { refuse } from '../../core/plugin.ts';
import { errors } from './errors.ts';

/** How many departments may stand above each other. */
const DEEPEST = 10;

/** One state of it. Maps are changed in place; whoever changes them calls `forget` afterwards. */
export interface Tree {
  /** How often it had changed in the store when it was read. */
  version: number;
  /** The highest id there ever was: ids are not used again, since records name them. */
  lastId: number;
  readonly departments: Map<number, Department>;
  /** Department by account. */
  readonly memberships: Map<number, number>;
  /** From a department up to the top, itself included. */
  pathOf(id: number): readonly Department[];
  /** All below one, at any depth, each parent before its children. */
  below(id: number): readonly Department[];
  /** Refuses (404) what is not there. */
  demand(id: number): Department;
  /** Refuses (400, 404, 409) a department that does not fit where it is to stand. */
  checkPlace(department: Department): void;
  /** Forgets the paths that were worked out. */
  forget(): void;
}

/** Two names that differ only in case are one. */
export const fold = (name: string): string => name.toLowerCase();

export function createTree(
  version: number,
  lastId: number,
  departments: Map<number, Department>,
  memberships: Map<number, number>,
): Tree {
  const paths = new Map<number, readonly Department[]>();

  function pathOf(id: number): readonly Department[] {
    const known = paths.get(id);
    if (known !== undefined) return known;
    const path: Department[] = [];
    // A circle that somebody made in the database must not hold everything up.
    for (
      let at = departments.get(id);
      at !== undefined && path.length < DEEPEST;
      at = departments.get(at.parentId ?? 0)
    ) {
      path.push(at);
    }
    paths.set(id, path);
    return path;
  }

  function below(id: number): readonly Department[] {
    const found: Department[] = [];
    let parents = new Set([id]);
    for (let depth = 1; depth <= DEEPEST && parents.size > 0; depth++) {
      const level = [...departments.values()].filter(({ parentId }) => parentId !== undefined && parents.has(parentId));
      found.push(...level);
      parents = new Set(level.map((department) => department.id));
    }
    return found;
  }

  /** How many levels a department and those below it are. */
  function heightOf(id: number): number {
    const depth = pathOf(id).length;
    return Math.max(depth, ...below(id).map((department) => pathOf(department.id).length)) - depth + 1;
  }

  return {
    version,
    lastId,
    departments,
    memberships,
    pathOf,
    below,
    demand: (id) => departments.get(id) ?? refuse(coreErrors.department_not_found(id).with({ param: 'id' })),

    checkPlace({ id, name, parentId }) {
      const folded = fold(name);
      for (const other of departments.values()) {
        if (other.id === id || other.parentId !== parentId || fold(other.name) !== folded) continue;
        throw coreErrors.name_taken(`There is a department called "${other.name}" at this place already.`);
      }
      if (parentId === undefined) return;
      if (!departments.has(parentId)) {
        throw coreErrors.department_not_found(parentId).with({ param: 'parentId' });
      }
      const above = pathOf(parentId);
      if (above.some((department) => department.id === id)) {
        throw errors.department_circle();
      }
      const height = departments.has(id) ? heightOf(id) : 1;
      if (above.length + height > DEEPEST) {
        throw errors.department_too_deep(DEEPEST);
      }
    },

    forget: () => paths.clear(),
  };
}
