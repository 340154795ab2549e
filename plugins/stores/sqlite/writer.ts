/** The writing thread: the only connection that writes, and the watch over the files it writes to. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { StoreInUse, StoreMissing } from '../../../core/plugin.ts';
import { createBatches } from './batch.ts';
import { openWriter } from './connection.ts';
import { type Files, filesOf } from './files.ts';
import { lock } from './lock.ts';
import { assertPresent } from './presence.ts';
import type { FromWriter, Parcel, Refusal, ToWriter } from './wire.ts';

/** As many lists as one commit takes along: more would only make the first of them wait. */
const BATCH = 256;
const WATCH_MS = 1_000;

const port = parentPort!;
const post = (message: FromWriter): void => port.postMessage(message);

let run: (parcels: readonly Parcel[]) => void;
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
    post({ kind: 'failed', lists: [], reason, lasting: true });
  }, WATCH_MS);
  return () => clearInterval(timer);
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof StoreInUse) return 'in use';
  return error instanceof StoreMissing ? 'missing' : 'other';
}

port.on('message', (first: ToWriter) => {
  const parcels: Parcel[] = [];
  let count = 0;
  let message: ToWriter | undefined = first;
  let closing = false;
  while (message !== undefined) {
    if (message === 'close') {
      closing = true;
      break;
    }
    if ('open' in message) {
      try {
        open(message.open, message.mustExist);
        post({ kind: 'open' });
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        post({ kind: 'refused', why: refusalOf(error), message: text });
        closing = true;
        break;
      }
    } else {
      parcels.push(message);
      count += message.count;
    }
    message = count < BATCH ? (receiveMessageOnPort(port)?.message as ToWriter | undefined) : undefined;
  }
  if (parcels.length > 0) run(parcels);
  if (closing) close();
});
