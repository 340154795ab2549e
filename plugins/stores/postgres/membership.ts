/**
 * The processes that share a database: each has a lease row that it renews by the server's clock. The others remove a process whose lease
 * has expired, and reject everything it writes later. Messages use NOTIFY.
 */
import type pg from 'pg';
import type { JoinedProcess, Log, Membership, MembershipEvents, ProcessFacts } from '../../../core/plugin.ts';
import { GivenUp } from './batch.ts';
import { connect, disconnect, type ServerSettings } from './connection.ts';
import { reasonOf } from './errors.ts';
import { LOCKS } from './tables.ts';

/**
 * The renewal interval, the duration of the lease, and the margin by which a process considers its own lease expired earlier, because the
 * server's answers take time.
 */
const BEAT_MS = 2_000;
const TERM_MS = 10_000;
const MARGIN_MS = 3_000;
/** NOTIFY accepts less than 8,000 bytes; longer messages are stored in a table for this long. */
const LONGEST_NOTICE = 7_500;
const KEPT_MS = 60_000;
const CHANNEL = 'turnpike';
/** A message: its sender, its receiver if it is for one process, and its text or, after `#`, the id of the stored text. */
const NOTICE = /^([^\s>#]+)(?:>([^\s>#]+))?([ #])([\s\S]*)$/;

interface ProcessRow {
  readonly epoch: string;
  readonly late: number;
}

/** Joins. `writer` names the row that allows this opening of the store to write; both rows are removed together. */
export async function join(
  settings: ServerSettings,
  writer: string,
  { epoch, name, version, config }: ProcessFacts,
  { left, message, ended }: MembershipEvents,
  log: Log,
): Promise<Membership> {
  // A renewal must not take longer than the interval.
  const own = { ...settings, statementTimeoutMs: BEAT_MS };
  let client: pg.Client | undefined;
  let connecting: Promise<pg.Client> | undefined;
  let members: readonly string[] = [];
  /** Until when this process counts as a member, and since when without interruption; by its own clock. */
  let untilMs = 0;
  let sinceMs = performance.now();
  let isOver = false;
  let beating: Promise<void> | undefined;
  /** Messages are delivered in order, even if one has to be fetched. */
  let delivered: Promise<void> = Promise.resolve();

  const isCurrent = (): boolean => !isOver && performance.now() < untilMs;

  /** Concurrent callers share one request. */
  async function connected(): Promise<pg.Client> {
    if (client !== undefined) return client;
    connecting ??= reconnect().finally(() => {
      connecting = undefined;
    });
    return connecting;
  }

  async function reconnect(): Promise<pg.Client> {
    const made = await connect(own, 'turnpike membership', () => {
      if (client === made) client = undefined;
    });
    made.on('notification', ({ payload = '' }) => receive(made, payload));
    await made.query(`LISTEN ${CHANNEL}`);
    client = made;
    return made;
  }

  function receive(from: pg.Client, payload: string): void {
    const [, sender = '', to = epoch, kind, rest = ''] = NOTICE.exec(payload) ?? [];
    if (sender === epoch || sender === '' || to !== epoch) return;
    delivered = delivered
      .then(async () => {
        if (kind === ' ') return message(rest, sender);
        const { rows } = await from.query<{ body: string }>('SELECT body FROM store_message WHERE id = $1', [rest]);
        if (rows[0] !== undefined) message(rows[0].body, sender);
      })
      .catch((error: unknown) => log.warn('lost a message from another process', { reason: reasonOf(error) }));
  }

  /** Renews the lease, and reads the other members. */
  async function beat(): Promise<void> {
    const beganMs = performance.now();
    const db = await connected();
    const [{ rowCount }, { rows }] = await Promise.all([
      db.query('UPDATE store_process SET until_ms = store_now() + $2 WHERE epoch = $1', [epoch, TERM_MS]),
      db.query<ProcessRow>('SELECT epoch, until_ms < store_now() AS late FROM store_process ORDER BY number'),
    ]);
    if (rowCount === 0)
      throw new GivenUp('the other processes removed this process, because it did not renew its lease in time');
    if (beganMs >= untilMs) sinceMs = beganMs;
    untilMs = beganMs + TERM_MS - MARGIN_MS;
    // A process that was disconnected itself does not know whether others have ended.
    const mayJudge = beganMs - sinceMs > TERM_MS;
    const gone = mayJudge && rows.some(({ late }) => late === 1) ? await giveUp(db) : [];
    const before = members;
    members = rows.map((row) => row.epoch).filter((each) => !gone.includes(each));
    const lost = before.filter((each) => !members.includes(each));
    if (lost.length > 0) left(lost);
  }

  /** Takes the right to write from all processes whose lease has expired: what they sent is committed, or never will be. */
  async function giveUp(db: pg.Client): Promise<readonly string[]> {
    await db.query('BEGIN');
    try {
      await db.query('SELECT pg_advisory_xact_lock($1, $2)', [...LOCKS.writing]);
      const { rows } = await db.query<{ epoch: string; writer: string }>(
        'DELETE FROM store_process WHERE until_ms < store_now() AND epoch <> $1 RETURNING epoch, writer',
        [epoch],
      );
      await db.query('DELETE FROM store_writer WHERE name = ANY($1)', [rows.map((row) => row.writer)]);
      await db.query('COMMIT');
      for (const row of rows) log.warn('removed a process that did not renew its lease', { epoch: row.epoch });
      return rows.map((row) => row.epoch);
    } catch (error) {
      await db.query('ROLLBACK').catch(() => {});
      throw error;
    }
  }

  /** Runs one at a time; callers that arrive in the meantime wait for the same run. */
  function beatOnce(): Promise<void> {
    beating ??= beat().finally(() => {
      beating = undefined;
    });
    return beating;
  }

  async function beatAgain(): Promise<void> {
    try {
      await beatOnce();
    } catch (error) {
      if (isOver) return;
      if (error instanceof GivenUp) {
        stop();
        ended(error);
        return;
      }
      log.warn('could not renew the lease of this process', { reason: reasonOf(error) });
    }
  }

  const timer = setInterval(() => void beatAgain(), BEAT_MS).unref();
  function stop(): void {
    isOver = true;
    clearInterval(timer);
  }

  try {
    const db = await connected();
    await db.query(
      `INSERT INTO store_process (epoch, writer, name, version, config, since_ms, until_ms)
        VALUES ($1, $2, $3, $4, $5, store_now(), store_now() + $6)`,
      [epoch, writer, name, version, config, TERM_MS],
    );
    await beat();
  } catch (error) {
    stop();
    if (client !== undefined) await disconnect(client);
    throw error;
  }

  return {
    get members() {
      return members;
    },
    isCurrent,
    async look() {
      await beatOnce();
      return members;
    },
    async processes() {
      const db = await connected();
      const { rows } = await db.query<JoinedProcess>(
        'SELECT epoch, name, version, config, since_ms AS "joinedMs" FROM store_process ORDER BY number',
      );
      return rows;
    },
    async send(body, to) {
      const db = await connected();
      if (Buffer.byteLength(body) <= LONGEST_NOTICE) {
        await db.query('SELECT pg_notify($1, $2)', [CHANNEL, `${epoch} ${body}`]);
        return;
      }
      // Sent together, so that a later message cannot overtake this one.
      await Promise.all([
        db.query('DELETE FROM store_message WHERE at_ms < store_now() - $1::bigint', [KEPT_MS]),
        db.query(
          `WITH kept AS (INSERT INTO store_message (at_ms, body) VALUES (store_now(), $1) RETURNING id)
            SELECT pg_notify($2, $3 || '#' || id) FROM kept`,
          [body, CHANNEL, to === undefined ? epoch : `${epoch}>${to}`],
        ),
      ]);
    },
    async leave() {
      stop();
      await beating?.catch(() => {});
      const db = client;
      client = undefined;
      if (db === undefined) return;
      await db.query('DELETE FROM store_process WHERE epoch = $1', [epoch]).catch(() => {});
      await disconnect(db);
    },
  };
}
