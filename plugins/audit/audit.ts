/** The audit log: entries are written together with the change they describe. */
import type { Audit, AuditEntry, AuditEvent } from '../../core/contracts/audit.ts';
import type { Host, JsonObject } from '../../core/plugin.ts';
import { all, condition } from '../../core/sdk.ts';
import { COLUMNS, linkSteps, type Row, readHead, verifyStretch } from './chain.ts';
import { storedFacts, storedText } from './facts.ts';

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

  return {
    steps,

    async note(event) {
      const failed = await store.atomic(steps(event));
      if (failed !== undefined) throw new Error(`an audit entry could not be written: ${failed}`);
    },

    async page({ before, limit, actor, action, fromMs, untilMs }) {
      const { sql, params } = all(
        condition('seq < ?', before),
        condition('actor = ?', actor),
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
