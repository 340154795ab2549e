/** The audit log, for administrators. */

import { Audit, type AuditEntry } from '../../../../core/contracts/audit.ts';
import { Departments } from '../../../../core/contracts/departments.ts';
import { csvAnswer } from '../../format/csv.ts';
import { pageSize, sizeOf } from '../../format/paging.ts';
import {
  idNumber,
  integer,
  listOf,
  type Members,
  object,
  objectOrNull,
  queryOf,
  text,
  unixSeconds,
} from '../../format/schemas.ts';
import { secondsOf } from '../../format/units.ts';
import { createNames } from '../../records/people/names.ts';
import { timeProperties, timesOf } from '../../records/usage/log-search.ts';
import { type ApiRoute, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Audit');
const USUAL = 50;
const MOST = 100;
/** Entries per file: what a spreadsheet can open, and what fits in memory. */
const MOST_EXPORTED = 50_000;
const BITE = 1_000;
/** Entries whose hashes one request verifies; that takes a fraction of a second. */
const MOST_CHECKED = 20_000;

const filters = {
  before: { description: 'Only entries older than this one (`seq`).', ...idNumber },
  actor: { description: 'Part of the name of the actor, ignoring case.', type: 'string', maxLength: 200 },
  action: {
    description: 'The action: `user.role`; `user` matches all that begin with `user.`.',
    type: 'string',
    maxLength: 200,
  },
  ...timeProperties,
} as const;

export function auditRoutes({ host, need }: Tools): readonly ApiRoute[] {
  const filterOf = (query: Members<typeof filters>) => ({
    ...(query.before !== undefined && { before: query.before }),
    ...(query.actor !== undefined && { actor: query.actor }),
    ...(query.action !== undefined && { action: query.action }),
    ...timesOf(query),
  });

  async function shown(entries: readonly AuditEntry[]) {
    const names = createNames(host);
    const nameOf = async (object: string): Promise<string> => {
      const [, kind, id] = /^(user|key|department) (\d{1,15})$/.exec(object) ?? [];
      if (kind === 'user') return (await names.person(Number(id)))?.name ?? '';
      if (kind === 'key') return names.key(Number(id));
      return host.find(Departments)?.get(Number(id))?.name ?? '';
    };
    return Promise.all(
      entries.map(async ({ seq, atMs, actor, action, object, facts, hash }) => ({
        seq,
        created_at: secondsOf(atMs),
        actor_id: actor.accountId ?? null,
        actor: actor.name,
        ip: actor.ip,
        action,
        object,
        object_name: await nameOf(object),
        facts,
        hash,
      })),
    );
  }

  return [
    route('admin', 'GET', '/api/audit', {
      alsoAt: ['/api/audit/'],
      summary: 'Lists audit log entries, newest first. For older entries, send the `before` of the response.',
      search: queryOf({ ...filters, page_size: pageSize(USUAL, MOST) }),
      answer: object({
        items: listOf('AuditEntry', {
          seq: { ...integer, description: 'Sequence number without gaps.' },
          created_at: unixSeconds,
          actor_id: { type: ['integer', 'null'] },
          actor: text,
          ip: text,
          action: text,
          object: text,
          object_name: {
            ...text,
            description: 'The current name of the user, key or department; empty if unknown.',
          },
          facts: { type: 'object', additionalProperties: true, description: 'The old and new values.' },
          hash: { ...text, description: 'Hash of this entry and all before it.' },
        }),
        total: { ...integer, description: 'All entries, whatever the filters.' },
        before: { type: ['integer', 'null'], description: 'The `before` of the next page; null: this is the last.' },
      }),
      async handle({ query }) {
        const audit = need(Audit);
        const limit = sizeOf(query.page_size, USUAL);
        const entries = await audit.page({ ...filterOf(query), limit });
        return {
          items: await shown(entries),
          total: await audit.count(),
          before: entries.length < limit ? null : (entries.at(-1)?.seq ?? null),
        };
      },
    }),
    route('admin', 'GET', '/api/audit/chain', {
      summary: `Verifies the hashes of ${MOST_CHECKED} audit log entries; continue with \`after\`.`,
      search: queryOf({
        after: { ...integer, minimum: 0, default: 0, description: 'The last entry that was already verified.' },
      }),
      answer: object({
        checked: {
          ...integer,
          description: 'The last entry that was verified now; if it equals `total`, the verification is complete.',
        },
        total: integer,
        head: { ...text, description: 'The head of the chain, as `turnpike audit verify --head` takes it.' },
        broken: objectOrNull('The first entry with a wrong hash; null: none.', { seq: integer, why: text }),
      }),
      async handle({ query }) {
        const { seq, head, broken } = await need(Audit).verify(query.after, MOST_CHECKED);
        return { checked: seq, total: head.seq, head: `${head.seq}:${head.hash}`, broken: broken ?? null };
      },
    }),
    route('admin', 'GET', '/api/audit/export', {
      verified: true,
      summary: `Exports audit log entries as CSV, at most ${MOST_EXPORTED}.`,
      search: queryOf(filters),
      answer: 'text/csv',
      async handle({ query, actor }) {
        const audit = need(Audit);
        const filter = filterOf(query);
        const entries: AuditEntry[] = [];
        let before = filter.before;
        for (;;) {
          const batch = await audit.page({ ...filter, ...(before !== undefined && { before }), limit: BITE });
          entries.push(...batch);
          before = batch.at(-1)?.seq;
          if (batch.length < BITE || entries.length >= MOST_EXPORTED) break;
        }
        await audit.note({ actor, action: 'audit.export', object: '', facts: { ...query, entries: entries.length } });
        const head = ['seq', 'time', 'actor_id', 'actor', 'ip', 'action', 'object', 'facts', 'hash'];
        return csvAnswer('audit', head, entries.map(cells));
      },
    }),
  ];
}

function cells({ seq, atMs, actor, action, object, facts, hash }: AuditEntry): readonly (string | number)[] {
  const time = new Date(atMs).toISOString();
  return [seq, time, actor.accountId ?? '', actor.name, actor.ip, action, object, JSON.stringify(facts), hash];
}
