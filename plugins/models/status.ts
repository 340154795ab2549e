/** The state of the channels, for administrators. */
import type { ChannelState, ChannelStatus } from '../../core/contracts/catalog.ts';
import type { Clock } from '../../core/plugin.ts';
import type { ModelCatalog } from './catalog.ts';
import type { Channels, Configured } from './channels.ts';
import type { Health } from './health.ts';
import type { Recent } from './recent.ts';

/** From healthy to unavailable. */
const WORSE: readonly ChannelState[] = ['closed', 'half-open', 'open'];

/** All channels, in the order of the section. */
export function channelStatus(
  channels: Channels,
  catalog: ModelCatalog,
  health: Health,
  clock: Clock,
  recent: Recent,
): readonly ChannelStatus[] {
  const models = [...new Set(catalog.names().map((name) => catalog.require(name)))];

  return channels.all.map(({ channel, off }: Configured) => {
    const served = models.flatMap(({ name, from }) =>
      from
        .filter((source) => source.channel === channel)
        .map(({ model }) => ({ name, model, ...health.look(channel, model) })),
    );
    const state = WORSE.findLast((each) => served.some((target) => target.state === each)) ?? 'closed';
    const untilMs = Math.max(...served.map((target) => target.untilMs ?? 0), 0);
    return {
      name: channel.name,
      vendor: channel.vendor,
      on: !off,
      weight: channel.weight,
      priority: channel.priority,
      state,
      untilMs: state === 'open' ? Math.round(clock.now() + untilMs - clock.mono()) : undefined,
      lastFailure: health.lastFailure(channel),
      recent: recent.look(channel.name),
      models: served.map(({ name, model, state: its, failures }) => ({ name, model, state: its, failures })),
    };
  });
}
