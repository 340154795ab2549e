/** Stores the files of one request until it has ended: small ones in memory, larger ones on disk, in unlinked files. */
import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { coreErrors } from '../contracts/errors.ts';
import type { Spool } from '../contracts/formats/style.ts';
import type { GatewayError } from '../contracts/gateway-error.ts';
import { tooLarge } from './read-body.ts';

/** The storage and limits for the files of a request. */
export interface SpoolOptions {
  /** Created if missing, but not its parent folders. */
  readonly directory: string;
  /** Limit for all files together; beyond it 413. */
  readonly maxBytes: number;
  /** Nothing is kept in memory: for a request that is known to be large. */
  readonly straightToDisk?: boolean;
}

/** The files of one request. */
export interface RequestSpool extends Spool {
  /** Releases everything; pending reads and writes fail. Never rejects. */
  discard(): Promise<void>;
}

/** Memory limit of one request. */
const HELD_BYTES = 1_048_576;
/** Block size of reads and writes. */
const PIECE_BYTES = 65_536;

/** A spool for one request. */
export function createSpool({ directory, maxBytes, straightToDisk = false }: SpoolOptions): RequestSpool {
  const request = { directory, heldBytes: straightToDisk ? HELD_BYTES : 0, discarded: false };
  const files: ReturnType<typeof keepFile>[] = [];
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

/** Shared by the files of a request. */
interface RequestState {
  readonly directory: string;
  heldBytes: number;
  discarded: boolean;
}

/** One file, in blocks of equal size. Beyond the memory limit full blocks go to disk, and the current one stays. */
function keepFile(request: RequestState) {
  let disk: Promise<FileHandle> | undefined;
  let size = 0;
  /** Bytes on disk; those in `pieces` follow. */
  let written = 0;
  let pieces: Buffer[] = [];
  /** Bytes in the last block. */
  let filled = PIECE_BYTES;

  function mustBeHere(): void {
    if (request.discarded) throw new Error('the files of this request were deleted, because the request has ended');
  }

  /** The last block is full, or there is none: starts another one, or reuses the first if all are on disk. */
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

  /** Whatever the disk reports, a request whose files were deleted only gets that error. */
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
    async write(chunk: Buffer): Promise<void> {
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
    /** Returns its size. */
    async end(): Promise<number> {
      mustBeHere();
      // A file that is partly on disk needs no more memory.
      if (disk !== undefined) await flush();
      return size;
    },
    async *read(): AsyncGenerator<Buffer> {
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
    async discard(): Promise<void> {
      pieces = [];
      // Closing waits for pending reads and writes.
      await disk?.then((handle) => handle.close()).catch(() => {});
    },
  };
}

function* piecesOf(from: number, to: number): Generator<{ at: number; length: number }> {
  for (let at = from; at < to; at += PIECE_BYTES) yield { at, length: Math.min(PIECE_BYTES, to - at) };
}

/** A new file that is unlinked at once: when it is closed, even by a crash, nothing is left. */
async function openUnnamed(directory: string): Promise<FileHandle> {
  await mkdir(directory, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
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

async function writeWhole(handle: FileHandle, piece: Buffer, length: number, at: number): Promise<void> {
  for (let done = 0; done < length; ) {
    // A nearly full disk accepts a part, and fails the next write.
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
