/** Other users' accounts, for administrators: `/api/user/`. */

import { type AccountChanges, Accounts, type Person } from '../../../../core/contracts/accounts.ts';
import { Departments } from '../../../../core/contracts/departments.ts';
import { coreErrors } from '../../../../core/contracts/errors.ts';
import { GROUP_NAME } from '../../../../core/contracts/groups.ts';
import { GatewayError, refuse } from '../../../../core/plugin.ts';
import { readName } from '../../../../core/sdk.ts';
import { outranks, roleNumber } from '../../access/guards.ts';
import { livingPerson, personWith, removeAccount, subordinate } from '../../access/subordinate.ts';
import { errors } from '../../errors.ts';
import { columnsNote, csvTable, type RowRange } from '../../format/csv.ts';
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
import { type ReadOnly, readOnly, readOnlyProperties, refuseOthers } from '../../format/read-only.ts';
import {
  type Accepted,
  bodyOf,
  boolean,
  EMAIL_PATTERN,
  idNumber,
  nothing,
  passwordOrNone,
  passwordRules,
  queryOf,
  text,
  withRules,
} from '../../format/schemas.ts';
import { differences, PERSON_ERRORS, PERSON_WORDS } from '../../records/people/person.ts';
import {
  revisedPerson,
  roleOf,
  shownDetail,
  shownUsers,
  userProperties,
  userSchema,
} from '../../records/people/user.ts';
import { timeText } from '../../records/usage/usage-range.ts';
import { type ApiRoute, type ConsoleRequest, idOf, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';
import { userAccessRoutes } from './user-access.ts';
import { userBatchRoutes } from './user-batch.ts';
import { userManageRoutes } from './user-manage.ts';

const route = tagged('Users');

/** A department with more members cannot be a filter. */
const MOST_AMONG = 10_000;

/** The orders that the store knows, by the names of the service. */
const ORDERS = { id: 'id', username: 'name', role: 'role', group: 'group', last_login_at: 'lastLogin' } as const;
/** The orders by amounts, which the ledger has. */
const AMOUNTS = ['quota', 'used_quota'] as const;
const COLUMNS = [
  ...(['id', 'username', 'display_name', 'email', 'role', 'status', 'group', 'department_name', 'quota'] as const),
  ...(['used_quota', 'unlimited_quota', 'created', 'last_login', 'remark'] as const),
];

const userQuery = pageSearch({
  ...cursorProperties,
  sort: sortProperty(['id', 'username', 'role', 'group', 'last_login_at', ...AMOUNTS]),
  format: {
    description: `csv: all matching users as a file. Requires a verification (POST /api/verify). ${columnsNote({ created: '`created_at`', last_login: '`last_login_at`' })}`,
    enum: ['json', 'csv'],
    default: 'json',
  },
  keyword: { description: 'Part of a name or an email address, or an id.', type: 'string', maxLength: 200 },
  group: { type: 'string', maxLength: 64 },
  role: { description: '1 member, 10 administrator, 100 root.', type: 'integer', enum: [1, 10, 100] },
  status: { description: '1 enabled, 2 disabled, -1 deleted.', type: 'integer', enum: [1, 2, -1] },
  department_id: { description: 'Members of this department and of those below it.', ...idNumber },
});

const username = { type: 'string', minLength: 1, maxLength: 64 } as const;
const displayName = { description: 'Empty: unchanged.', type: 'string', maxLength: 64 } as const;
const group = {
  description: 'The group of the account: of channels, if the configuration has `groups`; otherwise a free text.',
  type: 'string',
  pattern: GROUP_NAME,
} as const;
const remark = { description: 'Never shown to the user.', type: 'string', maxLength: 255 } as const;

const newUser = bodyOf(['username', 'password'], {
  username,
  password: { type: 'string', minLength: 1, maxLength: 1_024 },
  display_name: displayName,
  role: { description: '1 member, 10 administrator; always below yours.', enum: [1, 10] },
  email: { description: 'Counts as verified.', type: 'string', maxLength: 254 },
  group,
  remark,
});

/** Members of the record that a change cannot set. */
const FIXED: ReadOnly = {
  ...readOnly('POST /api/user/manage changes it.', 'role', 'status', 'quota', 'unlimited_quota'),
  ...readOnly('POST /api/department/:id/members moves users.', 'department_id', 'department_name'),
  has_password: '`password` sets one.',
  created_at: 'The gateway maintains it.',
  DeletedAt: 'DELETE /api/user/:id deletes a user.',
  two_factor: 'DELETE /api/user/:id/2fa takes it away.',
  passkey: 'DELETE /api/user/:id/reset_passkey takes it away.',
  bindings: 'DELETE /api/user/:id/bindings/:type takes one away.',
};
/** Members that change while a record is viewed. */
const COUNTED = ['used_quota', 'held_quota', 'last_login_at', 'debt'];

const changedUser = bodyOf(['id'], {
  id: idNumber,
  username,
  display_name: displayName,
  password: {
    description: 'Empty: unchanged; otherwise 8 to 256 characters. Requires a verification (POST /api/verify).',
    type: 'string',
    maxLength: 1_024,
  },
  email: {
    description: 'Counts as verified; empty: none. Requires a verification (POST /api/verify).',
    type: ['string', 'null'],
    maxLength: 254,
  },
  group,
  remark,
  ...readOnlyProperties(FIXED),
  ...Object.fromEntries(COUNTED.map((name) => [name, { description: 'Counted by the gateway; ignored.' }])),
});

const detail = {
  title: 'UserDetail',
  type: 'object',
  required: [...userSchema.required, 'two_factor', 'passkey', 'bindings'],
  properties: {
    ...userProperties,
    two_factor: boolean,
    passkey: boolean,
    bindings: { description: 'The linked OAuth providers.', type: 'array', items: text },
  },
};

export function userRoutes(tools: Tools): readonly ApiRoute[] {
  const { host, verification, need, audited, note } = tools;
  const accounts = host.use(Accounts);

  async function page(request: ConsoleRequest<unknown, Accepted<typeof userQuery>>) {
    const { query } = request;
    const filter = filterOf(query);
    const { sort } = query;
    const byAmount = AMOUNTS.find((name) => sort?.replace('-', '') === name);
    const stored = byAmount === undefined ? sortOf(sort as keyof typeof ORDERS | undefined, ORDERS) : undefined;
    const read = async (of: RowRange) => {
      const { total, items } = await accounts.search({
        ...filter,
        ...(stored !== undefined && { sort: stored }),
        ...of,
      });
      return { total, items: await shownUsers(host, items) };
    };
    if (query.format === 'csv') {
      verification.demand(request);
      await note(request, 'user.export');
      return csvTable('users', COLUMNS, stored !== undefined, async (of) => (await read(of)).items.map(cellsOf));
    }
    const at = pageOf(query);
    if (byAmount === undefined) {
      const { total, items } = await read({ offset: at.offset, limit: at.pageSize });
      return pageAnswer(at, total, items);
    }
    const { total, items } = await read({ offset: 0, limit: MOST_AMONG });
    if (total > MOST_AMONG) {
      throw errors.filter_too_wide(`More than ${MOST_AMONG} users cannot be sorted by it.`).with({ param: 'sort' });
    }
    // Unlimited accounts have no balance: they are the largest.
    const amountOf = (user: (typeof items)[number]): number =>
      byAmount === 'quota' && user.unlimited_quota ? Number.POSITIVE_INFINITY : user[byAmount];
    const direction = sort!.startsWith('-') ? -1 : 1;
    const sorted = items.toSorted((a, b) =>
      amountOf(a) === amountOf(b) ? b.id - a.id : amountOf(a) < amountOf(b) ? -direction : direction,
    );
    return pageAnswer(at, total, sorted.slice(at.offset, at.offset + at.pageSize));
  }

  function filterOf(query: Accepted<typeof userQuery>) {
    const {
      keyword,
      group: wantedGroup,
      role: roleWanted,
      status,
      department_id: department,
      before_id: before,
    } = query;
    const role = roleWanted === undefined ? undefined : roleOf(roleWanted);
    const among = department === undefined ? undefined : peopleOf(department);
    return {
      ...(keyword !== undefined && { text: keyword }),
      ...(wantedGroup !== undefined && { group: wantedGroup }),
      ...(role !== undefined && { role }),
      ...((status === 1 || status === 2) && { enabled: status === 1 }),
      ...(status === -1 && { deleted: true }),
      ...(among !== undefined && { among }),
      ...(before !== undefined && { before }),
    };
  }

  /** The members of a department and of those below it. */
  function peopleOf(id: number): readonly number[] {
    const departments = need(Departments);
    const param = 'department_id';
    const top = departments.get(id) ?? refuse(coreErrors.department_not_found(id).with({ param }));
    const people = [top, ...departments.below(id)].flatMap((each) => departments.members(each.id));
    if (people.length > MOST_AMONG) {
      throw errors
        .filter_too_wide(`The department has more than ${MOST_AMONG} members. Filter by a department below it.`)
        .with({ param });
    }
    return people;
  }

  const requested = ({ params, query }: ConsoleRequest<unknown, { readonly deleted?: 'also' }>): Promise<Person> =>
    (query.deleted === 'also' ? personWith : livingPerson)(host, idOf(params.id));

  async function shown(person: Person) {
    const [user] = await shownUsers(host, [person]);
    return user;
  }

  const list = {
    errors: ['department_not_found', 'filter_too_wide', 'verification_required'],
    search: userQuery,
    answer: pageSchema(userSchema),
    handle: page,
  };

  return [
    route('admin', 'GET', '/api/user/', { ...list, summary: 'Lists users, newest first.' }),
    route('admin', 'GET', '/api/user/search', { ...list, summary: 'Searches users.' }),
    route('admin', 'GET', '/api/user/:id', {
      errors: ['account_not_found'],
      summary: 'Returns a user with the sign-in methods; 404 after the user was deleted, unless `deleted=also`.',
      search: queryOf({
        deleted: { description: 'Also a deleted user; GET /api/user/?status=-1 lists them.', enum: ['also'] },
      }),
      answer: detail,
      revised: async (request) => revisedPerson(await requested(request)),
      handle: async (request) => shownDetail(host, await requested(request)),
    }),
    route('admin', 'POST', '/api/user/', {
      errors: [...PERSON_ERRORS, 'role_insufficient', 'verification_required'],
      summary: 'Creates a user. Only root creates administrators, with a verification (POST /api/verify).',
      body: newUser,
      request: withRules(newUser, { password: passwordRules, email: { pattern: `^$|${EMAIL_PATTERN}` } }),
      answer: userSchema,
      async handle(request) {
        const { body, account } = request;
        const role = roleOf(body.role ?? roleNumber('member')) ?? 'member';
        if (!outranks(account.role, role)) throw errors.role_insufficient('Only root can create administrators.');
        if (role !== 'member') verification.demand(request);
        const named = displayNameOf(body.display_name);
        const made = await inTheirWords(
          PERSON_WORDS,
          accounts.create(
            {
              name: body.username,
              role,
              password: body.password,
              ...(named !== undefined && { displayName: named }),
              ...(body.email && { email: body.email }),
            },
            (id) => audited(request, 'user.create', `user ${id}`, { username: body.username, role }),
          ),
        );
        const { group: inGroup, remark: noted } = body;
        const more = {
          ...(inGroup !== undefined && { group: inGroup }),
          ...(noted !== undefined && { remark: noted }),
        };
        if (Object.keys(more).length > 0) await accounts.change(made.id, more);
        return shown(await personWith(host, made.id));
      },
    }),
    route('admin', 'PUT', '/api/user/', {
      errors: [
        'verification_required',
        'person_wanted',
        'role_insufficient',
        'account_not_found',
        'read_only',
        ...PERSON_ERRORS,
        'department_not_found',
        'unlimited',
        'no_room',
        'lease_not_returned',
      ],
      summary:
        'Updates a user; absent members stay unchanged. Role, status and balance are changed by POST /api/user/manage.',
      body: changedUser,
      request: withRules(changedUser, { password: passwordOrNone, email: { pattern: `^$|${EMAIL_PATTERN}` } }),
      answer: userSchema,
      revised: async ({ account, body }) => revisedPerson(await subordinate(host, account, body.id)),
      async handle(request) {
        const { body, account } = request;
        const person = await subordinate(host, account, body.id);
        refuseOthers(body, await shownDetail(host, person), FIXED);
        const named = displayNameOf(body.display_name);
        const changes: AccountChanges = {
          ...(body.username !== undefined && { name: body.username, renamesScope: true }),
          ...(named !== undefined && { displayName: named }),
          ...(body.email !== undefined && { email: body.email || null }),
          ...(body.group !== undefined && { group: body.group }),
          ...(body.remark !== undefined && { remark: body.remark }),
        };
        const facts = differences(person, changes);
        // An administrator who sets one of these could sign in as that user. A machine may complete an account that was never used.
        const isTakeover = Boolean(body.password) || ('email' in facts && person.lastLoginMs !== undefined);
        if (isTakeover && request.serviceToken !== undefined) throw errors.person_wanted();
        if (body.password || 'email' in facts) verification.demand(request);
        if (body.password) await setPassword(request, person.id, body.password);
        if (Object.keys(facts).length === 0) return shown(person);
        const along = audited(request, 'user.change', `user ${person.id}`, facts);
        return shown(await inTheirWords(PERSON_WORDS, accounts.change(person.id, changes, along)));
      },
    }),
    route('admin', 'DELETE', '/api/user/:id', {
      verified: true,
      errors: ['last_root', 'role_insufficient', 'account_not_found', 'root_protected'],
      summary: 'Deletes a user with their keys and sessions. The name stays reserved; the ledger keeps the balance.',
      answer: nothing,
      revised: async ({ account, params }) => revisedPerson(await subordinate(host, account, idOf(params.id))),
      async handle(request) {
        const { id, name, role } = await subordinate(host, request.account, idOf(request.params.id));
        if (role === 'root') throw errors.root_protected('Root cannot be deleted.');
        await removeAccount(host, id, audited(request, 'user.delete', `user ${id}`, { username: name }));
      },
    }),
    ...userBatchRoutes(tools),
    ...userManageRoutes(tools),
    ...userAccessRoutes(tools),
  ];

  /** Ends the sessions that were opened with the old password. */
  function setPassword(request: ConsoleRequest, id: number, password: string): Promise<void> {
    const keep = request.account.id === id ? request.session?.id : undefined;
    return accounts.setPassword(id, password, audited(request, 'user.password', `user ${id}`), keep);
  }
}

/** A user as a line of a file. */
function cellsOf(user: Awaited<ReturnType<typeof shownUsers>>[number]): readonly (string | number)[] {
  const cells = {
    ...user,
    unlimited_quota: user.unlimited_quota ? 'yes' : 'no',
    created: timeText(user.created_at),
    last_login: user.last_login_at === 0 ? '' : timeText(user.last_login_at),
  };
  return COLUMNS.map((column) => cells[column]);
}

/** A display name, if the form has one. */
function displayNameOf(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    return readName(text);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw error.with({ param: 'display_name' });
  }
}
