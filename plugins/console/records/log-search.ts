/** What a query asks of the log: which lines, of whom, from when to when. */
import { Accounts, type Person } from '../../../core/contracts/accounts.ts';
import { Departments } from '../../../core/contracts/departments.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import type { LogFilter, LogKind, UsageRecord } from '../../../core/contracts/records.ts';
import type { Host } from '../../../core/plugin.ts';
import { errors } from '../errors.ts';
import { idNumber, timestamp } from '../schemas.ts';

/** The numbers that tools know the kinds of lines by. */
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

/** Unix seconds; 0 says nothing. */
export interface TimesAsked {
  readonly start_timestamp?: number;
  readonly end_timestamp?: number;
}

/** What a query may say. */
export interface LogAsked extends TimesAsked {
  readonly type: number;
  readonly outcome?: UsageRecord['outcome'];
  readonly token_name?: string;
  readonly token_id?: number;
  readonly model_name?: string;
  readonly group?: string;
  readonly channel?: string;
  readonly request_id?: string;
}

/** Of everybody's log. */
export interface EverybodyAsked extends LogAsked {
  readonly username?: string;
  readonly user_id?: number;
  readonly department_id?: number;
}

const name = { type: 'string', maxLength: 256 };

/** The members of a `search` schema that are about time. */
export const timeProperties = {
  start_timestamp: { description: 'From then, unix seconds.', ...timestamp },
  end_timestamp: { description: 'Up to and with then, unix seconds.', ...timestamp },
} as const;

/** Those about lines of the log. */
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
      'Calls that ended so, and nothing else: aborted where the client left, recovered where the gateway stopped.',
    enum: ['served', 'refused', 'failed', 'aborted', 'recovered'],
  },
  token_name: { description: 'The name of a key. Names are exact: no character stands for others.', ...name },
  token_id: { ...idNumber, description: 'The key with that number.' },
  model_name: { description: 'The model that was asked for.', ...name },
  group: { description: 'The group of the account.', ...name },
  channel: { description: 'The channel that served.', ...name },
  request_id: { description: 'The `x-request-id` of the answer.', type: 'string', maxLength: 64 },
} as const;

/** Those about whose they are. */
export const peopleProperties = {
  username: { description: 'Whose they are.', ...name },
  user_id: { ...idNumber, description: 'The same by number.' },
  department_id: { ...idNumber, description: 'Of the people who are in it now, or in one below it.' },
} as const;

/** And those about everybody's. */
export const everybodyProperties = { ...logProperties, ...peopleProperties } as const;

/** A group with more people than this is no filter, nor is a name that more keys have. */
const MOST_PEOPLE = 500;
const MOST_KEYS = 500;

/** Makes filters. They are undefined where nothing can match. */
export interface LogSearch {
  /** Of somebody's own log; of nobody else's, whatever is asked. */
  own(person: Person, asked: LogAsked): Promise<LogFilter | undefined>;
  everybody(asked: EverybodyAsked): Promise<LogFilter | undefined>;
}

/** Makes it. */
export function createLogSearch(host: Host): LogSearch {
  const accounts = host.use(Accounts);
  const keys = host.use(Keys);

  /** The keys of that name, of some people or of anybody. */
  async function keysNamed(name: string, who: readonly number[] | undefined) {
    const found = await keys.named(name, who?.length === 1 ? who[0] : undefined, MOST_KEYS + 1);
    if (found.length > MOST_KEYS) {
      const hint = `More than ${MOST_KEYS} keys are called that: ask for something else, or for those of one person.`;
      throw errors.filter_too_wide(hint).with({ param: 'token_name' });
    }
    return who === undefined ? found : found.filter(({ accountId }) => who.includes(accountId));
  }

  async function filterOf(asked: LogAsked, who: readonly number[] | undefined): Promise<LogFilter | undefined> {
    const { token_name, token_id, model_name, channel, request_id, type, outcome } = asked;
    const named = token_name === undefined ? undefined : await keysNamed(token_name, who);
    // Whose keys they are is told as well: lines of a few people are found more quickly.
    const people = named === undefined ? who : [...new Set(named.map(({ accountId }) => accountId))];
    if (people?.length === 0) return undefined;
    const ids = named?.map(({ id }) => id).filter((id) => token_id === undefined || id === token_id);
    const numbered = ids ?? (token_id === undefined ? undefined : [token_id]);
    if (numbered?.length === 0) return undefined;
    const kind = (Object.keys(TYPES) as LogKind[]).find((each) => TYPES[each] === type);
    return {
      ...timesOf(asked),
      ...(people !== undefined && { accounts: people }),
      ...(numbered !== undefined && { keys: numbered }),
      ...(kind !== undefined && { kind }),
      ...(outcome !== undefined && { outcomes: [outcome] }),
      ...(model_name !== undefined && { model: model_name }),
      // Tools that know channels by numbers send 0 for any.
      ...(channel !== undefined && channel !== '0' && { channel }),
      ...(request_id !== undefined && { id: request_id }),
    };
  }

  async function peopleOf(group: string): Promise<readonly number[]> {
    const { total, items } = await accounts.search({ group, offset: 0, limit: MOST_PEOPLE });
    if (total > MOST_PEOPLE) {
      const hint = `The group has more than ${MOST_PEOPLE} people: ask for one of them with \`username\`.`;
      throw errors.filter_too_wide(hint).with({ param: 'group' });
    }
    return items.map(({ id }) => id);
  }

  function membersOf(id: number): readonly number[] {
    const departments = host.find(Departments);
    if (departments?.get(id) === undefined) return [];
    const people = [id, ...departments.below(id).map((each) => each.id)].flatMap((each) => departments.members(each));
    if (people.length > MOST_PEOPLE) {
      const hint = `The department has more than ${MOST_PEOPLE} people: ask for one below it, or for a person.`;
      throw errors.filter_too_wide(hint).with({ param: 'department_id' });
    }
    return people;
  }

  return {
    async own(person, asked) {
      if (asked.group !== undefined && asked.group !== person.group) return undefined;
      return filterOf(asked, [person.id]);
    },

    async everybody(asked) {
      const { username, user_id, group, department_id } = asked;
      const sets: (readonly number[])[] = [];
      if (username !== undefined) sets.push(idsOf(await accounts.findByName(username)));
      if (user_id !== undefined) sets.push([user_id]);
      if (department_id !== undefined) sets.push(membersOf(department_id));
      const [first, ...others] = sets;
      const who = first?.filter((id) => others.every((set) => set.includes(id)));
      if (who === undefined) return filterOf(asked, group === undefined ? undefined : await peopleOf(group));
      if (group === undefined) return filterOf(asked, who);
      const people = await Promise.all(who.map((id) => accounts.person(id)));
      return filterOf(
        asked,
        people.flatMap((person) => (person?.group === group ? [person.id] : [])),
      );
    },
  };
}

function idsOf(account: { readonly id: number } | undefined): readonly number[] {
  return account === undefined ? [] : [account.id];
}

/** The moments of a query. The second that it ends with is part of it. */
export function timesOf({ start_timestamp: start = 0, end_timestamp: end = 0 }: TimesAsked) {
  return { ...(start > 0 && { fromMs: start * 1_000 }), ...(end > 0 && { untilMs: (end + 1) * 1_000 }) };
}
