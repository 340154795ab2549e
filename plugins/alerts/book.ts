/** What was told about each subject, and the outbox: each level of a budget, and each condition, is told once. */
import { randomUUID } from 'node:crypto';
import type { AlertEvent, AlertFacts, AlertKind, OpenAlert } from '../../core/contracts/alerts.ts';
import type { Host, Step } from '../../core/plugin.ts';

/** What a look at a subject has found. */
export interface Finding {
  readonly subject: string;
  readonly kind: AlertKind;
  /** The highest level that is reached; 0: none, or the condition does not hold. */
  readonly level: number;
  /** When the period of a budget began, unix milliseconds; 0: it has none. */
  readonly periodMs: number;
  readonly resetsMs: number | undefined;
  readonly title: string;
  readonly text: string;
  readonly facts: AlertFacts;
  /** The account that may be told, too. */
  readonly accountId: number | undefined;
  /** How often a condition that lasts is told; undefined: once, as the levels of budgets. */
  readonly againMs: number | undefined;
}

/** An event to deliver. */
export interface Message {
  readonly id: string;
  readonly atMs: number;
  readonly kind: AlertKind;
  readonly subject: string;
  readonly level: number;
  readonly isOver: boolean;
  readonly title: string;
  readonly text: string;
  readonly accountId: number | undefined;
  /** Attempts to deliver it so far. */
  readonly attempts: number;
}

interface AlertRow {
  readonly level: number;
  readonly period_ms: number;
  readonly since_ms: number;
  readonly told_ms: number | null;
  readonly title: string;
}

interface EventRow {
  readonly id: string;
  readonly at_ms: number;
  readonly kind: AlertKind;
  readonly subject: string;
  readonly level: number;
  readonly is_over: number;
  readonly title: string;
  readonly text: string;
  readonly facts: string;
  readonly account_id: number | null;
}

/** A condition that comes and goes is told at most this often. */
const QUIET_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** How long events are kept. */
const KEEP_MS = 90 * DAY_MS;
/** The `must` that fails if another process was faster. */
const OUTDATED = 'alert_changed';
const EVENT_COLUMNS = 'id, at_ms, kind, subject, level, is_over, title, text, facts, account_id';

