/** The audit log, for administrators: who changed what. */
import { Audit, type AuditEntry } from '../../../core/contracts/audit.ts';
import { Departments } from '../../../core/contracts/departments.ts';
import { schema } from '../../../core/plugin.ts';
import { csvAnswer } from '../csv.ts';
import { pageSize, sizeOf } from '../pages.ts';
import { type TimesAsked, timeProperties, timesOf } from '../records/log-search.ts';
import { createNames } from '../records/names.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { idNumber, integer, text, unixSeconds } from '../schemas.ts';
import { secondsOf } from '../units.ts';

const TAG = 'Audit';
const USUAL = 50;
const MOST = 100;
/** Entries of one file: what a spreadsheet takes, and what may stand in memory. */
const MOST_EXPORTED = 50_000;
const BITE = 1_000;
/** Entries whose hashes one request checks: a fraction of a second. */
const MOST_CHECKED = 20_000;

interface Filters extends TimesAsked {
  readonly before?: number;
  readonly actor?: string;
  readonly action?: string;
}
interface Query extends Filters {
  readonly page_size?: number;
}

const filters = {
  before: { description: 'Only entries older than this one (`seq`).', ...idNumber },
  actor: { description: 'The name of who did it.', type: 'string', maxLength: 200 },
  action: { description: 'What was done: `user.role`; `user`: all that begin so.', type: 'string', maxLength: 200 },
  ...timeProperties,
} as const;

/** The rows. */
export function auditRoutes({ host, need }: Tools): readonly ApiRoute[] {
  const filterOf = (asked: Filters) => ({
    ...(asked.before !== undefined && { before: asked.before }),
    ...(asked.actor !== undefined && { actor: asked.actor }),
    ...(asked.action !== undefined && { action: asked.action }),
    ...timesOf(asked),
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
    route({
      method: 'GET',
      path: '/api/audit',
      alsoAt: ['/api/audit/'],
      who: 'admin',
      summary: 'Who changed what, newest first. Older entries: ask again with `before`.',
      tag: TAG,
      search: schema<Query>({
        type: 'object',
        properties: { ...filters, page_size: pageSize(USUAL, MOST) },
      }),
      answer: {
        type: 'object',
        required: ['items', 'total', 'before'],
        properties: {
          items: {
            type: 'array',
            items: {
              title: 'AuditEntry',
              type: 'object',
              required: [
                'seq',
                'created_at',
                'actor_id',
                'actor',
                'ip',
                'action',
                'object',
                'object_name',
                'facts',
                'hash',
              ],
              properties: {
                seq: { ...integer, description: 'Without gaps.' },
                created_at: unixSeconds,
                actor_id: { type: ['integer', 'null'] },
                actor: text,
                ip: text,
                action: text,
                object: text,
                object_name: {
                  ...text,
                  description: 'What the person, key or department is called now; empty where that is not known.',
                },
                facts: { type: 'object', additionalProperties: true, description: 'What it was and what it is.' },
                hash: { ...text, description: 'Over this entry and all before it.' },
              },
            },
          },
          total: { ...integer, description: 'All entries, whatever was asked for.' },
          before: { type: ['integer', 'null'], description: 'Where the next page begins; null: there is none.' },
        },
      },
      async handle({ asked }) {
        const audit = need(Audit);
        const limit = sizeOf(asked.page_size, USUAL, MOST);
        const entries = await audit.page({ ...filterOf(asked), limit });
        return {
          items: await shown(entries),
          total: await audit.count(),
          before: entries.length < limit ? null : (entries.at(-1)?.seq ?? null),
        };
      },
    }),
    route({
      method: 'GET',
      path: '/api/audit/chain',
      who: 'admin',
      summary: `Whether the entries still have the hashes that they were written with: ${MOST_CHECKED} of them; ask on with \`after\`.`,
      tag: TAG,
      search: schema<{ readonly after: number }>({
        type: 'object',
        properties: {
          after: { ...integer, minimum: 0, default: 0, description: 'The last entry that was checked already.' },
        },
      }),
      answer: {
        type: 'object',
        required: ['checked', 'total', 'head', 'broken'],
        properties: {
          checked: { ...integer, description: 'The last entry that was checked now; `total`: that was all.' },
          total: integer,
          head: { ...text, description: 'The end of the chain, as `turnpike audit verify --head` takes it.' },
          broken: {
            description: 'The first entry that does not fit; null: all do.',
            type: ['object', 'null'],
            required: ['seq', 'why'],
            properties: { seq: integer, why: text },
          },
        },
      },
      async handle({ asked }) {
        const { seq, head, broken } = await need(Audit).verify(asked.after, MOST_CHECKED);
        return { checked: seq, total: head.seq, head: `${head.seq}:${head.hash}`, broken: broken ?? null };
      },
    }),
    route({
      method: 'GET',
      path: '/api/audit/export',
      who: 'admin',
      verified: true,
      summary: `The same as CSV, at most ${MOST_EXPORTED} entries.`,
      tag: TAG,
      search: schema<Filters>({ type: 'object', properties: filters }),
      answer: 'text/csv',
      async handle({ asked, actor }) {
        const audit = need(Audit);
        const filter = filterOf(asked);
        const entries: AuditEntry[] = [];
        let before = filter.before;
        for (;;) {
          const some = await audit.page({ ...filter, ...(before !== undefined && { before }), limit: BITE });
          entries.push(...some);
          before = some.at(-1)?.seq;
          if (some.length < BITE || entries.length >= MOST_EXPORTED) break;
        }
        await audit.note({ actor, action: 'audit.export', object: '', facts: { ...asked, entries: entries.length } });
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
