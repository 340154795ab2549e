/** What has been imported: one row for each thing, so that a second import changes nothing. */
import type { Host, Migration, Step } from '../../core/plugin.ts';

/**
 * `source` is the family of the other gateway, `foreign_id` its identifier for the thing and `name` its name there;
 * `own_id` is ours. A row is written in the list that creates the thing.
 */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'what was imported from other gateways',
    sql: [
      `CREATE TABLE imported (
        source TEXT NOT NULL,
        kind TEXT NOT NULL,
        foreign_id TEXT NOT NULL,
        name TEXT NOT NULL,
        own_id INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (source, kind, foreign_id)
      ) STRICT, WITHOUT ROWID`,
    ],
  },
];

/** What a row is about: a department, an account, its profile, its debt, its department, a key. */
export type ImportedKind = 'department' | 'user' | 'profile' | 'debt' | 'place' | 'key';

/** A thing that was imported. */
export interface Imported {
  /** Its name in the other gateway at that time. */
  readonly name: string;
  readonly ownId: number;
}

/** Reads and writes the rows of one family of gateways. */
export interface Imports {
  find(kind: ImportedKind, foreignId: string): Imported | undefined;
  /** Adds a row to those that `find` knows; call it when its step is written, or in a dry run instead. */
  note(kind: ImportedKind, foreignId: string, imported: Imported): void;
  /** The step that writes a row; `must`: `imported_before`. */
  step(kind: ImportedKind, foreignId: string, imported: Imported): Step;
}

/** Reads the rows of a family. */
export async function readImports({ store, clock }: Pick<Host, 'store' | 'clock'>, source: string): Promise<Imports> {
  const rows = await store.all<{ kind: ImportedKind; foreign_id: string; name: string; own_id: number }>(
    'SELECT kind, foreign_id, name, own_id FROM imported WHERE source = ?',
    source,
  );
  const known = new Map(rows.map((row) => [`${row.kind} ${row.foreign_id}`, { name: row.name, ownId: row.own_id }]));
  return {
    find: (kind, foreignId) => known.get(`${kind} ${foreignId}`),
    note: (kind, foreignId, imported) => void known.set(`${kind} ${foreignId}`, imported),
    step: (kind, foreignId, { name, ownId }) => ({
      sql: `INSERT INTO imported (source, kind, foreign_id, name, own_id, at_ms) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING`,
      params: [source, kind, foreignId, name, ownId, clock.now()],
      must: 'imported_before',
    }),
  };
}
