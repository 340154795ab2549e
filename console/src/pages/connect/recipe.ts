/** Recipes and how they are filled in. Pure: the tests use the same code. */

/** A text in both languages. */
export interface LocalizedText {
  readonly en: string;
  readonly zh: string;
}

/** The APIs that clients use. */
export const STYLES = ['chat', 'responses', 'messages'] as const;
/** A value of `STYLES`. */
export type Style = (typeof STYLES)[number];

/** The kinds of clients in the order in which they are listed. */
export const KINDS = ['cli', 'editor', 'app', 'sdk', 'shell'] as const;
/** A value of `KINDS`. */
export type Kind = (typeof KINDS)[number];

/**
 * Where a client calls from: the user's machine, a container, or servers of its maker, which reach only public
 * https addresses.
 */
export type CallsFrom = 'machine' | 'container' | 'cloud';

/** A snippet to save, run or enter. */
export interface Step {
  readonly title: LocalizedText;
  /** The path of the file: `~/.codex/config.toml`. */
  readonly file?: string;
  /** The language: `sh`, `json`, `toml`, `yaml`, `js`, `ts`, `python`; `text` has one field to fill in per line. */
  readonly language: string;
  readonly template: string;
  /** The snippet for PowerShell. */
  readonly powershell?: string;
}

/** A link that passes the settings to an application. */
export interface DeepLink {
  readonly title: LocalizedText;
  readonly url: string;
  /** Filled in first; the link contains it as `{{data}}`. */
  readonly data?: string;
}

/** A client and its setup. */
export interface Recipe {
  readonly name: string;
  readonly kind: Kind;
  readonly style: Style;
  readonly calls: CallsFrom;
  /** Its position within its kind, ascending. */
  readonly order: number;
  readonly notes?: readonly LocalizedText[];
  readonly links?: readonly DeepLink[];
  readonly steps: readonly Step[];
}

/** The values for recipes. */
export interface Values {
  /** The base URL without `/v1`. */
  readonly root: string;
  /** The base URL with `/v1`. */
  readonly base: string;
  readonly key: string;
  readonly model: string;
  /** The name of the gateway. */
  readonly name: string;
}

/** URL schemes that links may use. */
export const LINK_SCHEMES: readonly string[] = ['cherrystudio:', 'ccswitch:'];

/** `{{model}}`, `{{model|json}}`, `{{data|base64|url}}`. */
const PLACE = /\{\{\s*([a-z]+)((?:\s*\|\s*[a-z0-9]+)*)\s*\}\}/g;

/** Filters that encode a value. */
const FILTERS: Readonly<Record<string, (text: string) => string>> = {
  /** With quotes; valid in JSON, JavaScript, TypeScript, Python, TOML and YAML. */
  json: (text) => JSON.stringify(text),
  /** The same without quotes, for use within a quoted text. */
  inside: (text) => JSON.stringify(text).slice(1, -1),
  /** A word in a POSIX shell. */
  sh: (text) => (/^[\w./:@%+=,-]+$/.test(text) ? text : `'${shInside(text)}'`),
  /** Text within single quotes in a POSIX shell. */
  quoted: shInside,
  /** A PowerShell string. */
  ps: (text) => `'${psInside(text)}'`,
  /** Text within single quotes in PowerShell. */
  quotedps: psInside,
  url: (text) => encodeURIComponent(text),
  base64: (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text))),
};

function shInside(text: string): string {
  return text.replaceAll("'", "'\\''");
}

function psInside(text: string): string {
  return text.replaceAll("'", "''");
}

/** Fills in a template. Throws on an unknown name. */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(PLACE, (place, name: string, filters: string) => {
    let text = values[name];
    if (text === undefined) throw new Error(`there is nothing called ${place}`);
    for (const filter of filters.split('|').slice(1)) {
      const apply = FILTERS[filter.trim()];
      if (apply === undefined) throw new Error(`there is no filter for ${place}`);
      text = apply(text);
    }
    return text;
  });
}

/** The filled-in snippet of a step. */
export function fillStep({ template, powershell }: Step, values: Values, shell: 'sh' | 'powershell'): string {
  return fill(shell === 'powershell' && powershell !== undefined ? powershell : template, { ...values }).trimEnd();
}

/** The target of a link; undefined if the scheme is not allowed. */
export function fillLink({ url, data }: DeepLink, values: Values): string | undefined {
  const own = { ...values };
  const filled = fill(url, data === undefined ? own : { ...own, data: fill(data, own).trim() });
  return URL.canParse(filled) && LINK_SCHEMES.includes(new URL(filled).protocol) ? filled : undefined;
}
