/** The gateway as a process of its own: what scripts and supervisors see of it, signals and exit codes included. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const TURNPIKE = fileURLToPath(new URL('../../../scripts/turnpike.mjs', import.meta.url));

/** A busy machine is no failure. */
const PATIENCE_MS = 60_000;

/** What a command left behind. */
export interface Finished {
  /** Undefined where a signal ended it. */
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProcessOptions {
  /** Beside a few of our own; nothing else of the environment gets through. */
  readonly env?: Readonly<Record<string, string>>;
  /** What stands on standard input. */
  readonly stdin?: string;
  /** The folder it is called in; this one where nobody says. */
  readonly cwd?: string;
  /** Ctrl-C in the terminal of its parent does not reach it. */
  readonly detached?: boolean;
  /** Hears what it writes to standard error. */
  readonly hears?: (text: string) => void;
}

/** `turnpike …` to its end, whatever that is. */
export async function turnpike(args: readonly string[], options: ProcessOptions = {}): Promise<Finished> {
  const child = launch(args, options);
  child.stdin!.end(options.stdin ?? '');
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  return { code: code ?? undefined, signal: signal ?? undefined, stdout, stderr };
}

/** A gateway that runs as a process. */
export interface GatewayProcess {
  readonly pid: number;
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly port: number;
  /** Everything so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** The lines of standard error that are JSON, read. */
  readonly log: readonly LogLine[];
  /**
   * Lines of standard error that are no JSON: an uncaught exception, or a warning of the runtime. Empty for a gateway that is
   * well (with `--welcome`, the greeting is among them).
   */
  readonly complaints: readonly string[];
  /** Resolves when it has logged a line that fits; fails when it ends, or patience does, before. */
  logged(fits: (line: LogLine) => boolean, patienceMs?: number): Promise<LogLine>;
  signal(name: NodeJS.Signals): void;
  /** Ends it as a crash of the machine would. */
  kill(): Promise<void>;
  /** How it ended. */
  readonly ended: Promise<Finished>;
  /** SIGTERM, and then its end; fails where that is not exit code 0, or where anything was uncaught. */
  stop(): Promise<void>;
}

/** One line of the log. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [fact: string]: unknown;
}

/** `turnpike start`; resolves when it is ready, and fails, with all it said, where it never is. */
export async function startProcess(
  configFile: string,
  options: ProcessOptions & { readonly args?: readonly string[] } = {},
): Promise<GatewayProcess> {
  const child = launch(['start', '--config', configFile, ...(options.args ?? [])], options);
  let stdout = '';
  let stderr = '';
  let finished: Finished | undefined;
  const watchers = new Set<() => void>();
  const changed = (): void => {
    for (const watcher of watchers) watcher();
  };
  child.stdout!.setEncoding('utf8').on('data', (data: string) => {
    stdout += data;
    changed();
  });
  child.stderr!.setEncoding('utf8').on('data', (data: string) => {
    stderr += data;
    options.hears?.(data);
    changed();
  });
  const ended = new Promise<Finished>((resolve) => {
    child.on('close', (code, signal) => {
      finished = { code: code ?? undefined, signal: signal ?? undefined, stdout, stderr };
      changed();
      resolve(finished);
    });
  });

  /** Asks after everything it says, until there is an answer. */
  const eventually = <T>(what: string, look: () => T | undefined, patienceMs: number): Promise<T> =>
    new Promise((resolve, reject) => {
      const give = (reason: string): void => {
        end();
        reject(new Error(`The gateway ${reason} before ${what}:\n${stdout}${stderr}`));
      };
      const late = setTimeout(() => give(`took more than ${patienceMs} ms`), patienceMs);
      const end = (): void => {
        clearTimeout(late);
        watchers.delete(watcher);
      };
      const watcher = (): void => {
        const found = look();
        if (found !== undefined) {
          end();
          resolve(found);
        } else if (finished !== undefined) {
          give(`ended (${finished.code ?? finished.signal})`);
        }
      };
      watchers.add(watcher);
      watcher();
    });

  const url = await eventually('it was ready', () => /^ready (\S+)\n/m.exec(stdout)?.[1], PATIENCE_MS).catch(
    (error: Error) => {
      child.kill('SIGKILL');
      throw error;
    },
  );
  const lines = (): readonly string[] =>
    stderr
      .split('\n')
      .slice(0, -1)
      .filter((line) => line !== '');

  const gateway: GatewayProcess = {
    pid: child.pid!,
    url,
    port: Number(new URL(url).port),
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    get log() {
      return lines().flatMap((line) => readLine(line) ?? []);
    },
    get complaints() {
      return lines().filter((line) => readLine(line) === undefined);
    },
    logged(fits, patienceMs = PATIENCE_MS) {
      return eventually('it logged what was waited for', () => gateway.log.find(fits), patienceMs);
    },
    signal: (name) => void child.kill(name),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    ended,
    async stop() {
      child.kill('SIGTERM');
      const { code, signal } = await ended;
      if (code !== 0 || gateway.complaints.length > 0) {
        throw new Error(`The gateway ended with ${code ?? signal}:\n${stderr}`);
      }
    },
  };
  return gateway;
}

function launch(
  args: readonly string[],
  { env = {}, cwd = process.cwd(), detached = false }: ProcessOptions,
): ChildProcess {
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  return spawn(process.execPath, [TURNPIKE, ...args], {
    cwd,
    detached,
    env: { PATH, HOME, ...(TMPDIR !== undefined && { TMPDIR }), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

function readLine(line: string): LogLine | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as LogLine) : undefined;
  } catch {
    return undefined;
  }
}
