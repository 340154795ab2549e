/** What `turnpike check` says about models and channels. */
import type { Style, StyleName } from '../../core/plugin.ts';
import type { ModelCatalog } from './catalog.ts';
import type { Channels } from './channels.ts';

/** The lines: how many there are, what is off, what is translated where. */
export function reportLines(
  channels: Channels,
  catalog: ModelCatalog,
  styles: ReadonlyMap<StyleName, Style>,
): readonly string[] {
  const { counts, off } = catalog;
  return [
    `${count(counts.models, 'model')}, ${count(counts.aliases, 'alias', 'aliases')}, ${count(channels.all.length, 'channel')}`,
    ...channels.all
      .filter((configured) => configured.off)
      .map(({ channel }) => `channel ${channel.name} is off: its key is empty`),
    ...off.map((name) => `model ${name} is off: so are all its channels`),
    ...catalog
      .patterns()
      .map(({ name }) => `models ${name}: every name like this can be called; lists do not show them`),
    ...translations(catalog, styles),
  ];
}

/** `translated: chat, responses → messages at claude, claude-eu`; channels that are alike share a line. */
function translations(catalog: ModelCatalog, styles: ReadonlyMap<StyleName, Style>): readonly string[] {
  /** By channel and the style spoken there, the styles of its clients. */
  const asked = new Map<
    string,
    { readonly channel: string; readonly spoken: StyleName; readonly by: Set<StyleName> }
  >();
  for (const name of catalog.names()) {
    const { from, only } = catalog.require(name);
    for (const { name: style, ingress } of styles.values()) {
      if (ingress === undefined || only?.includes(style) === false) continue;
      for (const source of from) {
        const spoken = source.way(style)?.style;
        if (spoken === undefined || spoken === style) continue;
        const channel = source.channel.name;
        const entry = asked.get(`${channel}\n${spoken}`) ?? { channel, spoken, by: new Set() };
        asked.set(`${channel}\n${spoken}`, entry);
        entry.by.add(style);
      }
    }
  }
  const lines = new Map<string, string[]>();
  for (const { channel, spoken, by } of asked.values()) {
    const line = `translated: ${[...by].join(', ')} → ${spoken} at`;
    lines.set(line, [...(lines.get(line) ?? []), channel]);
  }
  return [...lines].map(([line, names]) => `${line} ${names.join(', ')}`);
}

function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}
