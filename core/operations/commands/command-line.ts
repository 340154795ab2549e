/** The command line: finds the command, parses its options, runs it, and maps failures to exit codes. */

import { parseArgs } from 'node:util';
import type { CommandWords } from '../../assembly/core-commands.ts';
import { GatewayError } from '../../contracts/gateway-error.ts';
import { nearest } from '../../helpers/nearest.ts';
import { type Command, type CommandAnswer, type CommandOption, type CommandRequest, UsageError } from '../../plugin.ts';

/** The result of a command. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** As in `CommandAnswer`. */
  readonly againMs?: number;
}

/** Exit codes that scripts rely on. */
export const EXIT = { done: 0, failed: 1, usage: 2, storeInUse: 73, config: 78 } as const;

/** A command line as typed. */
export interface CommandLine {
  readonly argv: readonly string[];
  /** Standard input; empty if the command does not read it. */
  readonly stdin: string;
  /** The working directory; absolute. */
  readonly cwd: string;
  /** The configuration that was named; absolute. */
  readonly configFile?: string | undefined;
  /** As in `CommandRequest`. */
  readonly round?: number;
}

/** The command that the first words name; undefined if there is none. */
export function findCommand<C extends { readonly name: string }>(
  commands: readonly C[],
  argv: readonly string[],
): C | undefined {
  const named = (command: C): boolean => command.name.split(' ').every((word, i) => argv[i] === word);
  return commands.find(named);
}

/** The result of a command line that needs no gateway: help, an unknown command, a usage error. Undefined: none. */
export function answerToWords(commands: readonly CommandWords[], argv: readonly string[]): CommandResult | undefined {
  const command = findCommand(commands, argv);
  if (command === undefined) return unknownCommand(commands, argv);
  if (asksForHelp(argv)) {
    const group = commands.filter(({ name }) => name.startsWith(`${command.name} `));
    return { code: EXIT.done, stdout: [command, ...group].map(helpOn).join(''), stderr: '' };
  }
  try {
    readWords(command, argv);
    return undefined;
  } catch (error) {
    if (error instanceof UsageError) return misused(command, error);
    throw error;
  }
}

/** Whether the words ask for help instead of a run. */
export const asksForHelp = (argv: readonly string[]): boolean =>
  argv
    .slice(0, argv.includes('--') ? argv.indexOf('--') : undefined)
    .some((word) => word === '--help' || word === '-h');

/** For a group such as `key`, lists its commands; otherwise suggests the nearest command. */
function unknownCommand(commands: readonly CommandWords[], argv: readonly string[]): CommandResult {
  const group = commands.filter(({ name }) => name.startsWith(`${argv[0]} `));
  const list = group.map(helpOn).join('');
  const words = argv.filter((word) => !word.startsWith('-'));
  if (group.length > 0 && words.length === 1 && asksForHelp(argv)) return { code: EXIT.done, stdout: list, stderr: '' };
  const near = words.length > 1 || group.length === 0 ? nearestCommand(commands, words) : undefined;
  const others = group.length > 0 ? `there are\n${list}`.trimEnd() : '`turnpike help` lists them';
  const advice = near === undefined ? others : `did you mean \`${near}\`?`;
  return failure(
    EXIT.usage,
    `there is no command \`${argv.filter((word) => word !== '--help').join(' ')}\`; ${advice}`,
  );
}

/** The command, or the group of commands, that the first words are nearest to. */
function nearestCommand(commands: readonly CommandWords[], words: readonly string[]): string | undefined {
  const known = commands.map(({ name }) => name.split(' '));
  for (const count of [3, 2, 1]) {
    const names = known.filter(({ length }) => length >= count).map((name) => name.slice(0, count).join(' '));
    const near = words.length < count ? undefined : nearest(words.slice(0, count).join(' '), names);
    if (near !== undefined && near !== words.slice(0, count).join(' ')) return near;
  }
  return undefined;
}

/** Runs a command. Never rejects. */
export async function runCommand(
  commands: readonly Command[],
  { argv, stdin, cwd, round = 0 }: CommandLine,
): Promise<CommandResult> {
  const answered = answerToWords(commands, argv);
  if (answered !== undefined) return answered;
  const command = findCommand(commands, argv)!;
  let stderr = '';
  const remark = (line: string): void => {
    stderr += `${line}\n`;
  };
  try {
    const words = readWords(command, argv);
    const answer = await command.run({ ...words, stdin, cwd, round, remark });
    const stdout = printed(command, words.values, answer);
    const { againMs, failed = false } = typeof answer === 'string' ? {} : answer;
    return {
      code: failed ? EXIT.failed : EXIT.done,
      stdout: stdout === '' || stdout.endsWith('\n') ? stdout : `${stdout}\n`,
      stderr,
      ...(againMs !== undefined && { againMs }),
    };
  } catch (error) {
    if (error instanceof CommandFailed) {
      const { values } = readWords(command, argv);
      return { code: EXIT.failed, stdout: printed(command, values, error.answer), stderr };
    }
    if (error instanceof UsageError) return misused(command, error);
    if (error instanceof GatewayError) return failure(EXIT.failed, error.message);
    return failure(EXIT.failed, inWords(error));
  }
}

