/** Where the files of one request are kept until its exchange has ended: small ones in memory, larger ones on disk, under no name. */
import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { tooLarge } from './body.ts';
import { coreErrors } from './contracts/errors.ts';
import type { Spool } from './contracts/style.ts';
import type { GatewayError } from './errors.ts';

/** Where the files of a request go, and how much of them. */
export interface SpoolOptions {
  /** Made where it is missing, though not the folders it is in. */
  readonly directory: string;
  /** Of all files together; beyond it 413. */
  readonly maxBytes: number;
  /** Nothing is held in memory: for a request that is known to be large. */
  readonly straightToDisk?: boolean;
}

/** The files of one request. */
export interface RequestSpool extends Spool {
  /** Lets go of everything; whoever still reads or writes is told so. Never rejects. */
  discard(): Promise<void>;
}

/** What one request may hold in memory. */
const HELD_BYTES = 1_048_576;
/** How much is written and read at once. */
const PIECE_BYTES = 65_536;

/** A spool for one request. */
export function createSpool({ directory, maxBytes, straightToDisk = false }: SpoolOptions): RequestSpool {
  const request = { directory, heldBytes: straightToDisk ? HELD_BYTES : 0, discarded: false };
  const files: KeptFile[] = [];
  let total = 0;
  return {
    file(about) {
      const kept = keepFile(request);
      files.push(kept);
      return {
        async write(chunk) {
          total += chunk.length;
          if (total > maxBytes) throw tooLarge(maxBytes);
          await kept.write(chunk);
        },
        async end() {
          return { ...about, size: await kept.end(), read: kept.read };
        },
      };
    },
    async discard() {
      request.discarded = true;
      await Promise.all(files.map((file) => file.discard()));
    },
  };
}

/** What the files of a request share. */
interface RequestState {
  readonly directory: string;
  heldBytes: number;
  discarded: boolean;
}

interface KeptFile {
  write(chunk: Buffer): Promise<void>;
  /** Tells its size. */
  end(): Promise<number>;
  read(): AsyncGenerator<Buffer>;
  discard(): Promise<void>;
}

/**
 * One file. Its bytes are gathered in pieces of one size, however small they come. Once the request holds too much, whole pieces
 * go to disk, and the one that is being filled is all that is left in memory.
 */
function keepFile(request: RequestState): KeptFile {
  let disk: Promise<FileHandle> | undefined;
  let size = 0;
  /** Bytes on disk; those in `pieces` come after them. */
  let written = 0;
  let pieces: Buffer[] = [];
  /** Bytes in the last piece. */
  let filled = PIECE_BYTES;

  function mustBeHere(): void {
    if (request.discarded) throw new Error('the files of this request are gone: its exchange has ended');
  }

  /** The last piece is full, or there is none: begins another one, or the first again where all have gone to disk. */
  async function makeRoom(): Promise<void> {
    if (disk === undefined && request.heldBytes + PIECE_BYTES <= HELD_BYTES) {
      request.heldBytes += PIECE_BYTES;
      pieces.push(Buffer.allocUnsafe(PIECE_BYTES));
    } else {
      const [first = Buffer.allocUnsafe(PIECE_BYTES)] = pieces;
      await flush();
      pieces = [first];
    }
    filled = 0;
  }

  async function flush(): Promise<void> {
    if (written === size) return;
    disk ??= openUnnamed(request.directory);
    for (const { at, length } of piecesOf(written, size)) {
      const piece = pieces[(at - written) / PIECE_BYTES]!;
      await onDisk((handle) => writeWhole(handle, piece, length, at));
    }
    written = size;
    pieces = [];
  }

  /** Whatever the disk says, a request whose files are gone hears only that. */
  async function onDisk(work: (handle: FileHandle) => Promise<void>): Promise<void> {
    try {
      const handle = await disk!;
      mustBeHere();
      await work(handle);
    } catch (error) {
      mustBeHere();
      throw spoolUnavailable(error);
    }
    mustBeHere();
  }

  return {
    async write(chunk) {
      for (let at = 0; at < chunk.length; ) {
        mustBeHere();
        if (filled === PIECE_BYTES) await makeRoom();
        mustBeHere();
        const taken = chunk.copy(pieces.at(-1)!, filled, at);
        filled += taken;
        size += taken;
        at += taken;
      }
    },
    async end() {
      mustBeHere();
      // A file of which a part is on disk needs no memory any more.
      if (disk !== undefined) await flush();
      return size;
    },
    async *read() {
      mustBeHere();
      for (const { at, length } of piecesOf(0, written)) {
        const piece = Buffer.allocUnsafe(length);
        await onDisk((handle) => readWhole(handle, piece, at));
        yield piece;
      }
      for (const { at, length } of piecesOf(written, size)) {
        mustBeHere();
        yield pieces[(at - written) / PIECE_BYTES]!.subarray(0, length);
      }
    },
    async discard() {
      pieces = [];
      // Closing waits for what is being read or written.
      await disk?.then((handle) => handle.close()).catch(() => {});
    },
  };
}

function* piecesOf(from: number, to: number): Generator<{ at: number; length: number }> {
  for (let at = from; at < to; at += PIECE_BYTES) yield { at, length: Math.min(PIECE_BYTES, to - at) };
}

/** A new file that loses its name at once: when it is closed, by whomever and however, nothing is left of it. */
async function openUnnamed(directory: string): Promise<FileHandle> {
  await mkdir(directory, { mode: 0o700 }).catch(ignoreExisting);
  const path = join(directory, `upload-${randomBytes(16).toString('hex')}`);
  const handle = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

async function writeWhole(handle: FileHandle, piece: Buffer, length: number, at: number): Promise<void> {
  for (let done = 0; done < length; ) {
    // A disk that is nearly full takes a part, and says no to the next one.
    done += (await handle.write(piece, done, length - done, at + done)).bytesWritten;
  }
}

async function readWhole(handle: FileHandle, piece: Buffer, at: number): Promise<void> {
  for (let done = 0; done < piece.length; ) {
    const { bytesRead } = await handle.read(piece, done, piece.length - done, at + done);
    if (bytesRead === 0) throw new Error('the file has become shorter');
    done += bytesRead;
  }
}

function spoolUnavailable(error: unknown): GatewayError {
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  return coreErrors.spool_unavailable(code);
}
