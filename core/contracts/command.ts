/** Commands of the command line. */
import { sharedByCopies } from '../copies.ts';
import type { Awaitable } from '../definitions.ts';

/** A command of the command line. It runs inside the running gateway, or in a process without one. */
export interface Command {
  /** `key create`. */
  readonly name: string;
  /** One line for `turnpike help`. */
  readonly summary: string;
  /** Options as `node:util` `parseArgs` accepts them. */
  readonly options?: Readonly<Record<string, CommandOption>>;
  /** Words after the options: `['ID']`. */
  readonly positionals?: readonly string[];
  /** Returns the standard output. A `GatewayError` becomes exit code 1, a `UsageError` 2. */
  run(request: CommandRequest): Awaitable<string>;
}

/** An option of a command, as `node:util` `parseArgs` takes it. */
export interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** Its possible values, for help: `member|admin`. */
  readonly value?: string;
  /** For programs only; help does not list it. */
  readonly internal?: boolean;
}

/** A parsed command line. */
export interface CommandRequest {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
  /** Standard input, read if an option called `…-stdin` or the word `-` was given; otherwise empty. */
  readonly stdin: string;
  /** The working directory of the caller; absolute. Base of relative paths. */
  readonly cwd: string;
  /** Adds a line to standard error, for information that scripts should not parse. */
  remark(line: string): void;
}

/** The command line is invalid. */
export class UsageError extends Error {}
sharedByCopies(UsageError, 'UsageError');
