/** The command line's words: finds the command they name, reads its options, runs it, and turns failures into exit codes. */
import { parseArgs } from 'node:util';
import { nearest } from './config/nearest.ts';
import { GatewayError } from './errors.ts';
import { type Command, type CommandRequest, UsageError } from './plugin.ts';

/** What a command leaves behind. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Exit codes that scripts rely on. */
export const EXIT = { done: 0, failed: 1, usage: 2, storeInUse: 73, config: 78 } as const;

/** A command line as it was typed. */
export interface CommandLine {
  readonly argv: readonly string[];
  /** What stood on standard input; empty where the command asks for nothing. */
  readonly stdin: string;
  /** The folder it was typed in; absolute. */
  readonly cwd: string;
}

/** A command as its words are read. */
export type CommandWords = Omit<Command, 'run'>;

/** The commands that every pipeline has. All but `reconcile`, `backup` and `explain` need no gateway, or are one. */
export const CORE_COMMANDS = {
  start: {
    name: 'start',
    summary: 'serves, and makes the database on the first start; SIGTERM drains, SIGHUP reloads gateway.yaml',
    // `npm start` sets it: the first start is shown to a person.
    options: { welcome: { type: 'boolean', internal: true } },
  },
  check: { name: 'check', summary: 'says what gateway.yaml means, or everything that is wrong with it' },
  errors: { name: 'errors', summary: 'lists the errors of core and the plugins: status, code, what each means' },
  schema: { name: 'schema', summary: 'writes the JSON Schema of gateway.yaml to core/schema.json' },
  restore: { name: 'restore', summary: 'puts a backup in the place of the database', positionals: ['FILE'] },
  copy: {
    name: 'store copy',
    summary: 'copies the database to another kind of store, while no gateway runs, and proves that all of it is there',
    options: { to: { type: 'string', value: 'URL|FILE' } },
  },
  recover: {
    name: 'recover',
    summary: 'makes a new master key; gives up what was sealed with the lost one, and keeps everything else',
    options: { 'without-master-key': { type: 'boolean' } },
  },
  plugin: {
    name: 'plugin new',
    summary: 'makes the folder of a new plugin, with a test that passes',
    options: { kind: { type: 'string', value: 'vendor|style|guard|route' } },
    positionals: ['NAME'],
  },
  help: { name: 'help', summary: 'lists the commands' },
  version: { name: 'version', summary: 'says which version this is' },
  reconcile: { name: 'reconcile', summary: 'checks the books: one line per invariant, exit code 1 when one fails' },
  backup: {
    name: 'backup',
    summary: 'writes a consistent copy of the database, also while the gateway runs',
    positionals: ['FILE'],
  },
  explain: {
    name: 'explain',
    summary: 'says what would become of a call, and makes none; exit code 1 where it would be refused',
    options: {
      key: { type: 'string' },
      style: { type: 'string' },
      body: { type: 'string' },
      files: { type: 'string' },
      json: { type: 'boolean' },
    },
  },
} as const satisfies Readonly<Record<string, CommandWords>>;

/** The command that the first words name; undefined where none does. */
export function findCommand<C extends { readonly name: string }>(
  commands: readonly C[],
  argv: readonly string[],
): C | undefined {
  const named = (command: C): boolean => command.name.split(' ').every((word, i) => argv[i] === word);
  return commands.find(named);
}

/**
 * What can be said of a command line without running anything: help that it asks for, that there is no such command, or that its words
 * are wrong. Undefined if there is nothing to say but the command's own answer.
 */
export function answerToWords(commands: readonly CommandWords[], argv: readonly string[]): CommandResult | undefined {
  const command = findCommand(commands, argv);
  if (command === undefined) return unknownCommand(commands, argv);
  if (asksForHelp(argv)) return { code: EXIT.done, stdout: helpOn(command), stderr: '' };
  try {
    readWords(command, argv);
    return undefined;
  } catch (error) {
    if (error instanceof UsageError) return misused(command, error);
    throw error;
  }
}

const asksForHelp = (argv: readonly string[]): boolean =>
  argv
    .slice(0, argv.includes('--') ? argv.indexOf('--') : undefined)
    .some((word) => word === '--help' || word === '-h');

