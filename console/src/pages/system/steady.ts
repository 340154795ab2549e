/** Rows that hold still while somebody looks at them. */
import { useState } from 'react';

/** A row that may have ended since it was last seen. */
export interface Steady<Row> {
  readonly row: Row;
  readonly ended: boolean;
}

/**
 * The rows in the order in which they first came. While `held`, those that are there no longer stay, marked as ended; else they go.
 */
export function useSteadyRows<Row extends { readonly id: string }>(
  rows: readonly Row[],
  held: boolean,
): readonly Steady<Row>[] {
  const [kept, setKept] = useState<{
    readonly of: readonly Row[];
    readonly held: boolean;
    readonly rows: readonly Steady<Row>[];
  }>({
    of: [],
    held: false,
    rows: [],
  });
  if (kept.of === rows && kept.held === held) return kept.rows;
  const now = new Map(rows.map((row) => [row.id, row]));
  const before = kept.rows.flatMap(({ row }): readonly Steady<Row>[] => {
    const still = now.get(row.id);
    if (still !== undefined) return [{ row: still, ended: false }];
    return held ? [{ row, ended: true }] : [];
  });
  const known = new Set(before.map(({ row }) => row.id));
  const added = rows.filter(({ id }) => !known.has(id)).map((row) => ({ row, ended: false }));
  const next = { of: rows, held, rows: [...before, ...added] };
  // What comes of the props is kept while rendering: there is no moment at which old rows are seen.
  setKept(next);
  return next.rows;
}
