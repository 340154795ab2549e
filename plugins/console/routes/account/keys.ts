/** Keys: those of the signed-in user and, for administrators, those of users with a lower role. `/api/token`. */

import { Accounts } from '../../../../core/contracts/accounts.ts';
import { coreErrors } from '../../../../core/contracts/errors.ts';
import { DEFAULT_GROUP, Groups } from '../../../../core/contracts/groups.ts';
import type { Account, KeyRecord } from '../../../../core/contracts/identity.ts';
import { Keys } from '../../../../core/contracts/keys.ts';
import { Ledger } from '../../../../core/contracts/ledger.ts';
import { type JsonObject, refuse } from '../../../../core/plugin.ts';
import { reaches, sessionOf } from '../../access/guards.ts';
import { refuseUnknown, subordinate } from '../../access/subordinate.ts';
import { errors } from '../../errors.ts';
import { columnsNote, csvAnswer, csvTable, type RowRange } from '../../format/csv.ts';
import { inTheirWords } from '../../format/envelope.ts';
import {
  cursorProperties,
  pageAnswer,
  pageOf,
  pageSchema,
  pageSearch,
  sortOf,
  sortProperty,
} from '../../format/paging.ts';
import { NOTHING_MEANT, refuseOthers } from '../../format/read-only.ts';
import { type Accepted, bodyOf, idNumber, integer, nothing, queryOf, record, text } from '../../format/schemas.ts';
import { keySchema, type ShownKey, shownKey } from '../../records/keys/key.ts';
import {
  availableOf,
  COUNTED,
  FIXED,
  fixedKeyProperties,
  KEY_WORDS,
  type KeyForm,
  keyChangesOf,
  keyFormProperties,
  newKeyOf,
  WITHOUT_GROUPS,
} from '../../records/keys/key-form.ts';
import { limitUsage, limitUsageSchema } from '../../records/keys/key-limits.ts';
import { createNames } from '../../records/people/names.ts';
import { timeText } from '../../records/usage/usage-range.ts';
import { type ApiRoute, type ConsoleRequest, idOf, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Keys');

/** The refusals of a form. */
const FORM_ERRORS = [
  'verification_required',
  'read_only',
  'limit_wanted',
  'invalid_name',
  'invalid_models',
  'invalid_addresses',
  'invalid_limits',
  'limits_off',
  'invalid_group',
  'group_not_allowed',
];

/** The state is in no column, so it is filtered in memory: an account has at most a thousand keys. */
const MOST_KEYS = 1_000;

/** The orders of a list, by the names of the service. */
const ORDERS = { id: 'id', name: 'name', accessed_time: 'used', expired_time: 'expires' } as const;
const COLUMNS = [
  ...(['id', 'user_id', 'username', 'name', 'key', 'status', 'remain_quota', 'used_quota', 'unlimited_quota'] as const),
  ...(['model_limits', 'allow_ips', 'group', 'created', 'last_used', 'expires'] as const),
];

const RENAMED = columnsNote({
  created: '`created_time`',
  last_used: '`accessed_time`',
  expires: '`expired_time`',
  username: 'the name of the owner',
});

const allQuery = pageSearch({
  ...cursorProperties,
  keyword: { description: 'Part of the name.', type: 'string', maxLength: 200 },
  token: { description: 'A complete key, or its end.', type: 'string', maxLength: 200 },
  user_id: { ...idNumber, description: 'The keys of this user.' },
  sort: sortProperty(['id', 'name', 'accessed_time', 'expired_time']),
  format: {
    description: `csv: all matching keys as a file. Requires a verification (POST /api/verify). ${RENAMED}`,
    enum: ['json', 'csv'],
    default: 'json',
  },
});
const ownedKeySchema = record('OwnedKey', { ...keySchema.properties, username: text });

const keyQuery = pageSearch({
  ...cursorProperties,
  format: {
    description: `csv: all matching keys as a file. Those of other users require a verification (POST /api/verify). ${RENAMED}`,
    enum: ['json', 'csv'],
    default: 'json',
  },
  sort: sortProperty(['id', 'name', 'accessed_time', 'expired_time']),
  keyword: { description: 'Part of the name.', type: 'string', maxLength: 200 },
  token: { description: 'A complete key, or its end.', type: 'string', maxLength: 200 },
  status: { type: 'integer', enum: [1, 2, 3, 4], description: '1 enabled, 2 disabled, 3 expired, 4 exhausted.' },
  user_id: fixedKeyProperties.user_id,
});

const newKeyBody = bodyOf(['name'], {
  ...keyFormProperties,
  ...fixedKeyProperties,
  id: { description: 'Assigned by the gateway: 0, or omitted.', const: 0 },
  status: { description: '1 enabled, 2 disabled. Default: 1.', enum: [1, 2] },
});

const changedKeyBody = bodyOf(['id'], {
  ...keyFormProperties,
  ...fixedKeyProperties,
  id: idNumber,
  status: {
    enum: [1, 2, 3, 4],
    description: '1 enabled, 2 disabled; 3 and 4 are ignored, and with `status_only` refused.',
  },
});

const graceBody = bodyOf([], {
  grace_seconds: {
    description: 'How long the old secret stays valid; default: not at all.',
    type: 'integer',
    minimum: 0,
    maximum: 86_400,
  },
});

const idsBody = bodyOf(['ids'], {
  action: { enum: ['delete', 'enable', 'disable'], default: 'delete' },
  ids: { type: 'array', minItems: 1, maxItems: 1_000, items: idNumber },
});

export function keyRoutes({ host, verification, need, audited, note }: Tools): readonly ApiRoute[] {
  const now = (): number => host.clock.now();

  async function shown(key: KeyRecord, secret?: string) {
    const balance = await host.find(Ledger)?.balance({ kind: 'key', owner: key.id });
    return shownKey(key, balance, now(), secret);
  }

  async function listed(request: ConsoleRequest<unknown, Accepted<typeof keyQuery>>) {
    const { account, query } = request;
    const { keyword, token, status, user_id: user, before_id: before, format } = query;
    const sort = sortOf(query.sort, ORDERS);
    const owner = await ownerFor(account, user);
    if (format === 'csv') {
      demandFor(request, owner);
      await note(request, 'key.export');
    }
    // An account has so few keys that a file needs no pages.
    const page = format === 'csv' ? { page: 1, offset: 0, pageSize: MOST_KEYS } : pageOf(query);
    const { total, items } = await need(Keys).search({
      accountId: owner,
      ...(keyword !== undefined && { text: keyword }),
      ...(token !== undefined && { secret: token }),
      ...(sort !== undefined && { sort }),
      ...(before !== undefined && { before }),
      ...(status === undefined ? { offset: page.offset, limit: page.pageSize } : { offset: 0, limit: MOST_KEYS }),
    });
    const balances = await host.find(Ledger)?.balances(
      'key',
      items.map(({ id }) => id),
    );
    const shownKeys = items.map((key) => shownKey(key, balances?.get(key.id), now()));
    const matches = status === undefined ? shownKeys : shownKeys.filter((key) => key.status === status);
    if (format === 'csv') {
      const username = (await createNames(host).person(owner))?.name ?? '';
      const rows = matches.map((key) => cellsOf({ ...key, username }));
      return csvAnswer('keys', COLUMNS, rows);
    }
    if (status === undefined) return pageAnswer(page, total, shownKeys);
    return pageAnswer(page, matches.length, matches.slice(page.offset, page.offset + page.pageSize));
  }

  /** The keys of all users, with the names of their owners. */
  async function listedOfAll(request: ConsoleRequest<unknown, Accepted<typeof allQuery>>) {
    const { query } = request;
    const { keyword, token, user_id: accountId, before_id: before, format } = query;
    const sort = sortOf(query.sort, ORDERS);
    await refuseUnknown(host, query);
    const names = createNames(host);
    const read = async (of: RowRange) => {
      const { total, items } = await need(Keys).search({
        ...(keyword !== undefined && { text: keyword }),
        ...(token !== undefined && { secret: token }),
        ...(accountId !== undefined && { accountId }),
        ...(sort !== undefined && { sort }),
        ...(before !== undefined && { before }),
        ...of,
      });
      const ids = items.map(({ id }) => id);
      const balances = await host.find(Ledger)?.balances('key', ids);
      const owned = items.map(async (key) => ({
        ...shownKey(key, balances?.get(key.id), now()),
        username: (await names.person(key.accountId))?.name ?? '',
      }));
      return { total, items: await Promise.all(owned) };
    };
    if (format === 'csv') {
      verification.demand(request);
      await note(request, 'key.export');
      return csvTable('keys', COLUMNS, sort !== undefined, async (of) => (await read(of)).items.map(cellsOf));
    }
    const page = pageOf(query);
    const { total, items } = await read({ offset: page.offset, limit: page.pageSize });
    return pageAnswer(page, total, items);
  }

  /** The account whose keys are requested: the caller's or, for administrators, one with a lower role. Refuses (403, 404). */
  async function ownerFor(account: Account, user = 0): Promise<number> {
    if (user === 0 || user === account.id) return account.id;
    if (!reaches(account.role, 'admin')) {
      throw errors
        .role_insufficient('Only administrators can view and change the keys of other users.')
        .with({ param: 'user_id' });
    }
    return (await subordinate(host, account, user, 'user_id')).id;
  }

  /** A key that the caller may see. Refuses (404) an unknown key, (403) a key of a user whose role is not lower. */
  async function within({ account }: ConsoleRequest, id: number): Promise<KeyRecord> {
    const keys = need(Keys);
    const missing = (): never => refuse(coreErrors.key_not_found());
    const own = await keys.get(account.id, id);
    if (own !== undefined) return own;
    const owner = reaches(account.role, 'admin') ? await keys.ownerOf(id) : undefined;
    if (owner === undefined) return missing();
    await subordinate(host, account, owner);
    return (await keys.get(owner, id)) ?? missing();
  }

  /** What of a key can be set: of its allowance, what it was given in all. */
  async function revised(request: ConsoleRequest, id: number) {
    const { usedMs: _, ...settings } = await within(request, id);
    const balance = await host.find(Ledger)?.balance({ kind: 'key', owner: id });
    const given = balance && { unlimited: balance.unlimited, amount: balance.granted - (balance.debt ?? 0n) };
    return { object: `key ${id}`, content: { settings, given } };
  }

  /** Refuses (403) a change to another user's key without a verification. */
  function demandFor(request: ConsoleRequest, owner: number): void {
    if (owner !== request.account.id) verification.demand(request);
  }

  /** For the audit log: the owner, if it is another user. */
  const ownerFacts = ({ account }: ConsoleRequest, owner: number): JsonObject =>
    owner === account.id ? {} : { user_id: owner };

  async function revoke(request: ConsoleRequest, owner: number, ids: readonly number[]): Promise<number> {
    const steps = ids.flatMap((id) => audited(request, 'key.delete', `key ${id}`, ownerFacts(request, owner)));
    const count = await need(Keys).revokeAll(owner, ids, steps);
    return (
      count ??
      refuse(
        coreErrors
          .key_not_found()
          .with({ message: 'Not all of these keys are of the same user: none was deleted.', param: 'ids' }),
      )
    );
  }

  /** Refuses (400) an unlimited key for another user without a balance, unless the form requests it explicitly. */
  async function demandLimit({ remain_quota: remain, unlimited_quota: unlimited }: KeyForm, owner: number) {
    if (remain !== undefined || unlimited !== undefined) return;
    const balance = await host.find(Ledger)?.balance({ kind: 'account', owner });
    if (balance?.unlimited !== true) return;
    throw errors.limit_wanted();
  }

  /**
   * The group that a form sets; null: that of the account, undefined: unchanged. Refuses (403) users a group that is not for them, and a change of one
   * that an administrator has set.
   */
  async function groupOf(
    { account }: ConsoleRequest,
    form: KeyForm,
    owner: number,
    before?: KeyRecord,
  ): Promise<string | null | undefined> {
    const current = before?.group ?? null;
    const groups = host.find(Groups);
    if (groups === undefined) refuseOthers(form, { group: current ?? '' }, WITHOUT_GROUPS, NOTHING_MEANT);
    const wanted = form.group === '' ? null : form.group;
    if (groups === undefined || wanted === undefined || wanted === current) return undefined;
    if (reaches(account.role, 'admin')) return wanted;
    const { group: own = DEFAULT_GROUP } = (await need(Accounts).find(owner)) ?? {};
    const chosen = wanted === own ? null : wanted;
    const choices = [null, ...groups.choices(own).map(({ name }) => name)];
    if (choices.includes(current) && choices.includes(chosen)) return chosen;
    throw coreErrors.group_not_allowed(
      choices.includes(current)
        ? `You may not choose the group "${wanted}" for a key. You may choose: ${choices.map((each) => each ?? own).join(', ')}.`
        : `An administrator has set the group of this key: only an administrator can change it.`,
    );
  }

  const list = {
    errors: ['account_not_found', 'role_insufficient', 'verification_required'],
    search: keyQuery,
    answer: pageSchema(keySchema),
    handle: listed,
  } as const;

  return [
    route('member', 'GET', '/api/token/', {
      ...list,
      summary: 'Lists your keys, newest first; for administrators with `user_id`, those of a user.',
    }),
    route('member', 'GET', '/api/token/search', {
      ...list,
      summary: 'Searches your keys by a part of their name or the end of their secret.',
    }),
    route('admin', 'GET', '/api/token/users', {
      errors: ['account_not_found', 'verification_required'],
      summary: 'Lists the keys of all users, newest first, without their secrets.',
      search: allQuery,
      answer: pageSchema(ownedKeySchema),
      handle: listedOfAll,
    }),
    route('member', 'GET', '/api/token/default', {
      changes: true,
      errors: ['key_not_found'],
      summary: 'Returns your default key, creating it on first use; its secret is returned only then.',
      answer: keySchema,
      async handle(request) {
        const { id } = request.account;
        const keys = need(Keys);
        const made =
          (await keys.default(id)) === undefined
            ? await keys.createDefault({ accountId: id, name: 'default', allowance: undefined }, (key) =>
                audited(request, 'key.create', `key ${key.id}`, { name: key.name }),
              )
            : undefined;
        if (made !== undefined) return shown(made.key, made.secret);
        return shown(
          (await keys.default(id)) ??
            refuse(coreErrors.key_not_found().with({ message: 'The key has just been deleted.' })),
        );
      },
    }),
    route('member', 'GET', '/api/token/:id', {
      errors: ['key_not_found', 'role_insufficient'],
      summary: 'Returns one of your keys or, for administrators, a key of a user.',
      answer: keySchema,
      revised: (request) => revised(request, idOf(request.params.id)),
      handle: async (request) => shown(await within(request, idOf(request.params.id))),
    }),
    route('member', 'GET', '/api/token/:id/limits', {
      errors: ['key_not_found', 'role_insufficient'],
      summary: 'Returns how much of the limits of one of your keys is used or, for administrators, of a key of a user.',
      answer: limitUsageSchema,
      handle: async (request) => limitUsage(host, await within(request, idOf(request.params.id)), now()),
    }),
    route('member', 'POST', '/api/token/', {
      errors: [...FORM_ERRORS, 'too_many_keys', 'account_not_found', 'role_insufficient'],
      summary:
        'Creates a key. Its secret is returned only in this response. For administrators with `user_id`, and after a verification (POST /api/verify), it belongs to a user, who pays for its calls.',
      body: newKeyBody,
      answer: keySchema,
      async handle(request) {
        const { account, body } = request;
        refuseOthers(body, {}, { ...FIXED, ...COUNTED }, NOTHING_MEANT);
        const owner = await ownerFor(account, body.user_id);
        demandFor(request, owner);
        if (owner !== account.id) await demandLimit(body, owner);
        const group = (await groupOf(request, body, owner)) ?? undefined;
        const newKey = { ...newKeyOf(body, owner, now()), enabled: body.status !== 2, group };
        const { key, secret } = await inTheirWords(
          KEY_WORDS,
          need(Keys).create(newKey, (made) =>
            audited(request, 'key.create', `key ${made.id}`, { ...said(body), ...ownerFacts(request, owner) }),
          ),
        );
        return shown(key, secret);
      },
    }),
    route('member', 'PUT', '/api/token/', {
      errors: [...FORM_ERRORS, 'key_not_found', 'role_insufficient'],
      summary:
        'Updates one of your keys or, for administrators and after a verification (POST /api/verify), a key of a user; omitted members stay unchanged.',
      body: changedKeyBody,
      search: queryOf({
        status_only: { description: 'If present, only the status is updated.', type: 'string' },
      }),
      answer: keySchema,
      revised: (request) => revised(request, request.body.id),
      async handle(request) {
        const { id, status, ...form } = request.body;
        const statusOnly = request.query.status_only !== undefined;
        if (statusOnly && status !== 1 && status !== 2) {
          throw coreErrors
            .invalid_request_error('status must be 1 (enabled) or 2 (disabled).')
            .with({ param: 'status' });
        }
        const before = await within(request, id);
        const record = await shown(before);
        demandFor(request, before.accountId);
        if (!statusOnly) refuseOthers(form, record, { ...FIXED, user_id: 'A key stays with its user.' }, NOTHING_MEANT);
        const layer = { kind: 'key', owner: id } as const;
        const available = statusOnly ? undefined : availableOf(form, record, await host.find(Ledger)?.balance(layer));
        const group = statusOnly ? undefined : await groupOf(request, form, before.accountId, before);
        const changes = {
          ...(!statusOnly && keyChangesOf(form, before, now())),
          ...(group !== undefined && { group }),
          ...((status === 1 || status === 2) && { enabled: status === 1 }),
        };
        const steps = [
          ...(available === undefined
            ? []
            : await need(Ledger).setAvailableSteps(layer, available ?? undefined, request.actor.name)),
          ...audited(request, 'key.change', `key ${id}`, {
            ...said(statusOnly ? { status } : request.body),
            ...ownerFacts(request, before.accountId),
          }),
        ];
        return shown(await inTheirWords(KEY_WORDS, need(Keys).change(before.accountId, id, changes, steps)));
      },
    }),
    route('member', 'DELETE', '/api/token/:id', {
      errors: ['verification_required', 'key_not_found', 'role_insufficient'],
      summary:
        'Deletes one of your keys or, for administrators and after a verification (POST /api/verify), a key of a user. It stops working immediately.',
      answer: nothing,
      revised: (request) => revised(request, idOf(request.params.id)),
      async handle(request) {
        const { id, accountId } = await within(request, idOf(request.params.id));
        demandFor(request, accountId);
        await revoke(request, accountId, [id]);
      },
    }),
    route('member', 'POST', '/api/token/batch', {
      errors: ['key_not_found', 'role_insufficient', 'verification_required'],
      summary:
        'Deletes, enables or disables several of your keys or, for administrators and after a verification (POST /api/verify), of the keys of one user, all or none; returns their number.',
      body: idsBody,
      answer: integer,
      async handle(request) {
        const { body } = request;
        const ids = [...new Set(body.ids)];
        // Keys of others are then not found.
        const { accountId: owner } = await within(request, ids[0]!);
        demandFor(request, owner);
        if (body.action === 'delete') return revoke(request, owner, ids);
        const enabled = body.action === 'enable';
        const facts = { status: enabled ? 1 : 2, ...ownerFacts(request, owner) };
        const steps = ids.flatMap((id) => audited(request, 'key.change', `key ${id}`, facts));
        const count = await need(Keys).enableAll(owner, ids, enabled, steps);
        return (
          count ??
          refuse(
            coreErrors
              .key_not_found()
              .with({ message: 'Not all of these keys are of the same user: none was changed.', param: 'ids' }),
          )
        );
      },
    }),
    route('member', 'POST', '/api/token/:id/key', {
      errors: ['key_not_found', 'role_insufficient', 'verification_required', 'session_wanted'],
      summary:
        'Rotates a key: replaces its secret, after a verification (POST /api/verify). The new secret is returned only in this response. Your own keys require a session; administrators and service tokens rotate keys of users.',
      body: graceBody,
      answer: keySchema,
      async handle(request) {
        const id = idOf(request.params.id);
        const seconds = request.body.grace_seconds ?? 0;
        const { accountId } = await within(request, id);
        // A stolen access token must not be enough to get a secret of its user.
        if (accountId === request.account.id && request.serviceToken === undefined) sessionOf(request);
        verification.demand(request);
        const facts = { grace_seconds: seconds, ...ownerFacts(request, accountId) };
        const steps = audited(request, 'key.rotate', `key ${id}`, facts);
        const { key, secret } = await need(Keys).rotate(accountId, id, seconds * 1_000, steps);
        return shown(key, secret);
      },
    }),
  ];
}

/** A key as a line of a file. */
function cellsOf(key: ShownKey & { readonly username: string }): readonly (string | number)[] {
  const cells = {
    ...key,
    unlimited_quota: key.unlimited_quota ? 'yes' : 'no',
    created: timeText(key.created_time),
    last_used: key.accessed_time === 0 ? '' : timeText(key.accessed_time),
    expires: key.expired_time < 0 ? '' : timeText(key.expired_time),
  };
  return COLUMNS.map((column) => cells[column]);
}

/** For the audit log: the members of a form that are used. */
function said(form: KeyForm & { readonly status?: number | undefined }): JsonObject {
  const members = [...Object.keys(keyFormProperties), 'status'];
  return Object.fromEntries(
    Object.entries(form).filter(([name, value]) => members.includes(name) && value !== undefined),
  ) as JsonObject;
}
