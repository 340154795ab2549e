/**
 * Records that are read and written as a whole: their `ETag` is made from what can be set, not from what calls count, and from the last request
 * that changed them. A request with `If-Match` is carried out only if that is still the same.
 */
import type { Host, Step } from '../../core/plugin.ts';
import { createChore } from '../../core/sdk.ts';
import { errors } from './errors.ts';
import { tagOf } from './format/conditional.ts';

/** How long the last change is kept; without it, a tag is that of the content alone. */
const KEPT_MS = 86_400_000;
const SWEEP_EVERY_MS = 3_600_000;
/** Objects of the audit log that are such records. */
const RECORD = /^(?:user|key|department|redemption code) \d+$/;

/** A record. */
export interface Revised {
  /** Its name in the audit log: `key 7`. */
  readonly object: string;
  /** What can be set. */
  readonly content: unknown;
}

/** The revisions of records. */
export function createRevisions(host: Host) {
  const { store, clock } = host;
  const chore = createChore(host, {
    everyMs: SWEEP_EVERY_MS,
    async work() {
      await store.run('DELETE FROM api_change WHERE at_ms < ?', clock.now() - KEPT_MS);
    },
    failure: 'could not delete old revisions of records',
  });

  async function lastOf(object: string): Promise<string> {
    const row = await store.one<{ request: string }>('SELECT request FROM api_change WHERE object = ?', object);
    return row?.request ?? '';
  }

  const textOf = (content: unknown): string =>
    JSON.stringify(content, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
  const tagWith = (last: string, { content }: Revised): string => tagOf(`${last} ${textOf(content)}`);

  return {
    tag: async (of: Revised) => tagWith(await lastOf(of.object), of),

    /** The steps that refuse the list unless the record is still that of `If-Match`. Refuses (412) if it is not. */
    async demand(ifMatch: string, of: Revised, requestId: string): Promise<readonly Step[]> {
      const last = await lastOf(of.object);
      const given = ifMatch.split(',').map((each) => each.trim());
      // A weak tag (`W/"…"`) never matches here.
      if (!given.includes('*') && !given.includes(tagWith(last, of))) throw errors.precondition_failed();
      if (given.includes('*')) return [];
      const nowMs = clock.now();
      return [
        {
          sql: 'INSERT INTO api_change (object, request, at_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
          params: [of.object, '', nowMs],
        },
        {
          // A list may have these steps more than once.
          sql: 'UPDATE api_change SET request = ?, at_ms = ? WHERE object = ? AND request IN (?, ?)',
          params: [requestId, nowMs, of.object, last, requestId],
          must: 'precondition_failed',
        },
      ];
    },

    /** The steps that note a change. */
    changed(object: string, requestId: string): readonly Step[] {
      if (!RECORD.test(object)) return [];
      return [
        {
          sql: `INSERT INTO api_change (object, request, at_ms) VALUES (?, ?, ?)
            ON CONFLICT (object) DO UPDATE SET request = excluded.request, at_ms = excluded.at_ms`,
          params: [object, requestId, clock.now()],
        },
      ];
    },
    start: chore.start,
    stop: chore.stop,
  };
}

export type Revisions = ReturnType<typeof createRevisions>;
