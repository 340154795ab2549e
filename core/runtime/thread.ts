/** Starts a thread that runs a module, and reports its end. */
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { threadOf } from './compiled.ts';

/** A running thread. It keeps the process alive until it has ended. */
export interface Thread<In> {
  /** Transferred objects are moved, not copied. */
  post(message: In, transfer?: readonly ArrayBuffer[]): void;
  /** Resolves when the thread has ended, for whatever reason. */
  readonly ended: Promise<void>;
}

export interface ThreadEvents<Out> {
  /** The messages of the thread, in order. */
  message(message: Out): void;
  /** The thread ended: with the error it threw, or undefined if it closed its port itself. Called once. */
  ended(error: Error | undefined): void;
}

/** Threads started in advance, by module. */
const ahead = new Map<string, Worker>();

/** Starts a thread for `entry` in advance, for a later `startThread`. It does not keep the process alive until then. */
export function startAhead(entry: URL): void {
  if (ahead.has(entry.href)) return;
  const worker = startWorker(entry);
  worker.unref();
  ahead.set(entry.href, worker);
  // A failed thread reports its error when it is started again.
  const forget = (): void => {
    if (ahead.get(entry.href) === worker) ahead.delete(entry.href);
  };
  worker.once('error', forget).once('exit', forget);
}

/** Runs the module at `entry` in its own thread. An error in a thread ends only that thread, never the process. */
export function startThread<In, Out>(entry: URL, events: ThreadEvents<Out>): Thread<In> {
  const worker = ahead.get(entry.href) ?? startWorker(entry);
  ahead.delete(entry.href);
  worker.ref();
  let thrown: Error | undefined;
  worker.on('message', events.message);
  worker.on('messageerror', (error) => {
    thrown = error;
    void worker.terminate();
  });
  worker.on('error', (error: Error) => {
    thrown = error;
  });
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer as ArrayBuffer[]),
    ended: new Promise((resolve) => {
      worker.on('exit', (code) => {
        events.ended(thrown ?? (code === 0 ? undefined : new Error(`the thread ended with code ${code}`)));
        resolve();
      });
    }),
  };
}

function startWorker(entry: URL): Worker {
  const source = fileURLToPath(entry);
  const module = threadOf(source);
  return module === source
    ? new Worker(new URL('./thread.cjs', import.meta.url), { workerData: { entry: source }, execArgv: [] })
    : new Worker(module, { execArgv: [] });
}
