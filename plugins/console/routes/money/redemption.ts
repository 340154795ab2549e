/** Redemption codes, for administrators. They are worth money, so creating, changing and reading them requires a verification. */

import { coreErrors } from '../../../../core/contracts/errors.ts';
import { Payments, type RedemptionCode } from '../../../../core/contracts/payments.ts';
import { cursorProperties, type PageSearch, pageAnswer, pageOf, pageSchema, pageSearch } from '../../format/paging.ts';
import { NOTHING_MEANT, type ReadOnly, readOnly, readOnlyProperties, refuseOthers } from '../../format/read-only.ts';
import {
  type Accepted,
  bodyOf,
  idNumber,
  integer,
  type Members,
  nothing,
  queryOf,
  text,
  timestamp,
} from '../../format/schemas.ts';
import { microOf, secondsOf, unitsOf } from '../../format/units.ts';
import { createNames, type Names } from '../../records/people/names.ts';
import { type ApiRoute, type ConsoleRequest, idOf, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Redemption codes');

const UNUSED = 1;
const DISABLED = 2;
const USED = 3;

/** The number of random characters in a code. */
const SHOWN = 4;

const name = { ...text, minLength: 1, maxLength: 20 };
const quota = { ...integer, minimum: 1, maximum: 1_000_000_000_000 };
const expiredTime = { ...timestamp, description: 'Unix seconds, in a request in the future; 0: never.' } as const;

const record = {
  title: 'RedemptionCode',
  type: 'object',
  required: [
    ...['id', 'user_id', 'username', 'key', 'status', 'name', 'quota', 'created_time', 'redeemed_time'],
    ...['used_user_id', 'used_username', 'expired_time'],
  ],
  properties: {
    id: integer,
    user_id: { ...integer, description: 'The creator.' },
    username: { ...text, description: 'The name of the creator.' },
    key: {
      ...text,
      description:
        'The code; only its beginning without a verification (POST /api/verify) within the last five minutes.',
    },
    status: { enum: [UNUSED, DISABLED, USED], description: '1 unused, 2 disabled, 3 used.' },
    name: text,
    quota: { ...integer, description: 'Quota units.' },
    created_time: integer,
    redeemed_time: { ...integer, description: 'Unix seconds; 0: not used.' },
    used_user_id: { ...integer, description: '0: not used.' },
    used_username: { ...text, description: 'Empty: not used.' },
    expired_time: expiredTime,
    count: { const: 0 },
  },
};

const state = {
  enum: ['unused', 'disabled', 'used', 'expired'],
  description: 'unused: it can be redeemed; otherwise why not.',
} as const;

const whole = { const: '1', description: 'Complete codes; refused (403) without a verification.' } as const;

const keyword = { ...text, maxLength: 100 };
type CodePage = PageSearch &
  Members<typeof cursorProperties & { keyword: typeof keyword; state: typeof state; whole: typeof whole }>;

/** Read-only members: clients send them back with a change. */
const FIXED: ReadOnly = {
  ...readOnly('The gateway generates it.', 'user_id', 'username', 'key', 'created_time'),
  ...readOnly('It is the user who redeems the code.', 'redeemed_time', 'used_user_id', 'used_username'),
  count: 'POST /api/redemption/ makes codes.',
  DeletedAt: 'DELETE /api/redemption/:id removes a code.',
};

const changes = bodyOf(['id'], {
  id: idNumber,
  name,
  quota,
  expired_time: expiredTime,
  status: {
    ...integer,
    enum: [UNUSED, DISABLED, USED],
    description:
      '1 unused, 2 disabled, 3 used; changed to 1 or 2 only with `status_only`, otherwise send it unchanged.',
  },
  ...readOnlyProperties(FIXED),
});
type CodeChanges = Accepted<typeof changes>;

export function redemptionRoutes({ host, verification, need, changing }: Tools): readonly ApiRoute[] {
  const codes = () => need(Payments).codes;

  /** A code can be spent by anyone who reads it, so complete codes require a verification. */
  async function shown(request: ConsoleRequest, code: RedemptionCode, names: Names): Promise<object> {
    const record = await recordOf(code, names);
    return verification.isVerified(request) ? record : { ...record, key: masked(code.code) };
  }

  /** A change with `status_only` ignores the other members. A masked code may be sent back. */
  async function refuseFixed(body: CodeChanges & { readonly key?: unknown }): Promise<void> {
    const record = await recordOf((await codes().get(body.id)) ?? notFound(String(body.id)), createNames(host));
    const { key } = record;
    const isShown = typeof body.key === 'string' && body.key === masked(key);
    const setting = { status: 'Ask with ?status_only=true.' };
    refuseOthers({ ...body, key: isShown ? key : body.key }, record, { ...FIXED, ...setting }, NOTHING_MEANT);
  }

  async function revised(id: string | undefined) {
    const code = (await codes().get(idOf(id))) ?? notFound(id);
    return { object: `redemption code ${code.id}`, content: { ...code, code: '' } };
  }

  async function list(request: ConsoleRequest<unknown, CodePage>): Promise<object> {
    const { query } = request;
    if (query.whole !== undefined) verification.demand(request);
    const page = pageOf(query);
    const { keyword, state, before_id: before } = query;
    const names = createNames(host);
    const { total, items } = await codes().search({
      ...(keyword !== undefined && { text: keyword }),
      ...(state !== undefined && { state }),
      ...(before !== undefined && { before }),
      offset: page.offset,
      limit: page.pageSize,
    });
    return pageAnswer(page, total, await Promise.all(items.map((code) => shown(request, code, names))));
  }

  return [
    route('admin', 'GET', '/api/redemption/', {
      errors: ['verification_required'],
      summary: 'Lists redemption codes, newest first.',
      search: pageSearch({ ...cursorProperties, state, whole }),
      answer: pageSchema(record),
      handle: list,
    }),
    route('admin', 'GET', '/api/redemption/search', {
      summary: 'Searches redemption codes by a part of their name, or by id.',
      search: pageSearch({ ...cursorProperties, keyword, state, whole }),
      answer: pageSchema(record),
      handle: list,
    }),
    route('admin', 'GET', '/api/redemption/:id', {
      errors: ['code_not_found'],
      summary: 'Returns a redemption code.',
      answer: record,
      revised: ({ params }) => revised(params.id),
      async handle(request) {
        const { id } = request.params;
        return shown(request, (await codes().get(idOf(id))) ?? notFound(id), createNames(host));
      },
    }),
    route('admin', 'POST', '/api/redemption/', {
      verified: true,
      summary: 'Creates redemption codes and returns them.',
      body: bodyOf(['name', 'quota'], {
        name,
        quota,
        count: { ...integer, minimum: 1, maximum: 100, default: 1 },
        expired_time: { ...expiredTime, default: 0 },
      }),
      answer: { type: 'array', items: text },
      handle: ({ actor, body, conditions }) =>
        codes().create(
          {
            name: body.name,
            quota: microOf(body.quota),
            count: body.count,
            expiresMs: body.expired_time === 0 ? undefined : body.expired_time * 1_000,
          },
          actor,
          conditions,
        ),
    }),
    route('admin', 'PUT', '/api/redemption/', {
      verified: true,
      errors: ['code_not_found', 'code_used', 'read_only'],
      summary: 'Updates an unused code; with `status_only` only its status.',
      search: queryOf({ status_only: text }),
      body: changes,
      answer: record,
      revised: ({ body }) => revised(`${body.id}`),
      async handle(request) {
        const { actor, query, body } = request;
        if (!query.status_only) await refuseFixed(body);
        const along = changing(request, `redemption code ${body.id}`);
        const to = query.status_only ? statusOf(body) : changesOf(body);
        const changed = await codes().change(body.id, to, actor, along);
        return recordOf(changed, createNames(host));
      },
    }),
    route('admin', 'DELETE', '/api/redemption/invalid', {
      verified: true,
      summary: 'Deletes codes that are used, disabled or expired; returns their number.',
      answer: integer,
      handle: ({ actor }) => codes().removeDead(actor),
    }),
    route('admin', 'DELETE', '/api/redemption/:id', {
      verified: true,
      errors: ['code_not_found'],
      summary: 'Deletes a code.',
      answer: nothing,
      async handle({ actor, params }) {
        if (!(await codes().remove(idOf(params.id), actor))) notFound(params.id);
      },
    }),
  ];
}

function statusOf({ status }: CodeChanges): { readonly enabled: boolean } {
  if (status === UNUSED || status === DISABLED) return { enabled: status === UNUSED };
  throw coreErrors.invalid_request_error('status must be 1 (unused) or 2 (disabled).').with({ param: 'status' });
}

function changesOf({ name, quota, expired_time }: CodeChanges) {
  return {
    ...(name !== undefined && { name }),
    ...(quota !== undefined && { quota: microOf(quota) }),
    ...(expired_time !== undefined && { expiresMs: expired_time === 0 ? null : expired_time * 1_000 }),
  };
}

function masked(code: string): string {
  return `${code.slice(0, SHOWN)}****`;
}

async function recordOf(code: RedemptionCode, names: Names) {
  const nameOf = async (id: number): Promise<string> => (await names.person(id))?.name ?? '';
  return {
    id: code.id,
    user_id: code.createdBy,
    username: await nameOf(code.createdBy),
    key: code.code,
    status: code.usedBy !== undefined ? USED : code.enabled ? UNUSED : DISABLED,
    name: code.name,
    quota: unitsOf(code.quota),
    created_time: secondsOf(code.createdMs),
    redeemed_time: secondsOf(code.usedMs),
    used_user_id: code.usedBy ?? 0,
    used_username: code.usedBy === undefined ? '' : await nameOf(code.usedBy),
    expired_time: secondsOf(code.expiresMs),
    count: 0,
  };
}

function notFound(id: string | undefined): never {
  throw coreErrors.code_not_found(id ?? '').with({ param: 'id' });
}
