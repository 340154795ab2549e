/** Commands of the command line. */
import { sharedByCopies } from '../copies.ts';
import type { Awaitable } from '../definitions.ts';

/** A command of the command line. It runs inside the running gateway where there is one, else on its own. */
export interface Command {
  /** `key create`. */
  readonly name: string;
  /** One line for `turnpike help`. */
  readonly summary: string;
  /** `--name` and friends: what `node:util` `parseArgs` takes. */
  readonly options?: Readonly<Record<string, CommandOption>>;
  /** Words after the options: `['ID']`. */
  readonly positionals?: readonly string[];
  /** Returns what goes to standard output. A `GatewayError` becomes exit code 1, a `UsageError` 2. */
  run(request: CommandRequest): Awaitable<string>;
}

/** An option of a command, as `node:util` `parseArgs` takes it. */
export interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** What may follow it, for its help: `member|admin`. */
  readonly value?: string;
  /** It is for programs, and help does not show it. */
  readonly internal?: boolean;
}

/** A command line, understood. */
export interface CommandRequest {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
  /** What stood on standard input, where an option called `…-stdin` or the word `-` was given; else empty. */
  readonly stdin: string;
  /** The folder in which the command was called; absolute. Relative paths are meant from there. */
  readonly cwd: string;
  /** Adds a line to standard error: what a person should know, and a script that reads the result should not. */
  remark(line: string): void;
}

/** The command was called in a way it does not understand. */
export class UsageError extends Error {}
sharedByCopies(UsageError, 'UsageError');
