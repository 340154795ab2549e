/** The log: one JSON line per message, with secrets masked where the line is made. */

/** One JSON line per message on stderr, with secrets masked. */
export interface Log {
  debug(message: string, facts?: Readonly<Record<string, unknown>>): void;
  info(message: string, facts?: Readonly<Record<string, unknown>>): void;
  warn(message: string, facts?: Readonly<Record<string, unknown>>): void;
  error(message: string, facts?: Readonly<Record<string, unknown>>): void;
  /** Whatever contains this is never written: it is replaced by `[secret]`. */
  hide(secret: string): void;
}

/** From the least important to the most. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** How a log is made. */
export interface LogOptions {
  /** The least important level that is written; `debug` also writes the stacks of errors. */
  readonly level: LogLevel;
  /** Gets each line, without its newline. What it throws is swallowed. */
  readonly write: (line: string) => void;
  /** Wall time, unix milliseconds. */
  readonly now: () => number;
  /** Stand in every line, before its own. */
  readonly facts?: Readonly<Record<string, string | number>>;
}

/** A log that writes `{ts, level, msg, ...facts}`. Its methods never throw, whatever the facts are. */
export function createLog(options: LogOptions): Log {
  const redactor = createRedactor();
  const at = (level: LogLevel) => {
    if (rank[level] < rank[options.level]) return () => {};
    return (message: string, facts?: Readonly<Record<string, unknown>>): void => {
      try {
        const copy = copier(redactor.redact, options.level === 'debug');
        const ts = new Date(options.now()).toISOString();
        const line: Record<string, unknown> = Object.assign(Object.create(null), {
          ts,
          level,
          msg: copy(message),
          ...options.facts,
        });
        for (const [name, value] of Object.entries(asFacts(copy(facts))))
          line[name in line ? `${name}_` : name] = value;
        options.write(oneLine(JSON.stringify(line)));
      } catch {
        // A log that cannot be written is no reason to fail what is being logged.
      }
    };
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), hide: redactor.hide };
}

