/** Keys: those of the user who is signed in and, for administrators, those of users with a role below theirs. `/api/token`. */
import type { Account } from '../../../core/contracts/accounts.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import { type KeyRecord, Keys } from '../../../core/contracts/keys.ts';
import { Ledger } from '../../../core/contracts/ledger.ts';
import { type JsonObject, refuse, schema } from '../../../core/plugin.ts';
import { reaches } from '../access.ts';
import { inTheirWords } from '../envelope.ts';
import { errors } from '../errors.ts';
import { type PageSearch, pageAnswer, pageOf, pageSchema, pageSearch } from '../pages.ts';
import { NOTHING_MEANT, refuseOthers } from '../read-only.ts';
import { keySchema, type ShownKey, shownKey } from '../records/key.ts';
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
} from '../records/key-form.ts';
import { type ApiRoute, type ConsoleRequest, idOf, route, type Tools } from '../route.ts';
import { idNumber, integer, nothing } from '../schemas.ts';
import { subordinate } from '../subordinate.ts';

const TAG = 'Keys';

interface KeyQuery extends PageSearch {
  readonly keyword?: string;
  readonly token?: string;
  readonly status?: ShownKey['status'];
  readonly user_id?: number;
}

/** An account has a thousand keys at most, so a state, which is in no column, is looked for among all of them. */
const MOST_KEYS = 1_000;

const keyQuery = pageSearch<KeyQuery>({
  keyword: { description: 'Part of the name.', type: 'string', maxLength: 200 },
  token: { description: 'A whole key, or its end.', type: 'string', maxLength: 200 },
  status: { type: 'integer', enum: [1, 2, 3, 4], description: '1 enabled, 2 disabled, 3 expired, 4 exhausted.' },
  user_id: fixedKeyProperties.user_id,
});

const newKeyBody = schema<KeyForm & { readonly name: string; readonly status?: number }>({
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    ...keyFormProperties,
    ...fixedKeyProperties,
    id: { description: 'The gateway gives it: 0, or left out.', const: 0 },
    status: { description: '1 enabled, 2 disabled. Left out: 1.', enum: [1, 2] },
  },
});

const changedKeyBody = schema<KeyForm & { readonly id: number; readonly status?: number }>({
  type: 'object',
  additionalProperties: false,
  required: ['id'],
  properties: {
    ...keyFormProperties,
    ...fixedKeyProperties,
    id: idNumber,
    status: { enum: [1, 2, 3, 4], description: '1 enabled, 2 disabled; 3 and 4 are said back and change nothing.' },
  },
});

const graceBody = schema<{ readonly grace_seconds?: number }>({
  type: 'object',
  additionalProperties: false,
  properties: {
    grace_seconds: {
      description: 'How long the key that was works on; left out: not at all.',
      type: 'integer',
      minimum: 0,
      maximum: 86_400,
    },
  },
});

const idsBody = schema<{ readonly ids: readonly number[] }>({
  type: 'object',
  additionalProperties: false,
  required: ['ids'],
  properties: { ids: { type: 'array', minItems: 1, maxItems: 1_000, items: idNumber } },
});

