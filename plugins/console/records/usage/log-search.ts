/** Log queries: which lines, of which users, in which period. */
import { Accounts, type Person } from '../../../../core/contracts/accounts.ts';
import { Departments } from '../../../../core/contracts/departments.ts';
import { coreErrors } from '../../../../core/contracts/errors.ts';
import { Keys } from '../../../../core/contracts/keys.ts';
import { type LogFilter, type LogKind, Records } from '../../../../core/contracts/records.ts';
import type { Host } from '../../../../core/plugin.ts';
import { refuseUnknown } from '../../access/subordinate.ts';
import { errors } from '../../errors.ts';
import { idNumber, type Members, timestamp } from '../../format/schemas.ts';

/** The numbers of line kinds in the API. */
export const TYPES: Readonly<Record<LogKind, number>> = {
  'top-up': 1,
  use: 2,
  manage: 3,
  system: 4,
  error: 5,
  refund: 6,
  login: 7,
  request: 8,
};

const name = { type: 'string', maxLength: 256 } as const;

/** The members of a `search` schema about the period. */
export const timeProperties = {
  start_timestamp: { description: 'Start, Unix seconds.', ...timestamp },
  end_timestamp: { description: 'End (inclusive), Unix seconds.', ...timestamp },
} as const;

/** Unix seconds; 0: not set. */
export type TimesQuery = Members<typeof timeProperties>;

/** The members about lines. */
export const logProperties = {
  ...timeProperties,
  type: {
    description:
      '1 top-up, 2 use, 3 managed by an administrator, 4 system, 5 error, 6 refund, 7 sign-in, 8 other request of a key; 0: all.',
    type: 'integer',
    minimum: 0,
    maximum: 8,
    default: 0,
  },
  outcome: {
    description:
      'Only calls with this outcome: aborted if the client disconnected, recovered if the gateway stopped during the call.',
    enum: ['served', 'refused', 'failed', 'aborted', 'recovered'],
  },
  token_name: { description: 'Part of the name of a key, ignoring case.', ...name },
  token_id: { ...idNumber, description: 'The id of a key.' },
  model_name: { description: 'Part of the name of the requested model, ignoring case.', ...name },
  group: { description: 'The group of the user.', ...name },
  channel: { description: 'Part of the name of the channel that served the call, ignoring case.', ...name },
  request_id: { description: 'The `x-request-id` of the answer.', type: 'string', maxLength: 64 },
} as const;

/** The parameters of a query. */
export type LogQuery = Members<typeof logProperties>;

/** The members about users. */
export const peopleProperties = {
  username: { description: 'Part of the name of the user, ignoring case; deleted users, too.', ...name },
  user_id: { ...idNumber, description: 'The id of the user.' },
  department_id: { ...idNumber, description: 'Users who are now in this department or below it.' },
} as const;

/** The members of the log of all users. */
export const everybodyProperties = { ...logProperties, ...peopleProperties } as const;

/** Parameters of the log of all users. */
export type EverybodyQuery = Members<typeof everybodyProperties>;

/** The refusals of filters of the log of all users. */
export const FILTER_ERRORS = ['filter_too_wide', 'account_not_found', 'key_not_found', 'department_not_found'];

/** A group with more users, or a name with more keys, cannot be a filter. */
const MOST_PEOPLE = 500;
const MOST_KEYS = 500;

