/** A channel that serves a model: the client styles it can serve, and the model's quirks there. */
import type { Style, StyleName, ToolUse } from '../../core/plugin.ts';
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
  const { style: only, styles: served, limits, tools, reasoning } = layQuirks(...special);
  const spoken = among(
    speaks.filter((style) => isOneOf(vendor.speaks[style]?.models, model)),
    served,
  );
  /** The styles for any request: one with tools whose model reasons, too. */
  const complete = among(spoken, tools.thinking_styles);
  const plain = new Map<StyleName, Serving | undefined>();
  const whole = new Map<StyleName, Serving | undefined>();

  /**
   * The client's own style if the channel supports it, otherwise the first one that it can be translated to: one for any request before the
   * others.
   */
  function styleFor(clientStyle: StyleName, own: readonly StyleName[]): StyleName | undefined {
    if (own.includes(clientStyle)) return clientStyle;
    const canTranslate = (style: StyleName): boolean =>
      (only === undefined || style === only) && styles.get(style)?.vendor !== undefined;
    const other = styles.get(clientStyle)?.client && (complete.find(canTranslate) ?? spoken.find(canTranslate));
    return other ?? spoken.find((style) => style === clientStyle);
  }

  function wayFor(clientStyle: StyleName, own: readonly StyleName[]): Serving | undefined {
    const style = styleFor(clientStyle, own);
    if (style === undefined) return undefined;
    const ofStyle = quirksOfModel(vendor.quirks, model, style);
    return { style, quirks: layQuirks(styles.get(style)?.vendor?.quirks ?? {}, ...ofStyle, channel.quirks, quirks) };
  }

  function way(clientStyle: StyleName, toolUse?: ToolUse): Serving | undefined {
    const reasons = toolUse !== undefined && thinks(toolUse, reasoning);
    const ways = reasons ? whole : plain;
    if (!ways.has(clientStyle)) ways.set(clientStyle, wayFor(clientStyle, reasons ? complete : spoken));
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
    /** How to serve a call of a style; undefined if impossible. Always one of two objects for the same style. */
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

/** Those that are allowed. If none is, all: what gateway.yaml lists counts. */
function among(styles: readonly StyleName[], allowed: readonly StyleName[] | undefined): readonly StyleName[] {
  const left = allowed === undefined ? styles : styles.filter((style) => allowed.includes(style));
  return left.length === 0 ? styles : left;
}

/** Whether a model reasons in a request with tools. */
function thinks(toolUse: ToolUse, { unasked, levels }: Quirks['reasoning']): boolean {
  if (toolUse === 'unsaid') return unasked;
  return toolUse === 'reasoning' || !levels.includes('none');
}
