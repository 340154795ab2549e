/** The tree in memory: departments by id, their members, and validation. */
import type { Department } from '../../core/contracts/departments.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { refuse } from '../../core/plugin.ts';
import { errors } from './errors.ts';

/** The maximum depth. */
const DEEPEST = 10;

/** Names that differ only in case are equal. */
export const fold = (name: string): string => name.toLowerCase();

export function createTree(
  version: number,
  lastId: number,
  departments: Map<number, Department>,
  memberships: Map<number, number>,
) {
  const paths = new Map<number, readonly Department[]>();

  function pathOf(id: number): readonly Department[] {
    const cached = paths.get(id);
    if (cached !== undefined) return cached;
    const path: Department[] = [];
    // A cycle that was created in the database by hand must not cause an endless loop.
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
    const descendants: Department[] = [];
    let parents = new Set([id]);
    for (let depth = 1; depth <= DEEPEST && parents.size > 0; depth++) {
      const level = [...departments.values()].filter(({ parentId }) => parentId !== undefined && parents.has(parentId));
      descendants.push(...level);
      parents = new Set(level.map((department) => department.id));
    }
    return descendants;
  }

  /** The height of a department's subtree. */
  function heightOf(id: number): number {
    const depth = pathOf(id).length;
    return Math.max(depth, ...below(id).map((department) => pathOf(department.id).length)) - depth + 1;
  }

  return {
    /** The version in the store when it was read. */
    version,
    /** The highest id so far: ids are not reused, because records refer to them. */
    lastId,
    departments,
    /** Department by account. */
    memberships,
    /** A department and all above it, up to the top. */
    pathOf,
    /** All departments below one, parents before their children. */
    below,
    /** Refuses (404) an unknown id. */
    demand: (id: number): Department =>
      departments.get(id) ?? refuse(coreErrors.department_not_found(id).with({ param: 'id' })),

    /** Refuses (400, 404, 409) a department that does not fit at its place. */
    checkPlace({ id, name, parentId }: Department): void {
      const folded = fold(name);
      for (const other of departments.values()) {
        if (other.id === id || other.parentId !== parentId || fold(other.name) !== folded) continue;
        throw coreErrors.name_taken(`A department with the name "${other.name}" already exists under this parent.`);
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

    /** Clears the cached paths. */
    forget: (): void => paths.clear(),
  };
}

/** A state of the tree. Maps are changed in place; callers then call `forget`. */
export type Tree = ReturnType<typeof createTree>;
