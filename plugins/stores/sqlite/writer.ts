/** The writing thread: the only connection that writes, and the watch on its files. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { StoreInUse, StoreMissing } from '../../../core/plugin.ts';
import { createBatches, createSender } from './batch.ts';
import { openWriter } from './connection.ts';
import { createGroups, type Groups } from './groups.ts';
import { lock } from './lock.ts';
import { assertPresent, type Files, filesOf } from './presence.ts';
import { type Sharing, share } from './sharing.ts';
import type { Batch, FromWriter, Joining, Opening, Refusal, ToWriter } from './wire.ts';

const WATCH_MS = 1_000;

const port = parentPort!;
const post = (message: FromWriter): void => port.postMessage(message);

/** Runs the batches of this process. */
let run: (batch: Batch) => void;
let close: () => void = () => port.close();

async function open({ open: file, mustExist, isBrief, socket }: Opening): Promise<void> {
  assertPresent(file, mustExist);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const unlock = lock(file);
  const own = createSender(post);
  let sharing: Sharing | undefined;
  let groups: Groups;
  try {
    const db = openWriter(file, isBrief);
    const files = filesOf(file, db);
    const batches = createBatches(db, {
      loss: files.loss,
      unadded: (text, reason) => post({ kind: 'unadded', text, reason }),
    });
    groups = createGroups(batches.run);
    run = (batch) => {
      // Without other processes, it does not wait for more batches.
      if (socket === undefined) batches.run([{ from: own, batch }]);
      else groups.take({ from: own, batch });
    };
    const unwatch = watch(files, (message) => {
      post(message);
      sharing?.tell(message);
    });
    close = () => {
      groups.flush();
      batches.close();
      unwatch();
      sharing?.close();
      db.close();
      unlock();
      port.close();
    };
  } catch (error) {
    unlock();
    throw error;
  }
  if (socket === undefined) return;
  sharing = await share(socket, groups.take, (name) => {
    groups.flush();
    post({ kind: 'left', name });
  });
}

/** Undefined also if that cannot be known now; a list that is written meets the reason itself. */
function lossOf(files: Files): string | undefined {
  try {
    return files.loss();
  } catch {
    return undefined;
  }
}

/** Without writes, a removed file would otherwise go unnoticed. */
function watch(files: Files, tell: (message: FromWriter) => void): () => void {
  const timer = setInterval(() => {
    const reason = lossOf(files);
    if (reason === undefined) return;
    clearInterval(timer);
    tell({ kind: 'failed', reason, lasting: true });
  }, WATCH_MS);
  return () => clearInterval(timer);
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof StoreInUse) return 'in use';
  return error instanceof StoreMissing ? 'missing' : 'other';
}

port.on('message', (message: Exclude<ToWriter, Joining>) => {
  if (message === 'close') return close();
  if (!('open' in message)) return run(message);
  open(message).then(
    () => post({ kind: 'open' }),
    (error: unknown) => {
      const text = error instanceof Error ? error.message : String(error);
      post({ kind: 'refused', why: refusalOf(error), message: text });
      close();
    },
  );
});
