/** Commands of the command line. */
import { sharedByCopies } from '../runtime/shared-classes.ts';
import type { Awaitable } from './definitions.ts';

/** A command of the command line. It runs inside the running gateway, or in a process without one. */
export interface Command {
  /** `key create`. */
  readonly name: string;
  /** One line for `turnpike help`. */
  readonly summary: string;
  /** Options as `node:util` `parseArgs` accepts them. */
  readonly options?: Readonly<Record<string, CommandOption>>;
  /** Words after the options: `['ID']`, `['[FOLDER]']` if it may be omitted. */
  readonly positionals?: readonly string[];
  /** Its output is a text that other programs read as it is, so there is no `--json`. */
  readonly plain?: boolean;
  /**
   * Returns the standard output: a text, and for `--json` the same as data. A text alone becomes `{"result": …}`. A `GatewayError` becomes exit code 1,
   * a `UsageError` 2.
   */
  run(request: CommandRequest): Awaitable<string | CommandAnswer>;
}

/** The result of a command, for people and for programs. */
export interface CommandAnswer {
  readonly text: string;
  /** A value that `JSON.stringify` can write; with the names and units of `/api`. */
  readonly json: unknown;
  /** It reports a problem: the answer is printed, and the exit code is 1. */
  readonly failed?: boolean;
  /**
   * The command line prints the answer and runs the command again after so many milliseconds. When it is interrupted (SIGINT, SIGTERM), it ends after
   * the round that runs or, between two rounds, after a last one. The gateway keeps nothing for it between rounds.
   */
  readonly againMs?: number | undefined;
}

/** An option of a command, as `node:util` `parseArgs` takes it. */
export interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** What it takes: words in lower case are all that is accepted (`member|admin`), others stand for a value (`URL|FILE`). */
  readonly value?: string;
  /** It must be given. */
  readonly required?: boolean;
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
  /** How often it has been run before, because its answers have `againMs`; absent: never. */
  readonly round?: number;
  /** Adds a line to standard error, for information that scripts should not parse. */
  remark(line: string): void;
}

/** The command line is invalid. */
export class UsageError extends Error {}
sharedByCopies(UsageError, 'UsageError');
