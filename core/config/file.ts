/** Reads gateway.yaml: plain values with `${…}` filled in, and line and column of every path. */

import { readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import type { Document } from 'yaml';
import { createRedactor } from '../runtime/logger.ts';
import { SHORTEST_SECRET } from '../runtime/secrets.ts';
import type { coreSections } from './core-sections.ts';
import { type Env, readEnvironment, unreadable } from './environment.ts';
import type { Sources } from './interpolation.ts';
import { type Findings, fillIn, offsetOf, type Path, parseYaml } from './yaml.ts';

/** A mistake and its location. Lines and columns start at 1. */
export interface Problem {
  readonly line: number;
  readonly column: number;
  /** `channels[0].vendor`; empty for the file itself. */
  readonly path: string;
  readonly message: string;
}

/** The configuration that was read, and a list for its problems. */
export interface ConfigFile {
  /** Absolute. */
  readonly file: string;
  /** Paths inside the file are relative to it. */
  readonly dir: string;
  readonly text: string;
  /** `${…}` filled in. */
  readonly value: Readonly<Record<string, unknown>>;
  /** False if the text is not a map of sections: the problems say why, and `value` is empty. */
  readonly readable: boolean;
  /**
   * Values filled in for fields or variables named key, secret, token or password, and values that look like
   * credentials; eight characters or more each. For `Log.hide`.
   */
  readonly secrets: readonly string[];
  /** The variables that `${NAME}` was filled in from: those of the process and of `.env`. */
  readonly env: Env;
  /** Every `${…}` with its place: `channels[0].key`. */
  readonly references: readonly Reference[];
  /** All files that it was read from, with their contents: itself, `.env` and those with secrets; undefined: there was none. */
  readonly sources: ReadonlyMap<string, string | undefined>;
  /** Grows while the file is checked. */
  readonly problems: Problem[];
  readonly warnings: Problem[];
  /** Reports a mistake at the deepest existing part of the path (of a map, at the key), with secrets masked. */
  problem(path: Path, message: string): void;
  /** Reports a warning: the configuration works, but is not advisable. */
  warn(path: Path, message: string): void;
}

/** A `${…}` of the file. */
export interface Reference {
  readonly kind: 'variable' | 'file' | 'secret';
  /** Of the variable or the secret; of a file, its path as written. */
  readonly name: string;
  readonly path: string;
}

/** The configuration is wrong. The message contains every problem, one `file:line:column: path: message` each. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];
  constructor(file: string, problems: readonly Problem[]) {
    const sorted = [...problems].sort((a, b) => a.line - b.line || a.column - b.column);
    super(sorted.map((problem) => problemLine(file, problem)).join('\n'));
    this.problems = sorted;
  }
}

/** The log line for a configuration that was rejected. */
export function reasons(error: unknown): Record<string, unknown> {
  return error instanceof ConfigError ? { problems: error.message.split('\n') } : { error };
}

/** `gateway.yaml:12:5: channels[0].vendor: …`, with the file relative to the working directory. */
export function problemLine(file: string, { line, column, path, message }: Problem): string {
  const near = relative(process.cwd(), file);
  const name = near.startsWith('..') || isAbsolute(near) ? file : near;
  return `${name}:${line}:${column}: ${path === '' ? '' : `${path}: `}${message}`;
}

/** Reads the file. Throws nothing: problems are collected in `problems`. */
export function readConfig(file: string, env: Sources['env'], secrets?: Sources['secrets']): ConfigFile {
  return configOf(file, readText(resolve(file)), { env, secrets });
}

/** A text that is not in the file, read as if it were; `prepare` may remove references. */
export function configFrom(file: string, text: string, sources: Sources, prepare?: Prepare): ConfigFile {
  return configOf(file, isTooLong(text) ? TOO_LONG : { text }, sources, prepare);
}

/** The most mistakes, and the most warnings, that are reported for values. */
const MOST_FINDINGS = 500;

/** Inspects a document before `${…}` is filled in, and may change it. */
export type Prepare = (doc: Document, problem: ConfigFile['problem']) => void;

function configOf(file: string, { text, trouble }: FileText, given: Sources, prepare?: Prepare): ConfigFile {
  const absolute = resolve(file);
  const dir = dirname(absolute);
  const { env, ...envFile } = readEnvironment(dir, given.env);
  const sources = new Map<string, string | undefined>([
    [absolute, trouble === undefined ? text : undefined],
    [envFile.file, envFile.text],
  ]);
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
  if (envFile.trouble !== undefined) problem([], envFile.trouble);
  for (const { offset, message } of yaml.problems) problems.push(place(offset, [], message));
  if (yaml.sound) prepare?.(yaml.doc, problem);
  // Reported once every secret is known: a message may quote another value.
  const reports: (() => void)[] = [];
  const report = (say: typeof problem): typeof problem => {
    let left = MOST_FINDINGS;
    return (...args) => {
      if (left-- > 0) reports.push(() => say(...args));
    };
  };
  const references: Reference[] = [];
  const findings: Findings = {
    problem: report(problem),
    warn: report(warn),
    secret,
    refers: (reference, path) => void references.push({ ...reference, path: pathText(path) }),
    source: (path, content) => void sources.set(path, content),
  };
  const value = trouble === undefined && yaml.sound ? fillIn(yaml.doc, dir, { ...given, env }, findings) : undefined;
  for (const say of reports) say();
  return {
    file: absolute,
    dir,
    text,
    value: value ?? {},
    readable: value !== undefined,
    secrets: [...secrets],
    env,
    references,
    sources,
    problems,
    warnings,
    problem,
    warn,
  };
}

/** `['channels', 0, 'vendor']` as written for users: `channels[0].vendor`. */
export function pathText(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!/^[\w$-]+$/.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}

/** A larger file is not a configuration and could block the parser. */
const LONGEST_FILE = 256 * 1024;

/** Whether a text cannot be a configuration because of its size. */
export function isTooLong(text: string): boolean {
  return Buffer.byteLength(text) > LONGEST_FILE;
}

interface FileText {
  readonly text: string;
  readonly trouble?: string;
}
const TOO_LONG: FileText = { text: '', trouble: 'the file is larger than 256 KiB' };

function readText(file: string): FileText {
  try {
    const tooLong = statSync(file).size > LONGEST_FILE;
    const bytes = tooLong ? Buffer.alloc(0) : readFileSync(file);
    if (tooLong || bytes.length > LONGEST_FILE) return TOO_LONG;
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return { text: '', trouble: 'the file is not text in UTF-8' };
    const remedy = code === 'ENOENT' || code === 'ENOTDIR' ? '; --config FILE or TURNPIKE_CONFIG says where it is' : '';
    return { text: '', trouble: `the file ${unreadable(error)}${remedy}` };
  }
}

/** Everything that a configuration is read from. Another process can read it, too. */
export interface ConfigOrigin {
  readonly kind: 'file' | 'store';
  /** Path of gateway.yaml. */
  readonly path: string;
  /** Variables of the process. */
  readonly env: Env;
  /** The secrets of the database by name. */
  readonly secrets: ReadonlyMap<string, string>;
  /** `store`: the text in the database; undefined before the first start, when the file has all sections. */
  readonly text: string | undefined;
}

/** Sections that stay in the file of each gateway if the rest is in the database. */
export const EARLY_SECTIONS: readonly (keyof typeof coreSections)[] = ['listen', 'store', 'config'];

/** Whether the text is in the database. */
export function isInStore({ value }: Pick<ConfigFile, 'value'>): boolean {
  return value.config === 'store';
}

/** Whether the database must be open before the configuration can be read completely. */
export function needsStore(file: ConfigFile): boolean {
  return isInStore(file) || file.references.some(({ kind }) => kind === 'secret');
}

/** Throws if the configuration is in the database, for commands that need all of it before they open that. */
export function requireFile(file: ConfigFile): void {
  if (!isInStore(file)) return;
  throw new Error(
    'the configuration is in the database: write a file with `turnpike config export` and the sections listen and store, and name it with --config',
  );
}

/** Where the configuration of a file is. */
export function kindOf(file: Pick<ConfigFile, 'value'>): ConfigOrigin['kind'] {
  return isInStore(file) ? 'store' : 'file';
}
