/** The processes of a bench: started, watched until they are ready, and killed when it ends, however it ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A started process. */
export interface Running {
  readonly pid: number;
  /** Waits for a line that matches. Rejects with the output if the process ends before, or takes too long. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  isRunning(): boolean;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}

/** A start reads every page of the database, which may be large. */
const READY_MS = 120_000;
const running = new Set<ChildProcess>();

/** Of a process. `env`: its whole environment instead of that of the bench. `timeout`: milliseconds until it is ended. */
export interface ProcessOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly timeout?: number;
}

/** Starts a program. */
export function start(command: readonly string[], options: ProcessOptions = {}): Running {
  const child = spawn(command[0]!, command.slice(1), { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let output = '';
  let onOutput = (): void => {};
  const hear = (text: string): void => {
    output = (output + text).slice(-16_384);
    onOutput();
  };
  child.stdout.setEncoding('utf8').on('data', hear);
  child.stderr.setEncoding('utf8').on('data', hear);
  child.on('error', (error) => hear(error.message));
  child.on('exit', () => {
    running.delete(child);
    onOutput();
  });
  return {
    pid: child.pid ?? 0,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const fail = (why: string) => reject(new Error(`${command.join(' ')} ${why}:\n${output}`));
        const tooLate = setTimeout(() => fail('was not ready in time'), READY_MS);
        onOutput = () => {
          const found = pattern.exec(output);
          if (found === null && child.exitCode === null && child.signalCode === null) return;
          clearTimeout(tooLate);
          if (found === null) fail(`ended with code ${child.exitCode ?? child.signalCode}`);
          else resolve(found);
        };
        onOutput();
      }),
    isRunning: () => child.pid !== undefined && child.exitCode === null && child.signalCode === null,
    signal: (name) => void child.kill(name),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Runs a program to its end. Resolves with its standard output; rejects with its standard error. */
export function run(command: readonly string[], options: ProcessOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command[0]!, command.slice(1), { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child);
    let output = '';
    let complaints = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaints += text;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      running.delete(child);
      if (code === 0) resolve(output);
      else reject(new Error(`${command.join(' ')} ended with code ${code}: ${complaints.trim().slice(-2_000)}`));
    });
  });
}

/** Ends all running processes at exit or interruption. Call it once, before starting any. */
export function endAllAtExit(): void {
  process.on('exit', () => {
    for (const child of running) child.kill('SIGKILL');
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));
}
