/** A reading thread: a read-only connection, and backups made through it. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentPort } from 'node:worker_threads';
import type Database from 'better-sqlite3';
import { createPrivate, openReader, sync } from './connection.ts';
import { boundValue, readRow } from './values.ts';
import { type FromReader, type Question, type ToReader, wireError } from './wire.ts';

/** The number of prepared statements; the cache is cleared beyond it. */
const KEPT = 500;

/** Results of at least this many bytes are transferred instead of copied. */
const LARGE = 64 * 1_024;

/** After reading a value of at least this many bytes, SQLite's page cache is released. */
const HUGE = 1_024 * 1_024;

const port = parentPort!;
const statements = new Map<string, Database.Statement<unknown[]>>();
let db: Database.Database;

function find(sql: string): Database.Statement<unknown[]> {
  const cached = statements.get(sql);
  if (cached) return cached;
  // SQLite computes the length itself, without passing the text to a function.
  const statement = db.prepare<unknown[]>(sql.replaceAll(/\butf8_bytes\(([\w.]+)\)/g, 'CAST($1 AS BLOB)'));
  if (!statement.reader || !statement.readonly)
    throw new Error('only statements that read and return rows can be read');
  if (statements.size >= KEPT) statements.clear();
  statements.set(sql, statement);
  return statement;
}

function answer(question: Question): unknown {
  switch (question.kind) {
    case 'open':
      db = openReader(question.file, question.isBrief);
      if (question.snapshot) {
        db.exec('BEGIN');
        // The first read determines the time of the snapshot.
        db.prepare('SELECT count(*) FROM sqlite_schema').get();
      }
      return undefined;
    case 'one': {
      const row = find(question.sql).get(question.params.map(boundValue));
      return row === undefined ? undefined : readRow(row);
    }
    case 'all': {
      const rows = find(question.sql).all(question.params.map(boundValue));
      for (const row of rows) readRow(row);
      return rows;
    }
    case 'backup':
      return backup(question.file);
  }
}

/** Copies all pages in one step: a copy in several steps would restart after every commit. */
async function backup(file: string): Promise<void> {
  if (existsSync(file)) throw new Error(`${file} exists: a backup never overwrites anything`);
  const copy = `${file}.incomplete-${process.pid}`;
  createPrivate(copy);
  try {
    await db.backup(copy, { progress: () => 0x7fffffff });
    renameSync(copy, file);
    sync(dirname(file));
  } catch (error) {
    rmSync(copy, { force: true });
    throw error;
  }
}

/** The buffers of some rows, to be transferred instead of copied. */
function bytesIn(value: unknown): ArrayBuffer[] {
  const rows = Array.isArray(value) ? value : [value];
  const buffers = new Set<ArrayBuffer>();
  for (const row of rows) {
    for (const column of Object.values(row ?? {})) {
      if (!(column instanceof Uint8Array) || column.byteLength !== column.buffer.byteLength) continue;
      if (column.byteLength >= LARGE) buffers.add(column.buffer as ArrayBuffer);
    }
  }
  return [...buffers];
}

port.on('message', async (message: ToReader) => {
  if (message === 'close') {
    db?.close();
    port.close();
    return;
  }
  let reply: FromReader;
  try {
    reply = { number: message.number, value: await answer(message.question) };
  } catch (error) {
    reply = { number: message.number, error: wireError(error) };
  }
  const handedOver = bytesIn(reply.value);
  const isHuge = handedOver.some(({ byteLength }) => byteLength >= HUGE);
  port.postMessage(reply, handedOver);
  // The pages of such a large value have displaced useful ones in the cache.
  if (isHuge) db.pragma('shrink_memory');
});
