/** Groups of channels: plays `enter`, which refuses keys whose group does not exist, and `admit`, which refuses models that the group does not reach. */
import { Catalog } from '../../core/contracts/catalog.ts';
import { Groups } from '../../core/contracts/groups.ts';
import { definePlugin, type Parts } from '../../core/plugin.ts';
import { decimalText } from '../../core/sdk.ts';
import { errors } from './errors.ts';
import { createGroups } from './groups.ts';
import { type GroupEntry, type GroupsSection, groupsSection, readGroups } from './section.ts';

export default definePlugin({
  name: 'groups',
  api: 2,
  errors,
  sections: { groups: groupsSection },
  needs: [Catalog],
  provides: [Groups],
  create(host, { groups: section }): Parts {
    // Without the section, nothing is restricted, and calls cost nothing.
    if (Object.keys(section).length === 0) return {};
    const entries = readGroups(section, host);
    const catalog = host.use(Catalog);
    const groups = createGroups(entries, catalog);
    host.provide(Groups, groups);
    return {
      enter({ identity }) {
        const name = groups.nameOf(identity);
        if (!entries.has(name)) throw errors.group_not_found(name);
      },
      admit(x) {
        groups.reachFor(x);
      },
      *explain(x) {
        const { key } = x.identity;
        const name = groups.nameOf(x.identity);
        yield `the group ${name}, that of the ${key.group === undefined ? 'account' : 'key'}`;
        const { group, channels, factor } = groups.reachFor(x);
        if (group !== name) yield `the group ${group} is the first of it that serves the model`;
        yield `channels: ${channels === undefined ? 'all' : [...channels].join(', ')}`;
        if (factor !== undefined) yield `calls pay ${decimalText(factor)} of the price`;
        yield { facts: { group } };
      },
      link() {
        for (const [group, { channels = [] }] of Object.entries(section)) {
          for (const [i, channel] of channels.entries()) {
            if (catalog.channel(channel) !== undefined) continue;
            host.problem(['groups', group, 'channels', i], `there is no channel '${channel}'`);
          }
        }
      },
      report: () => linesOf(section),
    };
  },
});

/** `group vip: channels main, fast; factor 0.8 (svip: 0.7); for keys of default` */
function linesOf(section: GroupsSection): readonly string[] {
  return Object.entries(section).map(([name, entry]) => `group ${name}: ${lineOf(entry)}`);
}

function lineOf({ channels, factor, factors = {}, of, for: audience = [] }: GroupEntry): string {
  const others = Object.entries(factors).map(([account, each]) => `${account}: ${each}`);
  const prices = [
    ...(factor === undefined ? [] : [`${factor}`]),
    ...(others.length > 0 ? [`(${others.join(', ')})`] : []),
  ];
  return [
    of === undefined ? channelsText(channels) : `the first of ${of.join(', ')} that serves the model`,
    ...(prices.length === 0 ? [] : [`factor ${prices.join(' ')}`]),
    ...(audience.length === 0 ? [] : [`chosen by users of ${audience.join(', ')}`]),
  ].join('; ');
}

function channelsText(channels: readonly string[] | undefined): string {
  if (channels === undefined) return 'all channels';
  return channels.length === 0 ? 'no channels' : `channels ${channels.join(', ')}`;
}
