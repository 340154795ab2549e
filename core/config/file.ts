/** Reads gateway.yaml: text to plain values, `${…}` filled in, and every place known by line and column. */
import { readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import type { Document } from 'yaml';
import { createRedactor, SHORTEST_SECRET } from '../log.ts';
import { unreadable } from './interpolation.ts';
import { fillIn, offsetOf, type Path, parseYaml } from './yaml.ts';

/** A mistake, and where it stands. Lines and columns begin with 1. */
export interface Problem {
  readonly line: number;
  readonly column: number;
  /** `channels[0].vendor`; empty for the file itself. */
  readonly path: string;
  readonly message: string;
}

/** The configuration as it was read, and a place for what is wrong with it. */
export interface ConfigFile {
  /** Absolute. */
  readonly file: string;
  /** Paths inside the file are relative to it. */
  readonly dir: string;
  readonly text: string;
  /** `${…}` filled in. */
  readonly value: Readonly<Record<string, unknown>>;
  /** False where the text is no map of sections at all: the problems say why, and there is nothing in `value` to check. */
  readonly readable: boolean;
  /**
   * What was filled in where a field or a variable is named key, secret, token or password, and what looks like a
   * credential; eight characters or more each. For `Log.hide`.
   */
  readonly secrets: readonly string[];
  /** Grows while it is checked. */
  readonly problems: Problem[];
  readonly warnings: Problem[];
  /**
   * Reports a mistake. It is placed at the deepest part of the path that exists, at the key where that is a member of a map.
   * Secrets in the message are masked.
   */
  problem(path: Path, message: string): void;
  /** Reports something that works and is unwise. */
  warn(path: Path, message: string): void;
}

/** The configuration is wrong. The message holds every problem, one `file:line:column: path: message` each. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];
  constructor(file: string, problems: readonly Problem[]) {
    const sorted = [...problems].sort((a, b) => a.line - b.line || a.column - b.column);
    super(sorted.map((problem) => problemLine(file, problem)).join('\n'));
    this.problems = sorted;
  }
}

/** What the log says of a configuration that was not taken. */
export function reasons(error: unknown): Record<string, unknown> {
  return error instanceof ConfigError ? { problems: error.message.split('\n') } : { error };
}

/** `gateway.yaml:12:5: channels[0].vendor: …`, with the file as seen from the working directory. */
export function problemLine(file: string, { line, column, path, message }: Problem): string {
  const near = relative(process.cwd(), file);
  const name = near.startsWith('..') || isAbsolute(near) ? file : near;
  return `${name}:${line}:${column}: ${path === '' ? '' : `${path}: `}${message}`;
}

/** What environment variables there are. */
type Env = Readonly<Record<string, string | undefined>>;

/** Reads the file. Throws nothing: whatever is wrong with it stands in `problems`. */
export function readConfig(file: string, env: Env): ConfigFile {
  return configOf(file, readText(resolve(file)), env);
}

/** Looks at a document before `${…}` is filled in, and may change it. */
export type Prepare = (doc: Document, problem: ConfigFile['problem']) => void;

/** A text as if it stood in the file. Nothing is read but what `prepare` leaves. */
export function draftConfig(file: string, text: string, env: Env, prepare: Prepare): ConfigFile {
  return configOf(file, Buffer.byteLength(text) > longestFile ? TOO_LONG : { text }, env, prepare);
}

function configOf(file: string, { text, trouble }: FileText, env: Env, prepare?: Prepare): ConfigFile {
  const absolute = resolve(file);
  const dir = dirname(absolute);
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const secrets = new Set<string>();
  const redactor = createRedactor();

  const yaml = parseYaml(text);
  const place = (offset: number, path: Path, message: string): Problem => ({
    ...yaml.position(offset),
    path: redactor.redact(pathText(path)),
    message: redactor.redact(message),
  });
  const problem = (path: Path, message: string) => {
    problems.push(place(offsetOf(yaml.doc, path), path, message));
  };
  const warn = (path: Path, message: string) => {
    warnings.push(place(offsetOf(yaml.doc, path), path, message));
  };
  const secret = (value: string) => {
    if (value.length < SHORTEST_SECRET) return;
    secrets.add(value);
    redactor.hide(value);
  };

  if (trouble !== undefined) problem([], trouble);
  for (const { offset, message } of yaml.problems) problems.push(place(offset, [], message));
  if (yaml.sound) prepare?.(yaml.doc, problem);
  // Said once every secret is known: what is wrong in one place may quote what stands in another.
  const sayings: (() => void)[] = [];
  const findings = {
    problem: (...said: Parameters<typeof problem>) => void sayings.push(() => problem(...said)),
    warn: (...said: Parameters<typeof warn>) => void sayings.push(() => warn(...said)),
    secret,
  };
  const value = trouble === undefined && yaml.sound ? fillIn(yaml.doc, dir, env, findings) : undefined;
  for (const say of sayings) say();
  return {
    file: absolute,
    dir,
    text,
    value: value ?? {},
    readable: value !== undefined,
    secrets: [...secrets],
    problems,
    warnings,
    problem,
    warn,
  };
}

/** `['channels', 0, 'vendor']` as people write it: `channels[0].vendor`. */
export function pathText(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!/^[\w$-]+$/.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}

/** A file larger than this is no configuration, and could keep the parser busy. */
const longestFile = 256 * 1024;

interface FileText {
  readonly text: string;
  readonly trouble?: string;
}
const TOO_LONG: FileText = { text: '', trouble: 'the file is larger than 256 KiB' };

function readText(file: string): FileText {
  try {
    const tooLong = statSync(file).size > longestFile;
    const bytes = tooLong ? Buffer.alloc(0) : readFileSync(file);
    if (tooLong || bytes.length > longestFile) return TOO_LONG;
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return { text: '', trouble: 'the file is not text in UTF-8' };
    const remedy = code === 'ENOENT' || code === 'ENOTDIR' ? '; --config FILE or TURNPIKE_CONFIG says where it is' : '';
    return { text: '', trouble: `the file ${unreadable(error)}${remedy}` };
  }
}
