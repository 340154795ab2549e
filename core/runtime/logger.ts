/** The logger: one line per message, as JSON or as text; secrets are masked when the line is created. */
import { isSecretName, SHORTEST_SECRET, withoutSecrets } from './secrets.ts';

/** One line per message on stderr, with secrets masked. */
export interface Log {
  debug(message: string, facts?: Readonly<Record<string, unknown>>): void;
  info(message: string, facts?: Readonly<Record<string, unknown>>): void;
  warn(message: string, facts?: Readonly<Record<string, unknown>>): void;
  error(message: string, facts?: Readonly<Record<string, unknown>>): void;
  /** Registers a secret: it is replaced by `[secret]` in every line. */
  hide(secret: string): void;
}

/** In order of increasing severity. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** The levels, in order of increasing severity. */
export const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** `json`: one object per line, for programs. `text`: for people. */
export type LogFormat = 'json' | 'text';

/** What can be changed while the logger is used. */
export interface LogSettings {
  /** The lowest level that is written; `debug` also writes stacks of errors. Undefined: that of the options. */
  readonly level?: LogLevel | undefined;
  readonly format: LogFormat;
  /** Levels of single plugins, by their names; those of all others are `level`. */
  readonly plugins: Readonly<Record<string, LogLevel>>;
}

/** The logger of a process. */
export interface ProcessLog extends Log {
  /** The logger of a plugin: its lines have the fact `plugin`, and a level of their own if the settings have one. */
  of(plugin: string): Log;
  /** Replaces the settings, for the loggers of plugins, too. */
  configure(settings: LogSettings): void;
}

/** Options of a logger. */
export interface LogOptions {
  /** The lowest level that is written, unless the settings have one; `debug` also writes stacks of errors. */
  readonly level: LogLevel;
  /** Gets each line, without its newline. Its errors are ignored. */
  readonly write: (line: string) => void;
  /** Wall time, unix milliseconds. */
  readonly now: () => number;
  /** Members of every line, before its own facts. */
  readonly facts?: Readonly<Record<string, string | number>>;
}

/** A logger that writes `{ts, level, msg, ...facts}`. Its methods never throw, whatever the facts are. */
export function createLog(options: LogOptions): ProcessLog {
  const redactor = createRedactor();
  let settings: LogSettings = { format: 'json', plugins: {} };

  function loggerOf(plugin?: string): Log {
    const own = plugin === undefined ? options.facts : { ...options.facts, plugin };
    const at =
      (level: LogLevel) =>
      (message: string, facts?: Readonly<Record<string, unknown>>): void => {
        const { plugins } = settings;
        const isNamed = plugin !== undefined && Object.hasOwn(plugins, plugin);
        const lowest = isNamed ? plugins[plugin]! : (settings.level ?? options.level);
        if (rank[level] < rank[lowest]) return;
        try {
          const copy = copier(redactor.redact, lowest === 'debug');
          const ts = new Date(options.now()).toISOString();
          const line: Record<string, unknown> = Object.assign(Object.create(null), {
            ts,
            level,
            msg: copy(message),
            ...own,
          });
          for (const [name, value] of Object.entries(asFacts(copy(facts))))
            line[name in line ? `${name}_` : name] = value;
          options.write(oneLine(settings.format === 'json' ? JSON.stringify(line) : asText(line)));
        } catch {
          // A failure to log must not fail the logged operation.
        }
      };
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), hide: redactor.hide };
  }

  return {
    ...loggerOf(),
    of: loggerOf,
    configure(changed) {
      settings = changed;
    },
  };
}

/** A level by its name, as an environment variable has it; `info` if there is none of that name. */
export function logLevelOf(name: string | undefined): LogLevel {
  return LOG_LEVELS.find((level) => level === name) ?? 'info';
}

const rank: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** JSON does not escape these characters; terminals and line readers interpret them. */
function oneLine(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** `2026-01-31T12:00:00.000Z WARN  circuit opened  channel=main reason="connection refused"` */
function asText({ ts, level, msg, ...facts }: Record<string, unknown>): string {
  const message = JSON.stringify(msg).slice(1, -1).replaceAll('\\"', '"');
  const rest = Object.entries(facts).map(([name, value]) => `${shortest(name)}=${shortest(value)}`);
  return [`${ts} ${String(level).toUpperCase().padEnd(5)} ${message}`, rest.join(' ')].filter(Boolean).join('  ');
}

/** A value as JSON, without quotation marks if they are not needed. */
function shortest(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/@+%-]+$/.test(value) ? value : JSON.stringify(value);
}

