/** The chain: what the hash of an entry is made of, the steps that add one, and the way along it that finds every break. */
import { createHash } from 'node:crypto';
import type { Reader, Step } from '../../core/plugin.ts';
import { NO_ENTRY } from './tables.ts';

/** An entry before it has its place. */
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

/** A row of the log. */
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

/** The columns of one. */
export const COLUMNS = 'seq, at_ms, actor_id, actor, ip, action, object, facts, hash';

/** Where the chain ends. `seq` 0: there is no entry yet. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
}

/** What of an entry its hash covers, as JSON: no two entries have the same text. */
function contentOf(link: Link): string {
  const { atMs, actorId, actor, ip, action, object, facts } = link;
  return JSON.stringify([atMs, actorId, actor, ip, action, object, facts]);
}

/**
 * Moves the head, then writes the entry it stands for. The database makes the hash, inside the list: whatever else is being written
 * has its place before or behind it.
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

/** The same hash, as `verifyChain` makes it. */
function hashOf(before: string, row: Row): string {
  const { at_ms: atMs, actor_id: actorId, actor, ip, action, object, facts } = row;
  const content = contentOf({ atMs, actorId, actor, ip, action, object, facts });
  return createHash('sha256').update(`${before} ${row.seq} ${content}`).digest('hex');
}

/** The head of the chain. Throws where it is gone. */
export async function readHead(read: Reader): Promise<Head> {
  const head = await read.one<Head>('SELECT seq, hash FROM audit_head WHERE one = 1');
  if (head === undefined) throw new Error('the head of the audit log is missing');
  return head;
}

/** What a walk along the chain found. */
export interface Verdict extends Head {
  /** The first entry that does not fit, and why; undefined: the chain is whole. */
  readonly broken: { readonly seq: number; readonly why: string } | undefined;
}

/** Entries read at a time. */
const BITE = 1_000;

/**
 * Walks from the first entry to the head. `known`: a head that was noted earlier, which must still be part of the chain: somebody who
 * makes the whole chain anew cannot make that hash.
 */
export async function verifyChain(read: Reader, known?: Head): Promise<Verdict> {
  const { head, broken } = await verifyStretch(read, 0, Number.MAX_SAFE_INTEGER, known);
  return { ...head, broken };
}

/** What a walk along a part of the chain found. */
export interface Stretch {
  /** The last entry that was looked at. */
  readonly seq: number;
  readonly head: Head;
  readonly broken: Verdict['broken'];
}

/** Walks along at most `most` entries behind `after`, taking the hash of that one as it stands; the end is compared with the head. */
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
      if (hash !== row.hash) return broken(row.seq, 'it was changed, or what is before it');
      seq = row.seq;
      if (known?.seq === seq && known.hash !== hash) return broken(seq, `its hash was ${known.hash} once`);
    }
    if (rows.length < BITE) break;
  }
  if (seq !== until) return broken(seq + 1, 'it is missing');
  if (until < head.seq) return { seq, head, broken: undefined };
  if (hash !== head.hash) return broken(seq, 'it is not what the head of the log says');
  if (known !== undefined && known.seq > head.seq) return broken(seq + 1, `there were ${known.seq} entries once`);
  // One statement, so that whatever is written meanwhile has its head.
  const stray = await read.one<{ readonly seq: number }>(
    'SELECT seq FROM audit WHERE seq < 1 OR seq > (SELECT seq FROM audit_head WHERE one = 1) LIMIT 1',
  );
  return stray === undefined ? { seq, head, broken: undefined } : broken(stray.seq, 'it was never written by the log');
}

async function hashAt(read: Reader, seq: number): Promise<string | undefined> {
  return (await read.one<{ readonly hash: string }>('SELECT hash FROM audit WHERE seq = ?', seq))?.hash;
}
