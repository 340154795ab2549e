/** The command line's words: finds the command they name, reads its options, runs it, and turns failures into exit codes. */
import { parseArgs } from 'node:util';
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

/** The commands that every pipeline has. All but `reconcile`, `backup` and `explain` need no gateway, or are one. */
export const CORE_COMMANDS = {
  start: {
    name: 'start',
    summary: 'serves; SIGTERM drains, SIGHUP reloads gateway.yaml',
    options: { welcome: { type: 'boolean' } },
  },
  check: { name: 'check', summary: 'says what gateway.yaml means, or everything that is wrong with it' },
  schema: { name: 'schema', summary: 'writes the JSON Schema of gateway.yaml to core/schema.json' },
  restore: { name: 'restore', summary: 'puts a backup in the place of the database', positionals: ['FILE'] },
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
} as const satisfies Readonly<Record<string, Omit<Command, 'run'>>>;

/** The command that the first words name; undefined where none does. */
export function findCommand<C extends { readonly name: string }>(
  commands: readonly C[],
  argv: readonly string[],
): C | undefined {
  const named = (command: C): boolean => command.name.split(' ').every((word, i) => argv[i] === word);
  return commands.find(named);
}

/** Runs a command. Never rejects. */
export async function runCommand(
  commands: readonly Command[],
  { argv, stdin, cwd }: CommandLine,
): Promise<CommandResult> {
  const command = findCommand(commands, argv);
  if (command === undefined)
    return failure(EXIT.usage, `there is no command \`${argv.join(' ')}\`; \`turnpike help\` lists them`);
  try {
    const stdout = await command.run({ ...readWords(command, argv), stdin, cwd });
    return { code: EXIT.done, stdout: stdout === '' || stdout.endsWith('\n') ? stdout : `${stdout}\n`, stderr: '' };
  } catch (error) {
    if (error instanceof CommandFailed) return { code: EXIT.failed, stdout: error.stdout, stderr: '' };
    if (error instanceof UsageError) return misused(command, error);
    if (error instanceof GatewayError) return failure(EXIT.failed, error.message);
    return failure(EXIT.failed, (error as Error).message);
  }
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
  command: Omit<Command, 'run'>,
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
    throw new UsageError((error as Error).message);
  }
}

/** What is said of a command that was called in a way it does not understand. */
export function misused(command: Omit<Command, 'run'>, error: UsageError): CommandResult {
  return failure(EXIT.usage, `${error.message}\nusage: turnpike ${usage(command)}`);
}

/** `key create [--name …] [--unlimited]`. */
export function usage(command: Omit<Command, 'run'>): string {
  const options = Object.entries(command.options ?? {}).map(
    ([name, { type }]) => `[--${name}${type === 'string' ? ' …' : ''}]`,
  );
  return [command.name, ...(command.positionals ?? []), ...options].join(' ');
}

function failure(code: number, message: string): CommandResult {
  return { code, stdout: '', stderr: `${message}\n` };
}
