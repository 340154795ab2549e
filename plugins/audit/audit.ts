/** The audit log: entries are written together with the change they describe. */
import type { Audit, AuditEntry, AuditEvent } from '../../core/contracts/audit.ts';
import type { Host, Json, JsonObject } from '../../core/plugin.ts';
import { all, type Condition, condition } from '../../core/sdk.ts';
import { COLUMNS, linkSteps, type Row, readHead, verifyStretch } from './chain.ts';

/** The maximum length of a text, in characters. */
const LONGEST = 200;
/** The maximum number of members and items, and the maximum depth. */
const MOST_VALUES = 200;
const DEEPEST = 5;
/** Names of actors that one search matches. */
const MOST_ACTORS = 500;
const HIDDEN = '[secret]';

/** Members that contain secrets according to their name, in any spelling. A last line of defense: callers should not pass any. */
const SECRET_NAME =
  /pass(word|phrase)|secret|authorization|cookie|credential|private_?key|backup_?codes?|^(code|key|token)$/i;
/** Patterns of our keys, of vendors' keys, and of encrypted values. */
const SECRET_TEXT = /\b(?:sk-|turnpike_st_)[A-Za-z0-9_-]{16,}|\bv1\.[0-9a-f]{16}\.[A-Za-z0-9_-]{20,}/g;
/** Lone surrogates are replaced, as in UTF-8; invisible characters become spaces. */
const INVISIBLE = /\p{Cc}+/gu;

/** A text as it is stored. Masked before it is cut, so that no part of a secret remains. */
function storedText(text: string): string {
  const masked = text.replace(SECRET_TEXT, HIDDEN).slice(0, LONGEST);
  return Buffer.from(masked).toString().replace(INVISIBLE, ' ');
}

/** The facts as they are stored: JSON. */
function storedFacts(facts: JsonObject): string {
  let left = MOST_VALUES;

  function copy(value: Json, depth: number): Json {
    if (typeof value === 'string') return storedText(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > DEEPEST || left <= 0) return '…';
    if (Array.isArray(value)) {
      return value.slice(0, left).map((item) => {
        left--;
        return copy(item, depth + 1);
      });
    }
    const members = Object.entries(value).slice(0, left);
    return Object.fromEntries(
      members.map(([name, member]) => {
        left--;
        const isSecret = SECRET_NAME.test(name) && typeof member === 'string' && member !== '';
        return [storedText(name), isSecret ? HIDDEN : copy(member, depth + 1)];
      }),
    );
  }

  return JSON.stringify(copy(facts, 0));
}

export function createAudit({ store, clock }: Host): Audit {
  function steps({ actor, action, object, facts = {} }: AuditEvent) {
    return linkSteps({
      atMs: clock.now(),
      actorId: actor.accountId ?? null,
      actor: storedText(actor.name),
      ip: storedText(actor.ip),
      action: storedText(action),
      object: storedText(object),
      facts: storedFacts(facts),
    });
  }

  /** The entries of actors whose name has this part, ignoring case. Seeks from name to name in the index, and reads no entry. */
  async function actorsLike(part: string): Promise<Condition> {
    const names = await store.all<{ actor: string }>(`WITH RECURSIVE step(actor) AS (
        SELECT MIN(actor) FROM audit
        UNION ALL SELECT (SELECT MIN(actor) FROM audit WHERE actor > step.actor) FROM step WHERE step.actor IS NOT NULL)
      SELECT actor FROM step WHERE actor IS NOT NULL`);
    const wanted = part.toLowerCase();
    const matches = names.flatMap(({ actor }) => (actor.toLowerCase().includes(wanted) ? [actor] : []));
    // More could not be bound.
    const bound = matches.slice(0, MOST_ACTORS);
    return { sql: bound.length === 0 ? '1 = 0' : `actor IN (${bound.map(() => '?').join(', ')})`, params: bound };
  }

  return {
    steps,

    async note(event) {
      const failed = await store.atomic(steps(event));
      if (failed !== undefined) throw new Error(`an audit entry could not be written: ${failed}`);
    },

    async page({ before, limit, actor, action, fromMs, untilMs }) {
      const { sql, params } = all(
        condition('seq < ?', before),
        actor === undefined ? undefined : await actorsLike(actor),
        // Actions of one group share a prefix: everything between `user.` and `user/`, the character after the dot.
        condition('(action = ? OR action > ? AND action < ?)', action, action && `${action}.`, action && `${action}/`),
        condition('at_ms >= ?', fromMs),
        condition('at_ms < ?', untilMs),
      );
      const rows = await store.all<Row>(
        `SELECT ${COLUMNS} FROM audit WHERE ${sql} ORDER BY seq DESC LIMIT ?`,
        ...params,
        limit,
      );
      return rows.map(toEntry);
    },

    count: async () => (await readHead(store)).seq,

    verify: (after, most) => verifyStretch(store, after, most),
  };
}

const toEntry = (row: Row): AuditEntry => ({
  seq: row.seq,
  atMs: row.at_ms,
  actor: { accountId: row.actor_id ?? undefined, name: row.actor, ip: row.ip },
  action: row.action,
  object: row.object,
  facts: JSON.parse(row.facts) as JsonObject,
  hash: row.hash,
});
