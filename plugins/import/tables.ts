/** What has been imported: one row for each thing, so that a second import writes only what is new or was changed there. */
import type { Host, Json, JsonObject, Migration, Step } from '../../core/plugin.ts';
import { Texts } from './packed.ts';

/**
 * `source` is the family of the other gateway, `foreign_id` its identifier for the thing and `name` its name there; `own_id` is ours. A row is
 * written in the list that creates the thing. `seen` is what was imported of it, as JSON: a later import compares with that, not with what users
 * and calls have changed here since; NULL if an older release imported it. `revision` counts the later imports that changed the row.
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
  {
    id: 2,
    title: 'what was imported of each thing',
    compatibleFrom: 1,
    sql: [
      'ALTER TABLE imported ADD COLUMN seen TEXT',
      'ALTER TABLE imported ADD COLUMN revision INTEGER NOT NULL DEFAULT 0',
    ],
  },
  {
    id: 3,
    title: 'the import of the console',
    compatibleFrom: 1,
    sql: [
      `CREATE TABLE import_run (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        claim TEXT NOT NULL,
        state TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        about TEXT NOT NULL,
        report TEXT,
        handouts TEXT
      ) STRICT`,
    ],
  },
  {
    id: 4,
    title: 'the import that runs',
    compatibleFrom: 1,
    sql: [
      `CREATE TABLE import_claim (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        claim TEXT NOT NULL,
        sign INTEGER NOT NULL
      ) STRICT`,
    ],
  },
];

/**
 * What a row is about: a department, an account, a link for a new password that was handed out, a key, what an account holds, a day of usage.
 * Older releases wrote the profile, the debt and the department of an account by themselves.
 */
export type ImportedKind =
  | 'department'
  | 'user'
  | 'profile'
  | 'debt'
  | 'place'
  | 'link'
  | 'key'
  | 'code'
  | 'subscription'
  | 'order'
  | 'day'
  | 'secret';

/** What was imported of a thing: values that JSON has; amounts are texts. */
export type Seen = JsonObject;

/** A thing that was imported. */
export interface Imported {
  /** Its name in the other gateway at that time. */
  readonly name: string;
  readonly ownId: number;
  /** Undefined: an older release imported it. */
  readonly seen?: Seen | undefined;
  /** How many later imports changed it. */
  readonly revision?: number;
}

/** Reads and writes the rows of one family of gateways. */
export interface Imports {
  find(kind: ImportedKind, foreignId: string): Imported | undefined;
  /** Whether `find` knows it, without reading what was seen of it. */
  has(kind: ImportedKind, foreignId: string): boolean;
  /** The identifiers of a kind. */
  ids(kind: ImportedKind): Iterable<string>;
  /** Adds or replaces a row that `find` knows; call it when its step is written, or in a dry run instead. */
  note(kind: ImportedKind, foreignId: string, imported: Imported): void;
  /** The step that writes a row; `must`: `imported_before`. */
  step(kind: ImportedKind, foreignId: string, imported: Imported): Step;
  /** The step that replaces a row; `must`: `imported_meanwhile` if another import changed it. */
  changeStep(kind: ImportedKind, foreignId: string, before: Imported, now: Imported): Step;
}

/** A row as it is in memory: there may be a hundred thousand. `seen`: the number of its text. */
interface Kept {
  readonly name: string;
  readonly ownId: number;
  readonly seen: number | null;
  readonly revision: number;
}

/** Rows of one query. */
const PAGE = 2_000;

/** Reads the rows of a family. */
export async function readImports({ store, clock }: Pick<Host, 'store' | 'clock'>, source: string): Promise<Imports> {
  const known = new Map<string, Map<string, Kept>>();
  const texts = new Texts();
  const put = (kind: string, id: string, kept: Kept): void => {
    const ofKind = known.get(kind) ?? new Map<string, Kept>();
    known.set(kind, ofKind.set(id, kept));
  };
  for (let last = ['', '']; ; ) {
    const rows = await store.all<{
      readonly kind: ImportedKind;
      readonly foreign_id: string;
      readonly name: string;
      readonly own_id: number;
      readonly seen: string | null;
      readonly revision: number;
    }>(
      `SELECT kind, foreign_id, name, own_id, seen, revision FROM imported
        WHERE source = ? AND (kind, foreign_id) > (?, ?) ORDER BY kind, foreign_id LIMIT ${PAGE}`,
      source,
      ...last,
    );
    for (const { kind, foreign_id, name, own_id: ownId, seen, revision } of rows)
      put(kind, foreign_id, { name, ownId, seen: seen === null ? null : texts.add(seen), revision });
    const end = rows.at(-1);
    if (end === undefined || rows.length < PAGE) break;
    last = [end.kind, end.foreign_id];
  }

  return {
    find(kind, foreignId) {
      const kept = known.get(kind)?.get(foreignId);
      return kept && { ...kept, seen: kept.seen === null ? undefined : (JSON.parse(texts.at(kept.seen)) as Seen) };
    },
    has: (kind, foreignId) => known.get(kind)?.has(foreignId) === true,
    ids: (kind) => [...(known.get(kind)?.keys() ?? [])],
    note: (kind, foreignId, { name, ownId, seen, revision = 0 }) =>
      put(kind, foreignId, {
        name,
        ownId,
        seen: seen === undefined ? null : texts.add(JSON.stringify(seen)),
        revision,
      }),
    step: (kind, foreignId, { name, ownId, seen }) => ({
      sql: `INSERT INTO imported (source, kind, foreign_id, name, own_id, at_ms, seen) VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING`,
      params: [source, kind, foreignId, name, ownId, clock.now(), seenText(seen)],
      must: 'imported_before',
    }),
    changeStep: (kind, foreignId, { revision = 0 }, { name, seen }) => ({
      sql: `UPDATE imported SET name = ?, seen = ?, revision = revision + 1
        WHERE source = ? AND kind = ? AND foreign_id = ? AND revision = ?`,
      params: [name, seenText(seen), source, kind, foreignId, revision],
      must: 'imported_meanwhile',
    }),
  };
}

const seenText = (seen: Seen | undefined): string | null => (seen === undefined ? null : JSON.stringify(seen));

/** Whether two values of such JSON are the same. */
export function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}
