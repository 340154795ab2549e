/** The writing thread: the only connection that writes, and the watch over the files it writes to. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { StoreInUse, StoreMissing } from '../../../core/plugin.ts';
import { createBatches } from './batch.ts';
import { openWriter } from './connection.ts';
import { type Files, filesOf } from './files.ts';
import { lock } from './lock.ts';
import { assertPresent } from './presence.ts';
import type { Batch, FromWriter, Refusal, ToWriter } from './wire.ts';

const WATCH_MS = 1_000;

const port = parentPort!;
const post = (message: FromWriter): void => port.postMessage(message);

let run: (batch: Batch) => void;
let close: () => void = () => port.close();

function open(file: string, mustExist: boolean): void {
  assertPresent(file, mustExist);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const unlock = lock(file);
  try {
    const db = openWriter(file);
    const files = filesOf(file, db);
    run = createBatches(db, post, files.loss);
    const unwatch = watch(files);
    close = () => {
      unwatch();
      db.close();
      unlock();
      port.close();
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** A store that nothing is written to would not notice by itself. */
function watch(files: Files): () => void {
  const timer = setInterval(() => {
    const reason = files.loss();
    if (reason === undefined) return;
    clearInterval(timer);
    post({ kind: 'failed', reason, lasting: true });
  }, WATCH_MS);
  return () => clearInterval(timer);
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof StoreInUse) return 'in use';
  return error instanceof StoreMissing ? 'missing' : 'other';
}

port.on('message', (message: ToWriter) => {
  if (message === 'close') return close();
  if (!('open' in message)) return run(message);
  try {
    open(message.open, message.mustExist);
    post({ kind: 'open' });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    post({ kind: 'refused', why: refusalOf(error), message: text });
    close();
  }
});
