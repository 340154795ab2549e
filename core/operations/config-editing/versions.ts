/** What the database keeps of the configuration: its secrets and its versions, both sealed with the master key. */

import { createHash } from 'node:crypto';
import type { VersionAbout } from '../../contracts/configuring.ts';
import type { Vault } from '../../contracts/host.ts';
import type { Reader, Step, Store, Surrender } from '../../plugin.ts';
import type { Clock } from '../../runtime/clock.ts';
import { CONFIG_TABLES } from '../../store/migrations.ts';

/** Versions that are kept. */
export const MOST_VERSIONS = 200;

/** A secret without its value. */
export interface KeptSecret {
  readonly name: string;
  /** Unix milliseconds. */
  readonly setMs: number;
  readonly setBy: string;
}

/** A version with its text as it was saved. */
export interface KeptVersion extends VersionAbout {
  readonly text: string;
}

/** A version to be recorded. */
export interface NewVersion {
  readonly text: string;
  /** Undefined: changed outside. */
  readonly by: string | undefined;
  readonly note: string;
  /** Only if the newest version has this revision; undefined: in any case. */
  readonly after?: string | undefined;
  /** What is written with it. */
  steps?(id: number): readonly Step[];
}

/** The tables. Before core's migrations have run, both are empty. */
export interface KeptConfig {
  /** All secrets with their values. */
  secrets(): Promise<ReadonlyMap<string, string>>;
  /** In order of their names. */
  listSecrets(): Promise<readonly KeptSecret[]>;
  setSecret(name: string, value: string, by: string, steps: readonly Step[]): Promise<void>;
  /** False: there is none. */
  deleteSecret(name: string, steps: readonly Step[]): Promise<boolean>;
  newest(): Promise<KeptVersion | undefined>;
  newestRevision(): Promise<string | undefined>;
  version(id: number): Promise<KeptVersion | undefined>;
  /** Newest first. */
  versions(of: { readonly offset: number; readonly limit: number }): Promise<{
    readonly total: number;
    readonly items: readonly VersionAbout[];
  }>;
  /** Records a version and deletes the oldest. Undefined: `after` is not the newest version. */
  add(version: NewVersion): Promise<number | undefined>;
}

interface SecretRow {
  readonly name: string;
  readonly sealed: string;
  readonly set_ms: number;
  readonly set_by: string;
}

interface VersionRow {
  readonly id: number;
  readonly at_ms: number;
  readonly by_name: string | null;
  readonly note: string;
  readonly revision: string;
  readonly sealed: string;
}

const ABOUT = 'id, at_ms, by_name, note, revision';

/** Identifies a text. */
export function revisionOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

const placeOfSecret = (name: string): string => `config_secret.sealed ${name}`;
const placeOfText = (revision: string): string => `config_version.sealed ${revision}`;

