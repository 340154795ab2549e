/** A channel that may serve a model: which clients it can serve, and what the model takes there. */
import type { Channel, Style, StyleName } from '../../core/plugin.ts';
import { isOneOf, layQuirks, type Quirks, quirksOfModel, type SomeQuirks } from '../../core/translation/index.ts';
import type { Configured } from './channels.ts';

/** Where a model may be had. */
export interface Source {
  readonly channel: Channel;
  /** The channel's own name for the model. */
  readonly model: string;
  /** How clients of a style are served there; undefined: they are not. Always the same object for the same style. */
  way(asked: StyleName): Way | undefined;
  /** How long questions and answers may be, in tokens, where that is known. */
  readonly limits: Pick<Quirks['limits'], 'context' | 'max_output'>;
  /** Whether a tool that a vendor runs is offered there to clients of a style: between two styles only a search is known. */
  runs(asked: StyleName, use: string): boolean;
  /** What its vendor and gateway.yaml say of it, without what is usual in a style; later ones win. */
  readonly said: { readonly ofModel: readonly SomeQuirks[]; readonly ofChannel: SomeQuirks };
}

/** In which style a channel is spoken to, and what the model takes in it. */
export interface Way {
  readonly style: StyleName;
  readonly quirks: Quirks;
}

/** A source as gateway.yaml describes it: a channel, its name for the model, and the model's own quirks. */
export function createSource(
  { channel, vendor, styles: speaks }: Configured,
  model: string,
  quirks: SomeQuirks,
  styles: ReadonlyMap<StyleName, Style>,
): Source {
  const ofVendor = quirksOfModel(vendor.quirks, model);
  const special = [...ofVendor, channel.quirks, quirks];
  const { style: only, limits } = layQuirks(...special);
  const spoken = speaks.filter((style) => isOneOf(vendor.speaks[style]?.models, model));
  const ways = new Map<StyleName, Way | undefined>();

  /** The client's own style where the channel has it, else the first one that it can be translated to. */
  function styleFor(asked: StyleName): StyleName | undefined {
    if (spoken.includes(asked)) return asked;
    if (styles.get(asked)?.client === undefined) return undefined;
    return spoken.find((style) => (only === undefined || style === only) && styles.get(style)?.vendor !== undefined);
  }

  function wayFor(asked: StyleName): Way | undefined {
    const style = styleFor(asked);
    if (style === undefined) return undefined;
    return { style, quirks: layQuirks(styles.get(style)?.vendor?.quirks ?? {}, ...special) };
  }

  function way(asked: StyleName): Way | undefined {
    if (!ways.has(asked)) ways.set(asked, wayFor(asked));
    return ways.get(asked);
  }

  return {
    channel,
    model,
    limits,
    said: { ofModel: [...ofVendor, quirks], ofChannel: channel.quirks },
    way,
    runs(asked, use) {
      const found = way(asked);
      if (found === undefined) return false;
      return found.style === asked || (use === 'web_search' && found.quirks.tools.web_search);
    },
  };
}