const rank: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** JSON lets these stand unescaped; terminals and line readers act on them. */
function oneLine(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** What a copied fact record became, whatever it was. */
function asFacts(copied: unknown): object {
  if (copied === undefined) return {};
  return typeof copied === 'object' && copied !== null ? copied : { facts: copied };
}

// ---- facts

/** Characters of one string. */
const longestText = 8192;
/** Objects within objects. */
const deepest = 6;
/** Values of one line, those inside objects among them. */
const mostValues = 500;

/** Makes the copier of one line: it turns values into what JSON can say, short enough to be read, secrets masked. */
function copier(redact: (text: string) => string, stacks: boolean): (value: unknown) => unknown {
  const ancestors: object[] = [];
  let left = mostValues;

  // Masked before it is cut, so that no cut can leave half a secret behind.
  const text = (value: string): string => {
    const masked = redact(value);
    const over = masked.length - longestText;
    return over > 0 ? `${masked.slice(0, longestText)}… (${over} more)` : masked;
  };

  const object = (value: object): unknown => {
    const copied: Record<string, unknown> = Object.create(null);
    for (const name of value instanceof Error
      ? ['message', 'code', ...(stacks ? ['stack'] : [])]
      : Object.keys(value)) {
      if (left <= 0) {
        copied['…'] = 'cut off';
        break;
      }
      const member = copy(isSecretName(name) ? PLACEHOLDER : read(value, name));
      if (member !== undefined) copied[text(name)] = member;
    }
    return copied;
  };

  const list = (values: readonly unknown[]): unknown => {
    const copied: unknown[] = [];
    for (const value of values) {
      if (left <= 0) {
        copied.push('… cut off');
        break;
      }
      copied.push(copy(value) ?? null);
    }
    return copied;
  };

  const container = (value: object): unknown => {
    if (ancestors.includes(value)) return '[cyclic]';
    if (ancestors.length >= deepest) return '[deep]';
    ancestors.push(value);
    try {
      if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
      if (Array.isArray(value)) return list(value);
      const toJson = value instanceof Error ? undefined : read(value, 'toJSON');
      return typeof toJson === 'function' ? copy(toJson.call(value)) : object(value);
    } catch {
      return '[unreadable]';
    } finally {
      ancestors.pop();
    }
  };

  const copy = (value: unknown): unknown => {
    left -= 1;
    switch (typeof value) {
      case 'string':
        return text(value);
      case 'bigint':
        return String(value);
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'boolean':
        return value;
      case 'object':
        return value === null ? null : container(value);
      default:
        return undefined;
    }
  };

  return copy;
}

/** A member, or a word for the getter that threw. */
function read(from: object, name: string): unknown {
  try {
    return (from as Readonly<Record<string, unknown>>)[name];
  } catch {
    return '[unreadable]';
  }
}

// ---- secrets

const PLACEHOLDER = '[secret]';

/** A hidden string shorter than this would hide innocent text by chance. */
export const SHORTEST_SECRET = 8;

/** True where a field of this name holds a credential: `key`, `apiKey`, `x-api-key`, `SOME_API_KEY`, `webhookSecret`. */
export function isSecretName(name: string): boolean {
  if (!secretEnding.test(name)) return false;
  return secretWord.test(name.replace(/([a-z0-9])([A-Z])/g, '$1-$2'));
}
// The first is the cheap question that nearly every name answers with no.
const secretEnding = /(?:key|secret|token|password|passwd|passphrase|authorization|cookie|credentials?)$/i;
const secretWord = new RegExp(`(?:^|[^a-z0-9]|api)${secretEnding.source}`, 'i');

/** Knows secrets, and keeps them out of text. */
export interface Redactor {
  /** From now on this is masked, in every encoding it is likely to appear in. Shorter than eight characters: ignored. */
  hide(secret: string): void;
  /** The text with `[secret]` for every hidden string and for whatever looks like a credential. */
  redact(text: string): string;
}

/** Masks secrets in text: those it was told, and those that give themselves away by their looks. */
export function createRedactor(): Redactor {
  const spellings = new Set<string>();
  /** All of them; undefined while one of them is new: of many secrets in a row, only the last makes it worth the work. */
  let hidden: RegExp | undefined = NOTHING;

  const pass = (text: string): string => {
    hidden ??= anyOf(spellings);
    let masked = hidden === NOTHING ? text : text.replace(hidden, PLACEHOLDER);
    for (const [pattern, replacement] of looks) masked = masked.replace(pattern, replacement);
    return masked;
  };

  return {
    hide(secret) {
      if (secret.length < SHORTEST_SECRET || spellings.has(secret)) return;
      for (const spelling of spellingsOf(secret)) spellings.add(spelling);
      hidden = undefined;
    },
    redact(text) {
      if (text.length < SHORTEST_SECRET) return text;
      // A replacement can join its neighbours to a hidden string; hardly ever, so one pass that changes nothing ends it.
      let masked = text;
      for (let passes = 0; passes < 8; passes++) {
        const next = pass(masked);
        if (next === masked) break;
        masked = next;
      }
      return masked;
    },
  };
}

/**
 * What credentials look like. Each is linear in the text: a run is entered at its first character only, or is bounded.
 * None of them matches its own result differently.
 */
const looks: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]{1,40}-----[\s\S]*?(?:-----END [A-Z ]{1,40}-----|$)/g, PLACEHOLDER],
  [/(?<![A-Za-z0-9])sk[-_][A-Za-z0-9_-]{8,}/g, PLACEHOLDER],
  [/(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]+)?/g, PLACEHOLDER],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{12,}/gi, `$1 ${PLACEHOLDER}`],
  // `?key=…`, and the same in a form body.
  [/(key|token|secret|password|signature)=[^&\s"'#\\]+/gi, `$1=${PLACEHOLDER}`],
  // `"api_key": "…"`, also where the JSON itself stands in a JSON string.
  [
    /(["'][\w-]{0,40}(?:key|token|secret|password|authorization|cookie)\\{0,3}["']\s{0,8}:\s{0,8}\\{0,3}["'])[^"'\\]+/gi,
    `$1${PLACEHOLDER}`,
  ],
  // A header written out.
  [
    /\b((?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]{0,30}key|api-key):[^\S\n]*[^\s][^\r\n]*/gi,
    `$1: ${PLACEHOLDER}`,
  ],
  // A password inside an address.
  [/(:\/\/[^\s/@:]*:)[^\s/@]+@/g, `$1${PLACEHOLDER}@`],
];

/** The ways a secret is written in logs of others: as it is, inside JSON, in an address, in base64, in hexadecimal. */
function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const wellFormed = bytes.toString();
  const inAddress = [encodeURIComponent(wellFormed), new URLSearchParams({ '': wellFormed }).toString().slice(1)];
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].map((shift) => insideBase64(bytes, shift));
  return [
    secret,
    wellFormed,
    JSON.stringify(secret).slice(1, -1),
    ...inAddress,
    ...inAddress.map((text) => text.replace(/%[0-9A-F]{2}/g, (escaped) => escaped.toLowerCase())),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    hex,
    hex.toUpperCase(),
  ];
}

/** What base64 makes of the bytes, wherever they stand: the characters that no neighbour before or behind can change. */
function insideBase64(bytes: Buffer, shift: number): string {
  const shifted = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
  return shifted.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
}

/** Finds each of the texts. The longest first: an encoding may begin with another secret. */
function anyOf(texts: ReadonlySet<string>): RegExp {
  const longestFirst = [...texts].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map(literal).join('|'), 'g');
}
const NOTHING = /(?!)/g;

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** For whoever has nobody to talk to. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };
