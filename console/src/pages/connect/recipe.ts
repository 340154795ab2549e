/** What a recipe is, and how it is filled in. Pure: the tests read recipes with the same code. */

/** A text in both languages. */
export interface Said {
  readonly en: string;
  readonly zh: string;
}

/** The styles that clients call in. */
export const STYLES = ['chat', 'responses', 'messages'] as const;
/** One of them. */
export type Style = (typeof STYLES)[number];

/** What clients are, in the order in which they are offered. */
export const KINDS = ['cli', 'editor', 'app', 'sdk', 'shell'] as const;
/** One of them. */
export type Kind = (typeof KINDS)[number];

/**
 * Where a client calls from: the machine of whoever uses it, a container on some machine, or servers of its maker, which reach public
 * https addresses only.
 */
export type CallsFrom = 'machine' | 'container' | 'cloud';

/** Something to write down, to run or to type in. */
export interface Step {
  readonly title: Said;
  /** Where it is written down: `~/.codex/config.toml`. */
  readonly file?: string;
  /** What it is: `sh`, `json`, `toml`, `yaml`, `js`, `ts`, `python`; `text` are fields to fill in, one on a line. */
  readonly language: string;
  readonly template: string;
  /** The same for PowerShell. */
  readonly powershell?: string;
}

/** An address that hands the settings to an application. */
export interface DeepLink {
  readonly title: Said;
  readonly url: string;
  /** Filled in first; the address has it as `{{data}}`. */
  readonly data?: string;
}

/** A client and how it is connected. */
export interface Recipe {
  readonly name: string;
  readonly kind: Kind;
  readonly style: Style;
  readonly calls: CallsFrom;
  /** Where it stands among others of its kind; the lowest first. */
  readonly order: number;
  readonly notes?: readonly Said[];
  readonly links?: readonly DeepLink[];
  readonly steps: readonly Step[];
}

/** What recipes are filled in with. */
export interface Values {
  /** The address without `/v1`. */
  readonly root: string;
  /** The address with it. */
  readonly base: string;
  readonly key: string;
  readonly model: string;
  /** What the gateway is called. */
  readonly name: string;
}

/** Where links may lead. */
export const LINK_SCHEMES: readonly string[] = ['cherrystudio:', 'ccswitch:'];

/** `{{model}}`, `{{model|json}}`, `{{data|base64|url}}`. */
const PLACE = /\{\{\s*([a-z]+)((?:\s*\|\s*[a-z0-9]+)*)\s*\}\}/g;

/** What can be done to a value before it stands in its place. */
const FILTERS: Readonly<Record<string, (text: string) => string>> = {
  /** With its quotes; good for JSON, JavaScript, TypeScript, Python, TOML and YAML alike. */
  json: (text) => JSON.stringify(text),
  /** The same without the quotes, to stand among other text inside them. */
  inside: (text) => JSON.stringify(text).slice(1, -1),
  /** A word of a shell. */
  sh: (text) => (/^[\w./:@%+=,-]+$/.test(text) ? text : `'${shInside(text)}'`),
  /** Inside single quotes of a shell. */
  quoted: shInside,
  /** A text of PowerShell. */
  ps: (text) => `'${psInside(text)}'`,
  /** Inside single quotes of PowerShell. */
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

/** A template with everything in its place. Throws where it names something that there is not. */
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

/** What is to be written, run or typed in a step. */
export function fillStep({ template, powershell }: Step, values: Values, shell: 'sh' | 'powershell'): string {
  return fill(shell === 'powershell' && powershell !== undefined ? powershell : template, { ...values }).trimEnd();
}

/** Where a link leads; undefined where nobody should follow it. */
export function fillLink({ url, data }: DeepLink, values: Values): string | undefined {
  const own = { ...values };
  const filled = fill(url, data === undefined ? own : { ...own, data: fill(data, own).trim() });
  return URL.canParse(filled) && LINK_SCHEMES.includes(new URL(filled).protocol) ? filled : undefined;
}
