/** The output of `turnpike check` about models and channels. */
import type { Style, StyleName } from '../../core/plugin.ts';
import type { ModelCatalog } from './catalog.ts';
import type { Channels } from './channels.ts';

/** The lines: counts, what is off, and which translations happen. */
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

/** `translated: chat, responses → messages at claude, claude-eu`; channels with the same translations share a line. */
function translations(catalog: ModelCatalog, styles: ReadonlyMap<StyleName, Style>): readonly string[] {
  /** The translated client styles, by channel and upstream style. */
  const groups = new Map<
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
        const entry = groups.get(`${channel}\n${spoken}`) ?? { channel, spoken, by: new Set() };
        groups.set(`${channel}\n${spoken}`, entry);
        entry.by.add(style);
      }
    }
  }
  const lines = new Map<string, string[]>();
  for (const { channel, spoken, by } of groups.values()) {
    const line = `translated: ${[...by].join(', ')} → ${spoken} at`;
    lines.set(line, [...(lines.get(line) ?? []), channel]);
  }
  return [...lines].map(([line, names]) => `${line} ${names.join(', ')}`);
}

function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}