/** `key` alone names a group: its commands are listed. Of anything else, the nearest command is named. */
function unknownCommand(commands: readonly CommandWords[], argv: readonly string[]): CommandResult {
  const group = commands.filter(({ name }) => name.startsWith(`${argv[0]} `));
  const list = group.map(helpOn).join('');
  const words = argv.filter((word) => !word.startsWith('-'));
  if (group.length > 0 && words.length === 1 && asksForHelp(argv)) return { code: EXIT.done, stdout: list, stderr: '' };
  const names = commands.map(({ name }) => name);
  const near = nearest(words.slice(0, 2).join(' '), names) ?? nearest(words[0] ?? '', names);
  const advice = near === undefined ? '`turnpike help` lists them' : `did you mean \`${near}\`?`;
  const said = `there is no command \`${argv.join(' ')}\`; ${group.length > 0 ? 'there are' : advice}`;
  return failure(EXIT.usage, group.length > 0 ? `${said}\n${list}`.trimEnd() : said);
}

/** Runs a command. Never rejects. */
export async function runCommand(
  commands: readonly Command[],
  { argv, stdin, cwd }: CommandLine,
): Promise<CommandResult> {
  const answered = answerToWords(commands, argv);
  if (answered !== undefined) return answered;
  const command = findCommand(commands, argv)!;
  let stderr = '';
  const remark = (line: string): void => {
    stderr += `${line}\n`;
  };
  try {
    const stdout = await command.run({ ...readWords(command, argv), stdin, cwd, remark });
    return { code: EXIT.done, stdout: stdout === '' || stdout.endsWith('\n') ? stdout : `${stdout}\n`, stderr };
  } catch (error) {
    if (error instanceof CommandFailed) return { code: EXIT.failed, stdout: error.stdout, stderr };
    if (error instanceof UsageError) return misused(command, error);
    if (error instanceof GatewayError) return failure(EXIT.failed, error.message);
    return failure(EXIT.failed, inWords(error));
  }
}

/** What is wrong with a file or folder, by the code that the system has for it. */
const FILE_TROUBLE: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the disk is read-only',
  ENOENT: 'there is no such folder',
  ENOTDIR: 'a part of the path is no folder',
  ENOSPC: 'the disk is full',
};

/** An error for people: of one that the system reports about a path, the path and what is wrong with it. */
export function inWords(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [, code = '', path] = /^(E[A-Z]+): [^,]*, \w+ '([^']*)'/.exec(message) ?? [];
  const trouble = FILE_TROUBLE[code];
  return trouble === undefined ? message : `${path}: ${trouble} (${code})`;
}

/** The command ran, and what it found is bad: its output is shown all the same. */
export class CommandFailed extends Error {
  readonly stdout: string;
  constructor(stdout: string) {
    super('the command found something wrong');
    this.stdout = stdout;
  }
}

/** The options and words behind a command's name. Throws `UsageError` where they are not those it takes. */
export function readWords(
  command: CommandWords,
  argv: readonly string[],
): Pick<CommandRequest, 'values' | 'positionals'> {
  const { name, options = {}, positionals: wanted } = command;
  try {
    const { values, positionals } = parseArgs({
      args: argv.slice(name.split(' ').length),
      options,
      allowPositionals: wanted !== undefined,
      strict: true,
    });
    if (wanted !== undefined && positionals.length !== wanted.length) {
      throw new UsageError(`expected ${wanted.join(' ')}`);
    }
    return { values: values as CommandRequest['values'], positionals };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(complaint(error as Error & { readonly code?: string }, Object.keys(options)));
  }
}

/** Node's own words, as far as they are about what was typed. */
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

/** What is said of a command that was called in a way it does not understand. */
export function misused(command: CommandWords, error: UsageError): CommandResult {
  return failure(EXIT.usage, `${error.message}\nusage: turnpike ${usage(command)}`);
}

/** `user create [--name …] [--role member|admin] [--password-stdin]`. */
export function usage(command: CommandWords): string {
  const options = Object.entries(command.options ?? {})
    .filter(([, { internal }]) => internal !== true)
    .map(([name, { type, value = '…' }]) => `[--${name}${type === 'string' ? ` ${value}` : ''}]`);
  return [command.name, ...(command.positionals ?? []), ...options].join(' ');
}

function helpOn(command: CommandWords): string {
  return `turnpike ${usage(command)}\n  ${command.summary}\n`;
}

function failure(code: number, message: string): CommandResult {
  return { code, stdout: '', stderr: `${message}\n` };
}
