/** A channel that serves a model: the client styles it can serve, and the model's quirks there. */
import type { Style, StyleName } from '../../core/plugin.ts';
import { isOneOf, layQuirks, type Quirks, quirksOfModel, type SomeQuirks } from '../../core/translation/index.ts';
import type { Configured } from './channels.ts';

/** The style of upstream requests, and the model's quirks in it. */
export interface Serving {
  readonly style: StyleName;
  readonly quirks: Quirks;
}

/** Creates a source from gateway.yaml: a channel, the upstream model, and the model's own quirks. */
export function createSource(
  { channel, keys, vendor, styles: speaks }: Configured,
  model: string,
  quirks: SomeQuirks,
  styles: ReadonlyMap<StyleName, Style>,
) {
  const ofVendor = quirksOfModel(vendor.quirks, model);
  const special = [...ofVendor, channel.quirks, quirks];
  const { style: only, limits } = layQuirks(...special);
  const spoken = speaks.filter((style) => isOneOf(vendor.speaks[style]?.models, model));
  const ways = new Map<StyleName, Serving | undefined>();

  /** The client's own style if the channel supports it, otherwise the first one that it can be translated to. */
  function styleFor(clientStyle: StyleName): StyleName | undefined {
    if (spoken.includes(clientStyle)) return clientStyle;
    if (styles.get(clientStyle)?.client === undefined) return undefined;
    return spoken.find((style) => (only === undefined || style === only) && styles.get(style)?.vendor !== undefined);
  }

  function wayFor(clientStyle: StyleName): Serving | undefined {
    const style = styleFor(clientStyle);
    if (style === undefined) return undefined;
    return { style, quirks: layQuirks(styles.get(style)?.vendor?.quirks ?? {}, ...special) };
  }

  function way(clientStyle: StyleName): Serving | undefined {
    if (!ways.has(clientStyle)) ways.set(clientStyle, wayFor(clientStyle));
    return ways.get(clientStyle);
  }

  return {
    channel,
    /** The channel with each of its keys. */
    keys,
    /** The upstream model. */
    model,
    /** Limits of input and output in tokens, if known. */
    limits,
    /** Quirks of its vendor and of gateway.yaml, in addition to those of the style; later ones win. */
    said: { ofModel: [...ofVendor, quirks], ofChannel: channel.quirks },
    /** How to serve clients of a style; undefined if impossible. Always the same object for the same style. */
    way,
    /** Whether clients of a style can use a tool of the vendor: between two styles only web search can be translated. */
    runs(clientStyle: StyleName, use: string): boolean {
      const found = way(clientStyle);
      if (found === undefined) return false;
      return found.style === clientStyle || (use === 'web_search' && found.quirks.tools.web_search);
    },
  };
}

/** A target of a model. */
export type Source = ReturnType<typeof createSource>;
