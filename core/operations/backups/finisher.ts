/** Starts the process that finishes a backup, and waits for its result. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { threadOf } from '../../runtime/compiled.ts';
import type { Finished, FinishOrder } from './finish.ts';

/** The message of the process. */
export type FinishReport = { readonly finished: Finished } | { readonly failure: string };

/** A process that finishes a backup. */
export interface Finisher {
  /** Rejects if it failed or was stopped. */
  readonly result: Promise<Finished>;
  /** Kills it. */
  stop(): void;
}

/** Starts it, with the same code as this process, compiled or not. */
export function startFinisher(order: FinishOrder): Finisher {
  const source = fileURLToPath(new URL('./process.ts', import.meta.url));
  const module = threadOf(source);
  const reading =
    module === source ? ['--import', new URL('../../../scripts/typescript.mjs', import.meta.url).href] : [];
  const child = fork(module, [], {
    execArgv: [...process.execArgv, ...reading],
    serialization: 'advanced',
    // Programs read the standard output of a gateway.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let report: FinishReport | undefined;
  child.on('message', (message) => {
    report = message as FinishReport;
  });
  const result = new Promise<Finished>((done, failed) => {
    child.on('error', failed);
    child.on('exit', (code, signal) => {
      if (report !== undefined && 'finished' in report) done(report.finished);
      else failed(new Error(report?.failure ?? `its process ended with ${signal ?? `exit code ${code}`}`));
    });
  });
  // A process that ended at once is reported by `exit`.
  child.send(order, () => {});
  return { result, stop: () => void child.kill('SIGKILL') };
}
