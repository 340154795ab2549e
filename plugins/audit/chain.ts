/** The hash chain: what the hash of an entry covers, the steps that add an entry, and its verification. */
import { createHash } from 'node:crypto';
import type { Reader, Step } from '../../core/plugin.ts';
import { NO_ENTRY } from './tables.ts';

/** An entry before it is chained. */
export interface Link {
  readonly atMs: number;
  readonly actorId: number | null;
  readonly actor: string;
  readonly ip: string;
  readonly action: string;
  readonly object: string;
  /** JSON. */
  readonly facts: string;
}

/** A stored entry. */
export interface Row {
  readonly seq: number;
  readonly at_ms: number;
  readonly actor_id: number | null;
  readonly actor: string;
  readonly ip: string;
  readonly action: string;
  readonly object: string;
  readonly facts: string;
  readonly hash: string;
}

/** Its columns. */
export const COLUMNS = 'seq, at_ms, actor_id, actor, ip, action, object, facts, hash';

/** The end of the chain. `seq` 0: no entries yet. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
}

/** The hashed content of an entry, as JSON: different entries have different texts. */
function contentOf(link: Link): string {
  const { atMs, actorId, actor, ip, action, object, facts } = link;
  return JSON.stringify([atMs, actorId, actor, ip, action, object, facts]);
}

/**
 * Advances the head, then writes the entry. The database computes the hash within the list, so concurrent lists are chained in the order of
 * their commits.
 */
export function linkSteps(link: Link): readonly Step[] {
  const { atMs, actorId, actor, ip, action, object, facts } = link;
  return [
    {
      sql: `UPDATE audit_head SET seq = seq + 1, hash = sha256_hex(hash || ' ' || (seq + 1) || ' ' || ?) WHERE one = 1`,
      params: [contentOf(link)],
      must: 'audit_head_missing',
    },
    {
      sql: `INSERT INTO audit (${COLUMNS}) SELECT seq, ?, ?, ?, ?, ?, ?, ?, hash FROM audit_head`,
      params: [atMs, actorId, actor, ip, action, object, facts],
    },
  ];
}

/** The same hash for `verifyChain`. */
function hashOf(before: string, row: Row): string {
  const { at_ms: atMs, actor_id: actorId, actor, ip, action, object, facts } = row;
  const content = contentOf({ atMs, actorId, actor, ip, action, object, facts });
  return createHash('sha256').update(`${before} ${row.seq} ${content}`).digest('hex');
}

/** The head of the chain. Throws if it is missing. */
export async function readHead(read: Reader): Promise<Head> {
  const head = await read.one<Head>('SELECT seq, hash FROM audit_head WHERE one = 1');
  if (head === undefined) throw new Error('the head of the audit log is missing');
  return head;
}

/** The result of a verification. */
export interface Verification extends Head {
  /** The first entry that does not match, and why; undefined: the chain is intact. */
  readonly broken: { readonly seq: number; readonly why: string } | undefined;
}

/** Entries per statement. */
const BITE = 1_000;

/**
 * Verifies from the first entry to the head. `known`: a head that was recorded earlier and must still be part of the chain: someone who
 * rebuilds the whole chain cannot reproduce its hash.
 */
export async function verifyChain(read: Reader, known?: Head): Promise<Verification> {
  const { head, broken } = await verifyStretch(read, 0, Number.MAX_SAFE_INTEGER, known);
  return { ...head, broken };
}

/** The result of verifying a part of the chain. */
export interface Stretch {
  /** The last verified entry. */
  readonly seq: number;
  readonly head: Head;
  readonly broken: Verification['broken'];
}

/** Verifies at most `most` entries after `after`, trusting that entry's hash; if it reaches the end, compares with the head. */
export async function verifyStretch(read: Reader, after: number, most: number, known?: Head): Promise<Stretch> {
  const head = await readHead(read);
  let seq = after;
  const broken = (at: number, why: string): Stretch => ({ seq, head, broken: { seq: at, why } });
  const before = after === 0 ? NO_ENTRY : await hashAt(read, after);
  if (before === undefined) return broken(after, 'it is missing');
  let hash = before;
  const until = Math.min(head.seq, after + most);
  for (;;) {
    const rows = await read.all<Row>(
      `SELECT ${COLUMNS} FROM audit WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ${BITE}`,
      seq,
      until,
    );
    for (const row of rows) {
      if (row.seq !== seq + 1) return broken(seq + 1, 'it is missing');
      hash = hashOf(hash, row);
      if (hash !== row.hash) return broken(row.seq, 'it or an earlier entry was changed');
      seq = row.seq;
      if (known?.seq === seq && known.hash !== hash) return broken(seq, `its hash used to be ${known.hash}`);
    }
    if (rows.length < BITE) break;
  }
  if (seq !== until) return broken(seq + 1, 'it is missing');
  if (until < head.seq) return { seq, head, broken: undefined };
  if (hash !== head.hash) return broken(seq, 'it does not match the head of the log');
  if (known !== undefined && known.seq > head.seq) return broken(seq + 1, `there used to be ${known.seq} entries`);
  // One statement, so that concurrent writes include their head.
  const stray = await read.one<{ readonly seq: number }>(
    'SELECT seq FROM audit WHERE seq < 1 OR seq > (SELECT seq FROM audit_head WHERE one = 1) LIMIT 1',
  );
  return stray === undefined
    ? { seq, head, broken: undefined }
    : broken(stray.seq, 'it was not written by the audit log');
}

async function hashAt(read: Reader, seq: number): Promise<string | undefined> {
  return (await read.one<{ readonly hash: string }>('SELECT hash FROM audit WHERE seq = ?', seq))?.hash;
}
