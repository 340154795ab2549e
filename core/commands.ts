/** The command line's words: finds the command they name, reads its options, runs it, and turns failures into exit codes. */
import { parseArgs } from 'node:util';
import { GatewayError } from './errors.ts';
import { type Command, UsageError } from './plugin.ts';

/** What a command leaves behind. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Exit codes that scripts rely on. */
export const EXIT = { done: 0, failed: 1, usage: 2, storeInUse: 73, config: 78 } as const;

/** The commands of the gateway itself, which every pipeline has; `help` lists them without opening a gateway. */
export const CORE_COMMANDS = {
  reconcile: { name: 'reconcile', summary: 'checks the books: one line per invariant, exit code 1 when one fails' },
  backup: {
    name: 'backup',
    summary: 'writes a consistent copy of the database, also while the gateway runs',
    positionals: ['FILE'],
  },
} as const satisfies Readonly<Record<string, Omit<Command, 'run'>>>;

/** The command that the first words name; undefined where none does. */
export function findCommand(commands: readonly Command[], argv: readonly string[]): Command | undefined {
  const named = (command: Command): boolean => command.name.split(' ').every((word, i) => argv[i] === word);
  return commands.find(named);
}

/** Runs a command. Never rejects. */
export async function runCommand(
  commands: readonly Command[],
  argv: readonly string[],
  stdin: string,
): Promise<CommandResult> {
  const command = findCommand(commands, argv);
  if (command === undefined)
    return failure(EXIT.usage, `there is no command \`${argv.join(' ')}\`; \`turnpike help\` lists them`);
  try {
    const { values, positionals } = parse(command, argv.slice(command.name.split(' ').length));
    const stdout = await command.run({ values, positionals, stdin });
    return { code: EXIT.done, stdout: stdout === '' || stdout.endsWith('\n') ? stdout : `${stdout}\n`, stderr: '' };
  } catch (error) {
    if (error instanceof CommandFailed) return { code: EXIT.failed, stdout: error.stdout, stderr: '' };
    if (error instanceof UsageError) return failure(EXIT.usage, `${error.message}\nusage: turnpike ${usage(command)}`);
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

function parse(
  command: Command,
  args: readonly string[],
): { values: Record<string, string | boolean | undefined>; positionals: string[] } {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: command.options ?? {},
      allowPositionals: command.positionals !== undefined,
      strict: true,
    });
    if (command.positionals !== undefined && positionals.length !== command.positionals.length) {
      throw new UsageError(`expected ${command.positionals.join(' ')}`);
    }
    return { values: values as Record<string, string | boolean | undefined>, positionals };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError((error as Error).message);
  }
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
