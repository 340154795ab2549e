/** The writing thread: the only connection that writes, and the watch over the file it writes to. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { StoreInUse } from '../../../core/plugin.ts';
import { createBatches } from './batch.ts';
import { openWriter } from './connection.ts';
import { lock } from './lock.ts';
import type { FromWriter, Parcel, ToWriter } from './wire.ts';

/** As many lists as one commit takes along: more would only make the first of them wait. */
const BATCH = 256;
const WATCH_MS = 1_000;

const port = parentPort!;
const post = (message: FromWriter): void => port.postMessage(message);

let run: (parcels: readonly Parcel[]) => void;
let close: () => void = () => port.close();

function open(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const unlock = lock(file);
  try {
    const db = openWriter(file);
    run = createBatches(db, post);
    const unwatch = watch(file);
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

/** Writing goes on happily into a file that has lost its name; nobody would ever read it again. */
function watch(file: string): () => void {
  const mine = statSync(file);
  const timer = setInterval(() => {
    const now = statSync(file, { throwIfNoEntry: false });
    if (now?.ino === mine.ino && now.dev === mine.dev) return;
    clearInterval(timer);
    const reason = `${file} was ${now ? 'replaced' : 'removed'} while in use`;
    post({ kind: 'failed', lists: [], reason, lasting: true });
  }, WATCH_MS);
  return () => clearInterval(timer);
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
        open(message.open);
        post({ kind: 'open' });
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        post({ kind: 'refused', inUse: error instanceof StoreInUse, message: text });
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
