/** Installed programs that run as servers next to the gateways. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Folders of servers that are not in a user's PATH. */
const FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin'];

/** The path of the first of these programs that is installed. */
export function findProgram(...names: readonly string[]): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...FOLDERS];
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

/** A running server. */
export interface ServerProcess {
  /** Ends it. Resolves with its exit code; null if the signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Time for a server to accept connections. */
const READY_MS = 20_000;

/**
 * Starts a server in its own process group, so that Ctrl-C does not end it before those that need it. Resolves when
 * `isReady`, which is polled, resolves with true; rejects with the server's output if it ends before, or takes too
 * long.
 */
export async function startServer(
  command: readonly [string, ...string[]],
  isReady: () => Promise<boolean>,
  options: Pick<SpawnOptions, 'cwd' | 'env'> = {},
): Promise<ServerProcess> {
  const [program, ...args] = command;
  const child = spawn(program, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const hear = (text: string): void => {
    output = (output + text).slice(-4_096);
  };
  child.stdout.setEncoding('utf8').on('data', hear);
  child.stderr.setEncoding('utf8').on('data', hear);
  child.on('error', (error) => hear(error.message));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const tooLate = performance.now() + READY_MS;
  while (!(await isReady())) {
    if (hasEnded(child) || performance.now() > tooLate) {
      child.kill('SIGKILL');
      throw new Error(`${command.join(' ')} did not start:\n${output}`);
    }
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 20))]);
  }
  return {
    async stop(signal = 'SIGTERM') {
      if (!hasEnded(child)) child.kill(signal);
      await ended;
      return child.exitCode;
    },
  };
}

function hasEnded({ exitCode, signalCode, pid }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null;
}