/** Creates it. `targetsFor` returns the targets of an event. */
export function createBook(
  { store, clock }: Pick<Host, 'store' | 'clock'>,
  targetsFor: (accountId: number | undefined) => Promise<readonly string[]>,
) {
  /** The steps of an event and its deliveries. */
  async function eventSteps(
    { kind, subject, level, title, text, facts, accountId }: Finding,
    isOver: boolean,
  ): Promise<readonly Step[]> {
    const [id, now] = [randomUUID(), clock.now()];
    const targets = await targetsFor(accountId);
    return [
      {
        sql: `INSERT INTO alert_event (${EVENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        params: [
          ...[id, now, kind, subject, level, isOver ? 1 : 0, title, text, JSON.stringify(facts)],
          accountId ?? null,
        ],
      },
      ...targets.map((target) => ({
        sql: "INSERT INTO alert_delivery (event_id, target, state, at_ms) VALUES (?, ?, 'waiting', ?)",
        params: [id, target, now],
      })),
    ];
  }

  function decide(found: Finding, row: AlertRow | undefined) {
    const now = clock.now();
    const before = row?.period_ms === found.periodMs ? row : undefined;
    const rises = found.level > (before?.level ?? 0);
    const sinceMs = found.level === (before?.level ?? 0) && before !== undefined ? before.since_ms : now;
    const toldMs = row?.told_ms ?? undefined;
    if (found.againMs === undefined) return { isDue: rises, isOver: false, sinceMs };
    const isTold = toldMs !== undefined && toldMs >= sinceMs;
    const ends = found.level === 0 && (before?.level ?? 0) > 0;
    if (ends) return { isDue: toldMs !== undefined && toldMs >= before!.since_ms, isOver: true, sinceMs };
    const restMs = isTold ? found.againMs : QUIET_MS;
    return { isDue: found.level > 0 && (toldMs === undefined || now - toldMs >= restMs), isOver: false, sinceMs };
  }

  return {
    /** Records a finding; if it has to be told, an event is written with it, by one process of those that found it. */
    async note(found: Finding): Promise<void> {
      const { subject, kind, level, periodMs, resetsMs, title, text, facts } = found;
      const row = await store.one<AlertRow>(
        'SELECT level, period_ms, since_ms, told_ms, title FROM alert WHERE subject = ?',
        subject,
      );
      if (row === undefined && level === 0) return;
      const { isDue, isOver, sinceMs } = decide(found, row);
      if (row !== undefined && !isDue && row.level === level && row.period_ms === periodMs) return;
      const toldMs = isDue ? clock.now() : (row?.told_ms ?? null);
      const values = [kind, level, periodMs, resetsMs ?? null, sinceMs, toldMs, title, text, JSON.stringify(facts)];
      const change: Step =
        row === undefined
          ? {
              sql: `INSERT INTO alert (kind, level, period_ms, resets_ms, since_ms, told_ms, title, text, facts, subject)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
              params: [...values, subject],
              must: OUTDATED,
            }
          : {
              sql: `UPDATE alert SET kind = ?, level = ?, period_ms = ?, resets_ms = ?, since_ms = ?, told_ms = ?, title = ?, text = ?,
                facts = ?
                WHERE subject = ? AND level = ? AND period_ms = ? AND since_ms = ? AND COALESCE(told_ms, -1) = ?`,
              params: [...values, subject, row.level, row.period_ms, row.since_ms, row.told_ms ?? -1],
              must: OUTDATED,
            };
      const failed = await store.atomic([change, ...(isDue ? await eventSteps(found, isOver) : [])]);
      if (failed !== undefined && failed !== OUTDATED) throw new Error(`an alert could not be written: ${failed}`);
    },

    /** The conditions of a kind that last. */
    async openOf(kind: AlertKind): Promise<readonly Pick<OpenAlert, 'subject' | 'title' | 'facts'>[]> {
      const rows = await store.all<{ readonly subject: string; readonly title: string; readonly facts: string }>(
        'SELECT subject, title, facts FROM alert WHERE kind = ? AND level > 0',
        kind,
      );
      return rows.map(({ facts, ...row }) => ({ ...row, facts: JSON.parse(facts) as AlertFacts }));
    },

    async open(): Promise<readonly OpenAlert[]> {
      const rows = await store.all<
        AlertRow & {
          readonly subject: string;
          readonly kind: AlertKind;
          readonly text: string;
          readonly facts: string;
          readonly resets_ms: number | null;
        }
      >(
        `SELECT subject, kind, level, period_ms, resets_ms, since_ms, told_ms, title, text, facts FROM alert
          WHERE level > 0 AND (resets_ms IS NULL OR resets_ms > ?) ORDER BY since_ms DESC, subject LIMIT 500`,
        clock.now(),
      );
      return rows.map(({ subject, kind, level, title, text, facts, since_ms, resets_ms }) => ({
        ...{ subject, kind, level, title, text, facts: JSON.parse(facts) as AlertFacts },
        ...{ sinceMs: since_ms, resetsMs: resets_ms ?? undefined },
      }));
    },

    async history(limit: number): Promise<readonly AlertEvent[]> {
      const events = await store.all<EventRow>(
        `SELECT ${EVENT_COLUMNS} FROM alert_event ORDER BY at_ms DESC, id LIMIT ?`,
        limit,
      );
      if (events.length === 0) return [];
      const deliveries = await store.all<{
        readonly event_id: string;
        readonly target: string;
        readonly state: 'waiting' | 'sent' | 'failed';
        readonly ended_ms: number | null;
      }>(
        `SELECT event_id, target, state, ended_ms FROM alert_delivery
          WHERE event_id IN (${events.map(() => '?').join(', ')}) ORDER BY target`,
        ...events.map(({ id }) => id),
      );
      return events.map((event) => ({
        ...messageOf(event),
        facts: JSON.parse(event.facts) as AlertFacts,
        deliveries: deliveries
          .filter(({ event_id }) => event_id === event.id)
          .map(({ target, state, ended_ms }) => ({ target, state, endedMs: ended_ms ?? undefined })),
      }));
    },

    /** The targets that something waits for, with the number of events. */
    async waiting(): Promise<ReadonlyMap<string, number>> {
      const rows = await store.all<{ readonly target: string; readonly count: number }>(
        "SELECT target, COUNT(*) AS count FROM alert_delivery WHERE state = 'waiting' GROUP BY target",
      );
      return new Map(rows.map(({ target, count }) => [target, count]));
    },

    /** The oldest events that wait for a target. */
    async next(target: string, limit: number): Promise<readonly Message[]> {
      const rows = await store.all<EventRow & { readonly attempts: number }>(
        `SELECT id, e.at_ms AS at_ms, kind, subject, level, is_over, title, text, facts, account_id, attempts
          FROM alert_delivery d JOIN alert_event e ON e.id = d.event_id
          WHERE d.state = 'waiting' AND d.target = ? ORDER BY d.at_ms, e.id LIMIT ?`,
        target,
        limit,
      );
      return rows.map((row) => ({ ...messageOf(row), id: row.id, attempts: row.attempts }));
    },

    /** Records the result of an attempt; `state` undefined: it is tried again. */
    async ended(target: string, messages: readonly Message[], state: 'sent' | 'failed' | undefined): Promise<void> {
      await store.atomic(
        messages.map(({ id }) =>
          state === undefined
            ? {
                sql: 'UPDATE alert_delivery SET attempts = attempts + 1 WHERE event_id = ? AND target = ?',
                params: [id, target],
              }
            : {
                sql: 'UPDATE alert_delivery SET state = ?, attempts = attempts + 1, ended_ms = ? WHERE event_id = ? AND target = ?',
                params: [state, clock.now(), id, target],
              },
        ),
      );
    },

    /** When a target last accepted something. */
    async lastSent(): Promise<ReadonlyMap<string, number>> {
      const rows = await store.all<{ readonly target: string; readonly at: number }>(
        "SELECT target, MAX(ended_ms) AS at FROM alert_delivery WHERE state = 'sent' GROUP BY target",
      );
      return new Map(rows.map(({ target, at }) => [target, at]));
    },

    /** Deletes old events, and alerts of periods that ended long ago. */
    async tidy(): Promise<void> {
      const before = clock.now() - KEEP_MS;
      await store.atomic([
        {
          sql: 'DELETE FROM alert_delivery WHERE event_id IN (SELECT id FROM alert_event WHERE at_ms < ?)',
          params: [before],
        },
        { sql: 'DELETE FROM alert_event WHERE at_ms < ?', params: [before] },
        { sql: 'DELETE FROM alert WHERE resets_ms IS NOT NULL AND resets_ms < ?', params: [before] },
      ]);
    },
  };
}

/** The alerts in the store. */
export type Book = ReturnType<typeof createBook>;

function messageOf({ at_ms, kind, subject, level, is_over, title, text, account_id }: EventRow) {
  const isOver = is_over === 1;
  return { atMs: at_ms, kind, subject, level, isOver, title, text, accountId: account_id ?? undefined };
}
