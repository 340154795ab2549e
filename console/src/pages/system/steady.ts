/** Rows that do not move while the user looks at them. */
import { useState } from 'react';

/** A row that may have ended since the last refresh. */
export interface SteadyRow<Row> {
  readonly row: Row;
  readonly ended: boolean;
}

/**
 * The rows in the order of their first appearance. While `held`, ended rows stay and are marked; otherwise they are removed.
 */
export function useSteadyRows<Row extends { readonly id: string }>(
  rows: readonly Row[],
  held: boolean,
): readonly SteadyRow<Row>[] {
  const [state, setKept] = useState<{
    readonly of: readonly Row[];
    readonly held: boolean;
    readonly rows: readonly SteadyRow<Row>[];
  }>({
    of: [],
    held: false,
    rows: [],
  });
  if (state.of === rows && state.held === held) return state.rows;
  const now = new Map(rows.map((row) => [row.id, row]));
  const before = state.rows.flatMap(({ row }): readonly SteadyRow<Row>[] => {
    const still = now.get(row.id);
    if (still !== undefined) return [{ row: still, ended: false }];
    return held ? [{ row, ended: true }] : [];
  });
  const ids = new Set(before.map(({ row }) => row.id));
  const added = rows.filter(({ id }) => !ids.has(id)).map((row) => ({ row, ended: false }));
  const next = { of: rows, held, rows: [...before, ...added] };
  // State is derived from props during rendering, so that no outdated row is rendered.
  setKept(next);
  return next.rows;
}