/** The rows. */
export function keyRoutes({ host, verification, need, audited }: Tools): readonly ApiRoute[] {
  const now = (): number => host.clock.now();

  async function shown(key: KeyRecord, secret?: string): Promise<ShownKey> {
    const balance = await host.find(Ledger)?.balance({ kind: 'key', owner: key.id });
    return shownKey(key, balance, now(), secret);
  }

  async function listed({ account, asked }: ConsoleRequest<unknown, KeyQuery>) {
    const page = pageOf(asked);
    const { keyword, token, status, user_id: user } = asked;
    const { total, items } = await need(Keys).search({
      accountId: await ownerFor(account, user),
      ...(keyword !== undefined && { text: keyword }),
      ...(token !== undefined && { secret: token }),
      ...(status === undefined ? { offset: page.offset, limit: page.pageSize } : { offset: 0, limit: MOST_KEYS }),
    });
    const balances = await host.find(Ledger)?.balances(
      'key',
      items.map(({ id }) => id),
    );
    const shownKeys = items.map((key) => shownKey(key, balances?.get(key.id), now()));
    if (status === undefined) return pageAnswer(page, total, shownKeys);
    const wanted = shownKeys.filter((key) => key.status === status);
    return pageAnswer(page, wanted.length, wanted.slice(page.offset, page.offset + page.pageSize));
  }

  /** Whose keys are meant: the caller's own or, for administrators, those of a user below them. Refuses (403, 404). */
  async function ownerFor(account: Account, user = 0): Promise<number> {
    if (user === 0 || user === account.id) return account.id;
    if (!reaches(account.role, 'admin')) {
      throw errors
        .role_insufficient('Only administrators see and change the keys of others.')
        .with({ param: 'user_id' });
    }
    return (await subordinate(host, account, user)).id;
  }

  /** A key that the caller may see. Refuses (404) what is none, (403) one of a user who is not below them. */
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

  /** Refuses (403) a change of somebody else's key without a check. */
  function demandFor(request: ConsoleRequest, owner: number): void {
    if (owner !== request.account.id) verification.demand(request);
  }

  /** What the audit says of a key of somebody else: whose it is. */
  const whose = ({ account }: ConsoleRequest, owner: number): JsonObject =>
    owner === account.id ? {} : { user_id: owner };

  async function revoke(request: ConsoleRequest, owner: number, ids: readonly number[]): Promise<number> {
    const steps = ids.flatMap((id) => audited(request, 'key.delete', `key ${id}`, whose(request, owner)));
    const count = await need(Keys).revokeAll(owner, ids, steps);
    return (
      count ??
      refuse(
        coreErrors
          .key_not_found()
          .with({ message: 'Not all of these are keys of yours: none was deleted.', param: 'ids' }),
      )
    );
  }

  /** Refuses (400) a key of somebody else that nothing limits, unless the form says so: not even the balance of its user would. */
  async function demandLimit({ remain_quota: remain, unlimited_quota: unlimited }: KeyForm, owner: number) {
    if (remain !== undefined || unlimited !== undefined) return;
    const balance = await host.find(Ledger)?.balance({ kind: 'account', owner });
    if (balance?.unlimited !== true) return;
    throw errors.limit_wanted();
  }

  const list = {
    method: 'GET',
    who: 'member',
    tag: TAG,
    errors: ['account_not_found', 'role_insufficient'],
    search: keyQuery,
    answer: pageSchema(keySchema),
    handle: listed,
  } as const;

  return [
    route<unknown, KeyQuery>({
      ...list,
      path: '/api/token/',
      alsoAt: ['/api/token'],
      summary: 'Your keys, newest first; with `user_id`, for administrators, those of a user.',
    }),
    route<unknown, KeyQuery>({
      ...list,
      path: '/api/token/search',
      summary: 'Those of your keys whose name has a word in it, or that end in something.',
    }),
    route({
      method: 'GET',
      path: '/api/token/default',
      who: 'member',
      changes: true,
      errors: ['key_not_found'],
      summary: 'Your key for tools that want any: made, and whole, the first time you ask; masked ever after.',
      tag: TAG,
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
    route({
      method: 'GET',
      path: '/api/token/:id',
      who: 'member',
      errors: ['key_not_found', 'role_insufficient'],
      summary: 'One of your keys or, for administrators, of a user.',
      tag: TAG,
      answer: keySchema,
      handle: async (request) => shown(await within(request, idOf(request.params.id))),
    }),
    route({
      method: 'POST',
      path: '/api/token/',
      alsoAt: ['/api/token'],
      who: 'member',
      errors: [
        'verification_required',
        'read_only',
        'limit_wanted',
        'invalid_name',
        'invalid_models',
        'invalid_addresses',
        'too_many_keys',
        'account_not_found',
        'role_insufficient',
      ],
      summary:
        'Creates a key. The answer holds it whole, and nothing else ever will. With `user_id`, for administrators and after a check (POST /api/verify), it is that of a user, who pays for its calls.',
      tag: TAG,
      body: newKeyBody,
      answer: keySchema,
      async handle(request) {
        const { account, body } = request;
        refuseOthers(body, {}, { ...FIXED, ...COUNTED }, NOTHING_MEANT);
        const owner = await ownerFor(account, body.user_id);
        demandFor(request, owner);
        if (owner !== account.id) await demandLimit(body, owner);
        const asked = { ...newKeyOf(body, owner, now()), enabled: body.status !== 2 };
        const { key, secret } = await inTheirWords(
          KEY_WORDS,
          need(Keys).create(asked, (made) =>
            audited(request, 'key.create', `key ${made.id}`, { ...said(body), ...whose(request, owner) }),
          ),
        );
        return shown(key, secret);
      },
    }),
    route({
      method: 'PUT',
      path: '/api/token/',
      alsoAt: ['/api/token'],
      who: 'member',
      errors: [
        'verification_required',
        'read_only',
        'limit_wanted',
        'invalid_name',
        'invalid_models',
        'invalid_addresses',
        'key_not_found',
        'role_insufficient',
      ],
      summary:
        'Changes one of your keys or, for administrators and after a check (POST /api/verify), of a user; what is left out stays as it is.',
      tag: TAG,
      body: changedKeyBody,
      search: schema<{ readonly status_only?: string }>({
        type: 'object',
        properties: { status_only: { description: 'With anything: only the status is looked at.', type: 'string' } },
      }),
      answer: keySchema,
      async handle(request) {
        const { id, status, ...form } = request.body;
        const statusOnly = request.asked.status_only !== undefined;
        if (statusOnly && status !== 1 && status !== 2) {
          throw coreErrors
            .invalid_request_error('status must be 1 (enabled) or 2 (disabled).')
            .with({ param: 'status' });
        }
        const before = await within(request, id);
        const record = await shown(before);
        demandFor(request, before.accountId);
        if (!statusOnly) refuseOthers(form, record, { ...FIXED, user_id: 'A key stays with its user.' }, NOTHING_MEANT);
        const available = statusOnly ? undefined : availableOf(form, record);
        const layer = { kind: 'key', owner: id } as const;
        const changes = {
          ...(!statusOnly && keyChangesOf(form, before, now())),
          ...((status === 1 || status === 2) && { enabled: status === 1 }),
        };
        const steps = [
          ...(available === undefined
            ? []
            : await need(Ledger).setAvailableSteps(layer, available ?? undefined, request.actor.name)),
          ...audited(request, 'key.change', `key ${id}`, {
            ...said(statusOnly ? { status } : request.body),
            ...whose(request, before.accountId),
          }),
        ];
        return shown(await inTheirWords(KEY_WORDS, need(Keys).change(before.accountId, id, changes, steps)));
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/token/:id',
      who: 'member',
      errors: ['verification_required', 'key_not_found', 'role_insufficient'],
      summary:
        'Ends one of your keys or, for administrators and after a check (POST /api/verify), of a user: for good, at once.',
      tag: TAG,
      answer: nothing,
      async handle(request) {
        const { id, accountId } = await within(request, idOf(request.params.id));
        demandFor(request, accountId);
        await revoke(request, accountId, [id]);
      },
    }),
    route({
      method: 'POST',
      path: '/api/token/batch',
      who: 'member',
      errors: ['key_not_found'],
      summary: 'Ends several of your keys, all of them or, where one is not yours, none. How many.',
      tag: TAG,
      body: idsBody,
      answer: integer,
      handle: (request) => revoke(request, request.account.id, [...new Set(request.body.ids)]),
    }),
    route({
      method: 'POST',
      path: '/api/token/:id/key',
      who: 'member',
      verified: true,
      sessionOnly: true,
      errors: ['key_not_found', 'role_insufficient'],
      summary: 'Exchanges a key for a new one, which the answer holds whole: what is stored cannot be read back.',
      tag: TAG,
      body: graceBody,
      answer: keySchema,
      async handle(request) {
        const id = idOf(request.params.id);
        const seconds = request.body.grace_seconds ?? 0;
        const steps = audited(request, 'key.rotate', `key ${id}`, { grace_seconds: seconds });
        const { key, secret } = await need(Keys).rotate(request.account.id, id, seconds * 1_000, steps);
        return shown(key, secret);
      },
    }),
  ];
}

/** What the audit says of a form: the members that count. */
function said(form: KeyForm & { readonly status?: number | undefined }): JsonObject {
  const known = [...Object.keys(keyFormProperties), 'status'];
  return Object.fromEntries(
    Object.entries(form).filter(([name, value]) => known.includes(name) && value !== undefined),
  ) as JsonObject;
}
