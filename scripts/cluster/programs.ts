/** Programs that are installed on this machine, and run as servers beside the gateways. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where servers are that a user's path does not name. */
const FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin'];

/** The path of the first of these programs that is installed. */
export function findProgram(...names: readonly string[]): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...FOLDERS];
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

/** A server that runs. */
export interface ServerProcess {
  /** Ends it. Resolves with its exit code when it has; null if it was the signal that ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** How long a server may take until it accepts connections. */
const READY_MS = 20_000;

/**
 * Starts a server in a process group of its own, so that Ctrl-C does not end it before those that need it. Resolves when `isReady` does with true, which
 * is asked again and again; rejects with what the server said if it ends before, or takes too long.
 */
export async function startServer(
  command: readonly [string, ...string[]],
  isReady: () => Promise<boolean>,
  options: Pick<SpawnOptions, 'cwd' | 'env'> = {},
): Promise<ServerProcess> {
  const [program, ...args] = command;
  const child = spawn(program, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  const hear = (text: string): void => {
    said = (said + text).slice(-4_096);
  };
  child.stdout.setEncoding('utf8').on('data', hear);
  child.stderr.setEncoding('utf8').on('data', hear);
  child.on('error', (error) => hear(error.message));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const tooLate = performance.now() + READY_MS;
  while (!(await isReady())) {
    if (hasEnded(child) || performance.now() > tooLate) {
      child.kill('SIGKILL');
      throw new Error(`${command.join(' ')} did not start:\n${said}`);
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
