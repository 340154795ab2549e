/** Creates large databases by multiplying the rows of a first start and a few calls. */
import type BetterSqlite3 from 'better-sqlite3';
import { hashOf, newSecret } from '../../plugins/keys/secret.ts';
import { msOf, timeOf } from '../../plugins/log/ids.ts';
import { Database } from '../../plugins/stores/sqlite/binding.ts';

/** Micro-quota: more than any bench spends. */
const CREDIT = 10n ** 18n;
/** Time between two added calls: a database grows over months. */
const BETWEEN_MS = 100;
/** Batch size for adding calls; never more than there are. */
const AT_ONCE = 100_000;

/** Adds accounts, each with a balance and an unlimited key. Returns their keys. No gateway may be running. */
export function addAccounts(storeFile: string, count: number): readonly string[] {
  const secrets = Array.from({ length: count }, () => newSecret());
  writing(storeFile, (db) => {
    db.function('hash_of', (n) => Buffer.from(hashOf(secrets[Number(n)]!), 'hex'));
    const numbers = `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${count})`;
    const add = (table: string, changed: Readonly<Record<string, string>>, where: string): void =>
      void db.exec(`${numbers} ${copies(db, table, changed, `n CROSS JOIN ${table} AS old WHERE ${where}`)}`);
    const { first } = db.prepare('SELECT MAX(id) AS first FROM account').get() as { first: number };
    const id = `old.id + ${first} + i`;
    add('account', { id, name: `'account-' || i`, folded: `'account-' || i`, role: `'member'` }, 'old.id = 1');
    add('api_key', { id, account_id: id, hash: 'hash_of(i)' }, 'old.id = 1');
    const owner = `old.owner + ${first} + i`;
    add('bucket', { owner, used: '0', granted: `${CREDIT}`, unlimited: '0' }, `old.kind = 'account' AND old.owner = 1`);
    add('bucket', { owner, used: '0' }, `old.kind = 'key' AND old.owner = 1`);
  });
  return secrets;
}

/**
 * Multiplies the usage records, with earlier times, up to a number. No gateway may be running, and some calls must have
 * been made.
 */
export function addCalls(storeFile: string, rows: number): void {
  writing(storeFile, (db) => {
    const template = db
      .prepare<[], { place: string; run: number }>('SELECT place, run_id AS run FROM usage_row ORDER BY place')
      .all()
      .slice(0, AT_ONCE);
    const from = msOf(template[0]!.place) - BETWEEN_MS * rows;
    db.exec('CREATE TEMP TABLE made (old TEXT NOT NULL, run INTEGER NOT NULL, place TEXT NOT NULL PRIMARY KEY)');
    const note = db.prepare('INSERT INTO made VALUES (?, ?, ?)');
    const which = 'old.place = made.old AND old.run_id = made.run';
    const copy = ['usage_row', 'usage_detail'].map((table) =>
      db.prepare(
        // In the order of the new ids, so that pages fill up as they do with real calls.
        copies(db, table, { place: 'made.place' }, `made CROSS JOIN ${table} AS old ON ${which} ORDER BY made.place`),
      ),
    );
    for (let made = 0; made < rows; ) {
      db.exec('DELETE FROM made');
      for (const { place, run } of template.slice(0, rows - made))
        note.run(place, run, timeOf(from + BETWEEN_MS * made++));
      for (const statement of copy) statement.run();
    }
  });
}

/** The size of the database with its log merged, in bytes, without free pages. No gateway may be running. */
export function bytesOf(storeFile: string): number {
  const db = new Database(storeFile, { fileMustExist: true });
  try {
    const pragma = (name: string): number => db.pragma(name, { simple: true }) as number;
    db.pragma('wal_checkpoint(TRUNCATE)');
    return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
  } finally {
    db.close();
  }
}

/** A statement that copies rows `old` with other values in some columns; new columns get their defaults. */
function copies(
  db: BetterSqlite3.Database,
  table: string,
  changed: Readonly<Record<string, string>>,
  from: string,
): string {
  const columns = (db.pragma(`table_info(${table})`) as readonly { readonly name: string }[]).map(({ name }) => name);
  const values = columns.map((column) => changed[column] ?? `old.${column}`);
  return `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM ${from}`;
}

/** Without fsync and journal: this data can be recreated. */
function writing<T>(storeFile: string, write: (db: BetterSqlite3.Database) => T): T {
  const db = new Database(storeFile, { fileMustExist: true });
  try {
    for (const setting of ['journal_mode = OFF', 'synchronous = OFF', 'cache_size = -200000']) db.pragma(setting);
    return db.transaction(write)(db);
  } finally {
    db.close();
  }
}
