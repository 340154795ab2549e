/** The section `groups` of gateway.yaml: its schema, and the groups that it describes. */
import { DEFAULT_GROUP, GROUP_NAME, type Reach } from '../../core/contracts/groups.ts';
import { type Accepted, type Host, typed } from '../../core/plugin.ts';
import { type Decimal, decimal, nearest } from '../../core/sdk.ts';

const name = { type: 'string', pattern: GROUP_NAME } as const;
const factor = { type: 'number', minimum: 0, maximum: 1_000 } as const;

/** Its schema. Without the section there are no groups, so its default is none. */
export const groupsSection = typed({
  description:
    'Groups of channels, by name. A call uses the group of its key, by default that of its account (`default`). It reaches only channels of the group, and pays its factor of the price. Without this section, every key reaches every channel.',
  type: 'object',
  default: {},
  propertyNames: { pattern: GROUP_NAME },
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    properties: {
      channels: {
        description: 'The channels that calls of this group may use; default: all.',
        type: 'array',
        uniqueItems: true,
        items: { type: 'string', minLength: 1 },
      },
      factor: { ...factor, description: 'The part of the price that calls of this group pay: 0 is free. Default: 1.' },
      factors: {
        description: 'Another factor for accounts of a group, by that group.',
        type: 'object',
        propertyNames: { pattern: GROUP_NAME },
        additionalProperties: factor,
      },
      of: {
        description:
          'Instead of channels: other groups. A call uses the first of them that has a channel of its model, and pays the factor of that group.',
        type: 'array',
        minItems: 1,
        uniqueItems: true,
        items: name,
      },
      for: {
        description:
          'Users with an account of these groups may choose this group for their keys; default: only administrators can.',
        type: 'array',
        uniqueItems: true,
        items: name,
      },
    },
  },
});

/** The entries, by name. */
export type GroupsSection = Accepted<typeof groupsSection>;
/** An entry as it is written. */
export type GroupEntry = GroupsSection[string];

/** A group that is ready for use. */
export interface Group {
  readonly name: string;
  /** Itself or, with `of`, the groups that it stands for, in order. */
  readonly members: readonly string[];
  readonly hasMembers: boolean;
  readonly channels: ReadonlySet<string> | undefined;
  /** The groups of accounts whose users may choose it. */
  readonly audience: ReadonlySet<string>;
  /** The factor for accounts of a group; undefined: 1. */
  factorFor(accountGroup: string): Decimal | undefined;
}

/** What an entry with `of` has from the groups that it names. */
const OF_MEMBERS = ['channels', 'factor', 'factors'] as const;

/** Reads the entries, and reports what a schema cannot check. Unknown names are left out. */
export function readGroups(section: GroupsSection, host: Pick<Host, 'problem' | 'warn'>): ReadonlyMap<string, Group> {
  const names = Object.keys(section);
  for (const [group, entry] of Object.entries(section)) {
    if (entry.of === undefined) continue;
    for (const [i, each] of entry.of.entries()) {
      if (section[each] !== undefined) continue;
      const similar = nearest(each, names);
      const hint = similar === undefined ? '' : `; did you mean ${similar}?`;
      host.problem(['groups', group, 'of', i], `there is no group '${each}'${hint}`);
    }
    for (const field of OF_MEMBERS) {
      if (entry[field] === undefined) continue;
      host.problem(['groups', group, field], `a group with \`of\` has the ${field} of the groups that it names`);
    }
    const circle = circleOf(section, group);
    if (circle !== undefined) host.problem(['groups', group, 'of'], `groups form a cycle: ${circle.join(' → ')}`);
  }
  if (section[DEFAULT_GROUP] === undefined) {
    host.warn(
      ['groups'],
      `there is no group \`${DEFAULT_GROUP}\`, which accounts have if no other is set: calls of their keys are refused (group_not_found)`,
    );
  }
  return new Map(Object.entries(section).map(([group, entry]) => [group, read(group, entry, section)]));
}

function read(group: string, entry: GroupEntry, section: GroupsSection): Group {
  const usual = factorOf(entry.factor);
  const others = new Map(Object.entries(entry.factors ?? {}).map(([account, each]) => [account, factorOf(each)]));
  return {
    name: group,
    members: [...membersOf(section, group, new Set())],
    hasMembers: entry.of !== undefined,
    channels: entry.channels && new Set(entry.channels),
    audience: new Set(entry.for),
    factorFor: (account) => (others.has(account) ? others.get(account) : usual),
  };
}

const factorOf = (written: number | undefined): Decimal | undefined =>
  written === undefined || written === 1 ? undefined : decimal(written);

/** The groups at the end of `of`, each once, in order. */
function* membersOf(section: GroupsSection, group: string, seen: Set<string>): Iterable<string> {
  if (seen.has(group)) return;
  seen.add(group);
  const entry = section[group];
  if (entry === undefined) return;
  if (entry.of === undefined) yield group;
  else for (const each of entry.of) yield* membersOf(section, each, seen);
}

/** The way from a group back to itself; undefined if there is none. */
function circleOf(section: GroupsSection, group: string): readonly string[] | undefined {
  const seen = new Set<string>();
  function walk(at: string, way: readonly string[]): readonly string[] | undefined {
    for (const each of section[at]?.of ?? []) {
      if (each === group) return [...way, each];
      if (seen.has(each)) continue;
      seen.add(each);
      const found = walk(each, [...way, each]);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return walk(group, [group]);
}

/** What accounts of a group reach through a group: one reach for each of its members. */
export function reachesOf(
  groups: ReadonlyMap<string, Group>,
  { members }: Group,
  accountGroup: string,
): readonly Reach[] {
  return members.map((name) => {
    const member = groups.get(name)!;
    return { group: name, channels: member.channels, factor: member.factorFor(accountGroup) };
  });
}
