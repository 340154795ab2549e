/** The service `Groups`: which channels a caller reaches, and at which factor. */

import type { Catalog } from '../../core/contracts/catalog.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { DEFAULT_GROUP, type GroupChoice, type Groups, isReached, type Reach } from '../../core/contracts/groups.ts';
import type { Holder } from '../../core/contracts/identity.ts';
import { boundedMap, decimalText } from '../../core/sdk.ts';
import { errors } from './errors.ts';
import { type Group, reachesOf } from './section.ts';

/** More than a gateway has of groups times groups of accounts. */
const MOST_CACHED = 10_000;

export function createGroups(groups: ReadonlyMap<string, Group>, catalog: Catalog): Groups {
  // By the names of both groups, which have no space.
  const cached = boundedMap<string, readonly Reach[]>(MOST_CACHED);

  const nameOf: Groups['nameOf'] = ({ key, account }) => key.group ?? account.group ?? DEFAULT_GROUP;

  /** None if the group has no entry. */
  function reaches(holder: Holder): readonly Reach[] {
    const group = groups.get(nameOf(holder));
    if (group === undefined) return [];
    const accountGroup = holder.account.group ?? DEFAULT_GROUP;
    const name = `${group.name} ${accountGroup}`;
    const known = cached.get(name);
    if (known !== undefined) return known;
    const found = reachesOf(groups, group, accountGroup);
    cached.set(name, found);
    return found;
  }

  const isServed = (reach: Reach, from: readonly { readonly channel: { readonly name: string } }[]): boolean =>
    from.some(({ channel }) => isReached(reach, channel.name));

  const reachOf: Groups['reachOf'] = (holder, model) => {
    const { from } = catalog.require(model, holder);
    return reaches(holder).find((reach) => isServed(reach, from));
  };
  const reachOfChannel: Groups['reachOfChannel'] = (holder, channel) =>
    reaches(holder).find((reach) => isReached(reach, channel));

  function choiceFor(group: Group, accountGroup: string): GroupChoice {
    const factor = group.factorFor(accountGroup);
    if (group.hasMembers) return { name: group.name, factor: undefined };
    return { name: group.name, factor: factor === undefined ? '1' : decimalText(factor) };
  }

  return {
    nameOf,
    all: (accountGroup = DEFAULT_GROUP) => [...groups.values()].map((group) => choiceFor(group, accountGroup)),
    choices: (accountGroup = DEFAULT_GROUP) =>
      [...groups.values()]
        .filter(({ audience }) => audience.has(accountGroup))
        .map((group) => choiceFor(group, accountGroup)),
    serves(name, model) {
      const group = groups.get(name);
      if (group === undefined) return false;
      const { from } = catalog.require(model);
      return reachesOf(groups, group, DEFAULT_GROUP).some((reach) => isServed(reach, from));
    },
    reachOf,
    reachOfChannel,
    reachFor(x) {
      const { identity, passthrough, call } = x;
      const name = nameOf(identity);
      if (!groups.has(name)) throw errors.group_not_found(name);
      const reach =
        passthrough === undefined
          ? reachOf(identity, call.model)
          : reachOfChannel(identity, passthrough.target(x).channel.name);
      if (reach !== undefined) return reach;
      const what = passthrough === undefined ? `the model "${call.model}"` : passthrough.prefix;
      throw coreErrors.model_not_allowed(identity.key.name, `${what}: its group "${name}" does not reach it`);
    },
  };
}