/** Creates the access to the tables of an open store. */
export function keepConfig(store: Store, vault: Vault, clock: Clock): KeptConfig {
  let made = false;
  const isMade = async (): Promise<boolean> => {
    made ||= await hasTables(store);
    return made;
  };

  const opened = (row: VersionRow | undefined): KeptVersion | undefined =>
    row && { ...shown(row), text: vault.open(placeOfText(row.revision), row.sealed) };

  return {
    async secrets() {
      if (!(await isMade())) return new Map();
      const rows = await store.all<SecretRow>('SELECT name, sealed FROM config_secret');
      return new Map(rows.map(({ name, sealed }) => [name, vault.open(placeOfSecret(name), sealed)]));
    },

    async listSecrets() {
      if (!(await isMade())) return [];
      const rows = await store.all<SecretRow>('SELECT name, set_ms, set_by FROM config_secret ORDER BY name');
      return rows.map(({ name, set_ms, set_by }) => ({ name, setMs: set_ms, setBy: set_by }));
    },

    async setSecret(name, value, by, steps) {
      await store.atomic([
        {
          sql: `INSERT INTO config_secret (name, sealed, set_ms, set_by) VALUES (?, ?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed, set_ms = excluded.set_ms, set_by = excluded.set_by`,
          params: [name, vault.seal(placeOfSecret(name), value), clock.now(), by],
        },
        ...steps,
      ]);
    },

    async deleteSecret(name, steps) {
      const missing = await store.atomic([
        { sql: 'DELETE FROM config_secret WHERE name = ?', params: [name], must: 'secret' },
        ...steps,
      ]);
      return missing === undefined;
    },

    async newest() {
      if (!(await isMade())) return undefined;
      return opened(
        await store.one<VersionRow>(`SELECT ${ABOUT}, sealed FROM config_version ORDER BY id DESC LIMIT 1`),
      );
    },

    async newestRevision() {
      if (!(await isMade())) return undefined;
      const row = await store.one<Pick<VersionRow, 'revision'>>(
        'SELECT revision FROM config_version ORDER BY id DESC LIMIT 1',
      );
      return row?.revision;
    },

    version: async (id) =>
      opened(await store.one<VersionRow>(`SELECT ${ABOUT}, sealed FROM config_version WHERE id = ?`, id)),

    async versions({ offset, limit }) {
      const count = await store.one<{ readonly total: number }>('SELECT COUNT(*) AS total FROM config_version');
      const rows = await store.all<VersionRow>(
        `SELECT ${ABOUT} FROM config_version ORDER BY id DESC LIMIT ? OFFSET ?`,
        limit,
        offset,
      );
      return { total: count?.total ?? 0, items: rows.map(shown) };
    },

    async add({ text, by, note, after, steps }) {
      const revision = revisionOf(text);
      for (;;) {
        const last = await store.one<Pick<VersionRow, 'id' | 'revision'>>(
          'SELECT id, revision FROM config_version ORDER BY id DESC LIMIT 1',
        );
        if (after !== undefined && last?.revision !== after) return undefined;
        const id = (last?.id ?? 0) + 1;
        const lost = await store.atomic([
          // Of two writers with the same id, the second writes nothing, and takes the next one.
          {
            sql: `INSERT INTO config_version (id, at_ms, by_name, note, revision, sealed) VALUES (?, ?, ?, ?, ?, ?)
              ON CONFLICT (id) DO NOTHING`,
            params: [id, clock.now(), by ?? null, note, revision, vault.seal(placeOfText(revision), text)],
            must: 'first',
          },
          { sql: 'DELETE FROM config_version WHERE id <= ?', params: [id - MOST_VERSIONS] },
          ...(steps?.(id) ?? []),
        ]);
        if (lost === undefined) return id;
        if (lost !== 'first') throw new Error(`a version of the configuration was not recorded: ${lost}`);
      }
    },
  };
}

function shown({ id, at_ms, by_name, note, revision }: VersionRow): VersionAbout {
  return { id, atMs: at_ms, by: by_name ?? undefined, note, revision };
}

async function hasTables(read: Reader): Promise<boolean> {
  return (await read.one("SELECT 1 FROM migration WHERE owner = 'core' AND id = ?", CONFIG_TABLES)) !== undefined;
}

/** What is lost with the master key, for `turnpike recover`. */
export async function surrenderConfig(read: Reader): Promise<readonly Surrender[]> {
  if (!(await hasTables(read))) return [];
  const secrets = await read.all<Pick<SecretRow, 'name'>>('SELECT name FROM config_secret ORDER BY name');
  const versions = await read.one<{ readonly n: number }>('SELECT COUNT(*) AS n FROM config_version');
  const lost: Surrender[] = [];
  if (secrets.length > 0) {
    lost.push({
      what: `${secrets.length} secrets of the configuration; set them again: ${secrets.map(({ name }) => name).join(', ')}`,
      steps: [{ sql: 'DELETE FROM config_secret' }],
    });
  }
  if ((versions?.n ?? 0) > 0) {
    lost.push({
      what: `${versions?.n} versions of the configuration`,
      steps: [{ sql: 'DELETE FROM config_version' }],
    });
  }
  return lost;
}