/** Creates filters, which are undefined if nothing can match. */
export function createLogSearch(host: Host) {
  const accounts = host.use(Accounts);
  const keys = host.use(Keys);

  /** The ids of keys whose name has a part, of some users or of all. */
  async function keysNamed(name: string, who: readonly number[] | undefined) {
    const matches = await keys.named(name, who?.length === 1 ? who[0] : undefined, MOST_KEYS + 1);
    if (matches.length > MOST_KEYS) {
      const hint = `More than ${MOST_KEYS} keys match. Enter more of the name, or filter by a user.`;
      throw errors.filter_too_wide(hint).with({ param: 'token_name' });
    }
    return who === undefined ? matches : matches.filter(({ accountId }) => who.includes(accountId));
  }

  /** The models or channels whose name has a part. Names of refused calls, which clients invent, match only as a whole. */
  async function namesLike(of: 'model' | 'channel', part: string): Promise<readonly string[]> {
    const wanted = part.toLowerCase();
    const names = (await host.find(Records)?.names(of)) ?? [];
    return [...new Set([part, ...names.filter((each) => each.toLowerCase().includes(wanted))])];
  }

  /** The users whose name has a part, deleted ones included: their calls were made. Refuses (400) too many. */
  async function peopleLike(part: string): Promise<readonly number[]> {
    const { total, items } = await accounts.search({ text: part, deleted: 'also', offset: 0, limit: MOST_PEOPLE });
    if (total > MOST_PEOPLE) {
      const hint = `More than ${MOST_PEOPLE} users match. Enter more of the name.`;
      throw errors.filter_too_wide(hint).with({ param: 'username' });
    }
    return items.map(({ id }) => id);
  }

  async function filterOf(query: LogQuery, who: readonly number[] | undefined): Promise<LogFilter | undefined> {
    const { token_name, token_id, model_name, channel, request_id, type, outcome } = query;
    const named = token_name === undefined ? undefined : await keysNamed(token_name, who);
    // With their owners the store finds the lines faster.
    const people = named === undefined ? who : [...new Set(named.map(({ accountId }) => accountId))];
    if (people?.length === 0) return undefined;
    const ids = named?.map(({ id }) => id).filter((id) => token_id === undefined || id === token_id);
    const numbered = ids ?? (token_id === undefined ? undefined : [token_id]);
    if (numbered?.length === 0) return undefined;
    const kind = (Object.keys(TYPES) as LogKind[]).find((each) => TYPES[each] === type);
    return {
      ...timesOf(query),
      ...(people !== undefined && { accounts: people }),
      ...(numbered !== undefined && { keys: numbered }),
      ...(kind !== undefined && { kind }),
      ...(outcome !== undefined && { outcomes: [outcome] }),
      ...(model_name !== undefined && { models: await namesLike('model', model_name) }),
      // Clients that know channels by number send 0 for any.
      ...(channel !== undefined && channel !== '0' && { channels: await namesLike('channel', channel) }),
      ...(request_id !== undefined && { id: request_id }),
    };
  }

  async function peopleOf(group: string): Promise<readonly number[]> {
    const { total, items } = await accounts.search({ group, deleted: 'also', offset: 0, limit: MOST_PEOPLE });
    if (total > MOST_PEOPLE) {
      const hint = `The group has more than ${MOST_PEOPLE} users. Filter by one of them with \`username\`.`;
      throw errors.filter_too_wide(hint).with({ param: 'group' });
    }
    return items.map(({ id }) => id);
  }

  function membersOf(id: number): readonly number[] {
    const departments = host.find(Departments);
    if (departments?.get(id) === undefined) {
      throw coreErrors.department_not_found(id).with({ param: 'department_id' });
    }
    const people = [id, ...departments.below(id).map((each) => each.id)].flatMap((each) => departments.members(each));
    if (people.length > MOST_PEOPLE) {
      const hint = `The department has more than ${MOST_PEOPLE} members. Filter by a department below it, or by a user.`;
      throw errors.filter_too_wide(hint).with({ param: 'department_id' });
    }
    return people;
  }

  return {
    /** A filter for the log of one user; the query cannot select another user. */
    async own(person: Person, query: LogQuery): Promise<LogFilter | undefined> {
      if (query.group !== undefined && query.group !== person.group) return undefined;
      return filterOf(query, [person.id]);
    },

    async everybody(query: EverybodyQuery): Promise<LogFilter | undefined> {
      const { username, user_id, group, department_id } = query;
      await refuseUnknown(host, query);
      const sets: (readonly number[])[] = [];
      if (username !== undefined) sets.push(await peopleLike(username));
      if (user_id !== undefined) sets.push([user_id]);
      if (department_id !== undefined) sets.push(membersOf(department_id));
      const [first, ...others] = sets;
      const who = first?.filter((id) => others.every((set) => set.includes(id)));
      if (who === undefined) return filterOf(query, group === undefined ? undefined : await peopleOf(group));
      if (group === undefined) return filterOf(query, who);
      const people = await Promise.all(who.map((id) => accounts.person(id)));
      return filterOf(
        query,
        people.flatMap((person) => (person?.group === group ? [person.id] : [])),
      );
    },
  };
}

/** The period of a query; its last second is included. */
export function timesOf({ start_timestamp: start = 0, end_timestamp: end = 0 }: TimesQuery) {
  return { ...(start > 0 && { fromMs: start * 1_000 }), ...(end > 0 && { untilMs: (end + 1) * 1_000 }) };
}