/** The output of a command: as text, or with `--json` as data. */
export function printed(
  command: CommandWords,
  { json }: CommandRequest['values'],
  answer: string | CommandAnswer,
): string {
  const { text, json: data } =
    typeof answer === 'string' ? { text: answer, json: { result: answer.trimEnd() } } : answer;
  return json === true && takesJson(command) ? `${JSON.stringify(data)}\n` : text;
}

/** False if it prints a text for other programs, or reads an option of this name itself. */
const takesJson = ({ plain, options }: CommandWords): boolean => plain !== true && options?.json === undefined;

/** All options of a command. */
export function optionsOf(command: CommandWords): Readonly<Record<string, CommandOption>> {
  return { ...command.options, ...(takesJson(command) && { json: { type: 'boolean' } }) };
}

/** The words that an option accepts; undefined: any. */
export function wordsOf({ value }: CommandOption): readonly string[] | undefined {
  return value !== undefined && /^[a-z\d-]+(\|[a-z\d-]+)+$/.test(value) ? value.split('|') : undefined;
}

/** File system errors by code. */
const FILE_TROUBLE: Readonly<Record<string, string>> = {
  EACCES: 'this user has no access to this path',
  EPERM: 'this user has no access to this path',
  EROFS: 'the disk is read-only',
  ENOENT: 'there is no such file or folder',
  EISDIR: 'this is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  ENOSPC: 'the disk is full',
};

/** An error message for the terminal; a file system error names the path and the reason. */
export function inWords(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [, code = '', path] = /^(E[A-Z]+): [^,]*, \w+ '([^']*)'/.exec(message) ?? [];
  const trouble = FILE_TROUBLE[code];
  return trouble === undefined ? message : `${path}: ${trouble} (${code})`;
}

/** The command ran and reports a problem: its output is printed all the same. */
export class CommandFailed extends Error {
  readonly answer: string | CommandAnswer;
  constructor(answer: string | CommandAnswer) {
    super('the command reported a problem');
    this.answer = answer;
  }
}

/** Parses options and words of a command. Throws `UsageError` if they are invalid. */
export function readWords(
  command: CommandWords,
  argv: readonly string[],
): Pick<CommandRequest, 'values' | 'positionals'> {
  const { name, positionals: expected } = command;
  const options = optionsOf(command);
  try {
    const { values, positionals, tokens } = parseArgs({
      args: argv.slice(name.split(' ').length),
      options,
      allowPositionals: expected !== undefined,
      strict: true,
      tokens: true,
    });
    const given = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
    const twice = given.find((each, i) => given.indexOf(each) < i);
    if (twice !== undefined) throw new UsageError(`--${twice} is given twice`);
    for (const [option, about] of Object.entries(options)) checkOption(option, about, values[option]);
    const required = expected?.filter((word) => !word.startsWith('[')) ?? [];
    if (expected !== undefined && (positionals.length < required.length || positionals.length > expected.length)) {
      throw new UsageError(`expected ${expected.join(' ')}`);
    }
    return { values: values as CommandRequest['values'], positionals };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(complaint(error as Error & { readonly code?: string }, Object.keys(options)));
  }
}

function checkOption(name: string, about: CommandOption, value: string | boolean | undefined): void {
  if (about.required === true && (value === undefined || value === '')) throw new UsageError(`--${name} is missing`);
  const words = wordsOf(about);
  if (words === undefined || typeof value !== 'string' || words.includes(value)) return;
  const near = nearest(value, words);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  throw new UsageError(`--${name} must be one of ${words.join(', ')}, not "${value}"${hint}`);
}

/** The part of Node's own message that concerns the typed words. */
function complaint({ code, message }: Error & { readonly code?: string }, known: readonly string[]): string {
  const option = /^Unknown option '(-[^']*)'/.exec(message)?.[1];
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' && option !== undefined) {
    const near = nearest(option.replace(/^-+/, ''), known);
    return `there is no option ${option}${near === undefined ? '' : `; did you mean --${near}?`}`;
  }
  const word = /^Unexpected argument '([^']*)'/.exec(message)?.[1];
  if (word !== undefined) return `"${word}" is not expected here`;
  return message.replace(/\. To specify .*$/s, '');
}

/** The message of a usage error. */
export function misused(command: CommandWords, error: UsageError): CommandResult {
  return failure(EXIT.usage, `${error.message}\nusage: turnpike ${usage(command)}`);
}

/** `user create --name … --role member|admin --password-stdin`. Every command has `--json`, so that is not repeated. */
export function usage(command: CommandWords): string {
  const options = Object.entries(command.options ?? {})
    .filter(([, { internal }]) => internal !== true)
    .map(([name, { type, value = '…', required }]) => {
      const option = `--${name}${type === 'string' ? ` ${value}` : ''}`;
      return required === true ? option : `[${option}]`;
    });
  return [command.name, ...(command.positionals ?? []), ...options].join(' ');
}

function helpOn(command: CommandWords): string {
  return `turnpike ${usage(command)}${takesJson(command) ? ' [--json]' : ''}\n  ${command.summary}\n`;
}

export function failure(code: number, message: string): CommandResult {
  return { code, stdout: '', stderr: `${message}\n` };
}
