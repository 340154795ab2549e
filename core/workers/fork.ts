/** Forks the process of a worker: the same code, compiled or not. */
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { threadOf } from '../compiled.ts';
import type { Message } from './link.ts';

/** A forked process. */
export interface Fork {
  send(messages: readonly Message[]): void;
  kill(): void;
  /** Resolves when it has ended, and everything that it had sent was received. */
  readonly ended: Promise<Ending>;
}

/** How a process ended; neither field: it could not be started. */
export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Starts one; `receive` gets its messages. */
export function fork(receive: (messages: readonly Message[]) => void): Fork {
  const source = fileURLToPath(new URL('./process.ts', import.meta.url));
  const module = threadOf(source);
  const reading = module === source ? ['--import', new URL('../../scripts/typescript.mjs', import.meta.url).href] : [];
  // Round robin: the system's own distribution sends most connections to a few of them.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({
    exec: module,
    args: [],
    execArgv: [...process.execArgv, ...reading],
    serialization: 'advanced',
  });
  const worker = cluster.fork();
  worker.on('message', receive);

  const ended = new Promise<Ending>((resolve) => {
    let ending: Ending | undefined;
    let isDeaf = false;
    const end = (): void => {
      if (ending !== undefined && isDeaf) resolve(ending);
    };
    worker.on('exit', (code: number | null, signal: string | null) => {
      ending = { code, signal };
      end();
    });
    worker.on('disconnect', () => {
      isDeaf = true;
      end();
    });
    worker.on('error', () => {
      // A failed send is reported by the end of the process, unless it never started.
      if (worker.process.pid === undefined) resolve({ code: null, signal: null });
    });
  });

  return {
    send(messages) {
      if (worker.isConnected()) worker.send(messages as Message[], () => {});
    },
    kill: () => void worker.process.kill('SIGKILL'),
    ended,
  };
}