/** A copied fact. */
function asFacts(copied: unknown): object {
  if (copied === undefined) return {};
  return typeof copied === 'object' && copied !== null ? copied : { facts: copied };
}

// ---- facts

/** Maximum characters of a string. */
const longestText = 8192;
/** Maximum nesting of objects. */
const deepest = 6;
/** Maximum values of one line, nested ones included. */
const mostValues = 500;

/** Creates the copier of one line: it converts values to short JSON with secrets masked. */
function copier(redact: (text: string) => string, stacks: boolean): (value: unknown) => unknown {
  const ancestors: object[] = [];
  let left = mostValues;

  // Masked before it is cut, so that no part of a secret remains.
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
      const found = isSecretName(name) ? PLACEHOLDER : read(value, name);
      const member = copy(value instanceof SyntaxError ? withoutParsed(found) : found);
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

/** A member, or a placeholder if its getter threw. */
function read(from: object, name: string): unknown {
  try {
    return (from as Readonly<Record<string, unknown>>)[name];
  } catch {
    return '[unreadable]';
  }
}

/** `JSON.parse` quotes what it cannot parse, which may be of a request or an answer. */
export function withoutParsed<T>(message: T): T | string {
  if (typeof message !== 'string') return message;
  return message.replace(/(?:\.{3})?".*"(?:\.{3})? is not valid JSON/s, 'not valid JSON');
}

// ---- secrets

const PLACEHOLDER = '[secret]';

/** Knows secrets and removes them from text. */
export interface Redactor {
  /** Masks this secret from now on, in all common encodings. Ignored if shorter than eight characters. */
  hide(secret: string): void;
  /** The text with `[secret]` for every registered secret and for everything that looks like a credential. */
  redact(text: string): string;
}

/** Masks secrets in text: registered ones, and those recognized by their form. */
export function createRedactor(): Redactor {
  const spellings = new Set<string>();
  /** The pattern of all secrets; undefined while one is new: if many are added, it is compiled only once. */
  let hidden: RegExp | undefined = NOTHING;

  const pass = (text: string): string => {
    hidden ??= anyOf(spellings);
    return withoutSecrets(hidden === NOTHING ? text : text.replace(hidden, PLACEHOLDER), PLACEHOLDER);
  };

  return {
    hide(secret) {
      if (secret.length < SHORTEST_SECRET || spellings.has(secret)) return;
      for (const spelling of spellingsOf(secret)) spellings.add(spelling);
      hidden = undefined;
    },
    redact(text) {
      if (text.length < SHORTEST_SECRET) return text;
      // A replacement may join its neighbours to another secret; rarely, so passes repeat until one changes nothing.
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

/** The encodings of a secret in other programs' logs: plain, JSON, URL, as a host name (in lower case), base64, hexadecimal. */
function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const wellFormed = bytes.toString();
  const inAddress = [encodeURIComponent(wellFormed), new URLSearchParams({ '': wellFormed }).toString().slice(1)];
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].map((shift) => insideBase64(bytes, shift));
  return [
    secret,
    wellFormed,
    wellFormed.toLowerCase(),
    JSON.stringify(secret).slice(1, -1),
    ...inAddress,
    ...inAddress.map((text) => text.replace(/%[0-9A-F]{2}/g, (escaped) => escaped.toLowerCase())),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    hex,
    hex.toUpperCase(),
  ];
}

/** The base64 of the bytes at each alignment: only characters that do not depend on neighbouring bytes. */
function insideBase64(bytes: Buffer, shift: number): string {
  const shifted = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
  return shifted.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
}

/** A pattern for all texts, the longest first: an encoding may start with another secret. */
function anyOf(texts: ReadonlySet<string>): RegExp {
  const longestFirst = [...texts].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map(literal).join('|'), 'g');
}
const NOTHING = /(?!)/g;

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** A logger that discards everything. */
export const silentLog: ProcessLog = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  hide() {},
  of: () => silentLog,
  configure() {},
};
