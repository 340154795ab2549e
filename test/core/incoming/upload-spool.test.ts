/** The files of one request: what goes in comes out, from memory or from disk, and nothing is left behind. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Upload } from '../../../core/contracts/formats/call.ts';
import { GatewayError } from '../../../core/contracts/gateway-error.ts';
import { createSpool, type RequestSpool } from '../../../core/incoming/upload-spool.ts';
import { leftIn } from '../../kit/clients/multipart.ts';

const MIB = 1_048_576;
const home = mkdtempSync(join(tmpdir(), 'spool-test-'));
const about = { field: 'file', fileName: 'a.wav', mediaType: 'audio/wav' };
const noProc = existsSync('/proc/self/fd') ? false : 'only where open files are listed';
after(() => rmSync(home, { recursive: true, force: true }));

async function keep(spool: RequestSpool, bytes: Buffer, pieceBytes = 50_000): Promise<Upload> {
  const file = spool.file(about);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    // As a parser does it: the memory is used again when the promise has resolved.
    const piece = Buffer.from(bytes.subarray(at, at + pieceBytes));
    await file.write(piece);
    piece.fill(0);
  }
  return file.end();
}

async function readAll(upload: Upload): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of upload.read()) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function spooled(work: (spool: RequestSpool) => Promise<void>, straightToDisk = false): Promise<void> {
  const spool = createSpool({ directory: home, maxBytes: 8 * MIB, straightToDisk });
  try {
    await work(spool);
  } finally {
    await spool.discard();
  }
  assert.deepEqual(leftIn(home), []);
}

const isGone = /the request has ended/;
const isUnavailable = (error: unknown): boolean =>
  error instanceof GatewayError &&
  error.status === 503 &&
  error.code === 'spool_unavailable' &&
  error.headers['retry-after'] === '2' &&
  error.headers['retry-after-ms'] === '2000';

describe('the files of a request', () => {
  it('are read as they were written, of any size and in chunks of any size', async () => {
    for (const size of [0, 1, 65_535, 65_536, 65_537, MIB - 1, MIB, MIB + 1, 3 * MIB + 17]) {
      for (const pieceBytes of [1_000, 65_536, 200_000]) {
        for (const straightToDisk of [false, true]) {
          await spooled(async (spool) => {
            const bytes = randomBytes(size);
            const upload = await keep(spool, bytes, pieceBytes);
            assert.equal(upload.size, size);
            assert.ok((await readAll(upload)).equals(bytes), `${size} bytes in pieces of ${pieceBytes}`);
          }, straightToDisk);
        }
      }
    }
  });

  it('keep their names', () =>
    spooled(async (spool) => {
      const { field, fileName, mediaType } = await keep(spool, Buffer.from('x'));
      assert.deepEqual({ field, fileName, mediaType }, about);
    }));

  it('can be read by several readers at once, and again', () =>
    spooled(async (spool) => {
      const bytes = randomBytes(2 * MIB + 5);
      const upload = await keep(spool, bytes);
      const copies = await Promise.all(Array.from({ length: 8 }, () => readAll(upload)));
      for (const copy of [...copies, await readAll(upload)]) assert.ok(copy.equals(bytes), 'every copy is whole');
    }));

  it('are not mixed up if several are written at once', () =>
    spooled(async (spool) => {
      const contents = Array.from({ length: 6 }, (_, i) => randomBytes(300_000 + i * 111_111));
      const uploads = await Promise.all(contents.map((bytes) => keep(spool, bytes, 7_001)));
      for (const [i, upload] of uploads.entries()) {
        assert.ok((await readAll(upload)).equals(contents[i]!), `file ${i}`);
      }
    }));

  it('may be read in part', () =>
    spooled(async (spool) => {
      const upload = await keep(spool, randomBytes(2 * MIB));
      for await (const piece of upload.read()) {
        assert.ok(piece.length <= 65_536, 'a piece is small');
        break;
      }
    }));

  it('are in memory up to 1 MiB, and beyond that on disk without a name', { skip: noProc }, () =>
    spooled(async (spool) => {
      await keep(spool, randomBytes(MIB));
      assert.deepEqual(leftIn(home), []);
      await keep(spool, randomBytes(100_000));
      assert.match(leftIn(home).join(), /^[^,]*\/upload-[0-9a-f]{32} \(deleted\)$/);
      assert.deepEqual(readdirSync(home), []);
    }),
  );

  it('go to disk at once if the request is known to be large', { skip: noProc }, () =>
    spooled(async (spool) => {
      await keep(spool, randomBytes(100_000));
      assert.equal(leftIn(home).length, 1);
    }, true),
  );

  it('are refused with 413 beyond the limit, which applies to all of them together', () =>
    spooled(async (spool) => {
      await keep(spool, randomBytes(5 * MIB));
      await assert.rejects(
        keep(spool, randomBytes(3 * MIB + 1)),
        (error) => error instanceof GatewayError && error.status === 413 && error.code === 'request_too_large',
      );
    }));

  it('are stored in a directory that is created if it is missing', async () => {
    const directory = join(home, 'not-yet');
    const spool = createSpool({ directory, maxBytes: 8 * MIB, straightToDisk: true });
    const bytes = randomBytes(MIB);
    assert.ok((await readAll(await keep(spool, bytes))).equals(bytes), 'the file is whole');
    await spool.discard();
    assert.deepEqual(leftIn(directory), []);
    rmSync(directory, { recursive: true });
  });
});

describe('after the end of the exchange', () => {
  it('files cannot be read any more, in memory or on disk', async () => {
    for (const size of [0, 100_000, 3 * MIB]) {
      const spool = createSpool({ directory: home, maxBytes: 8 * MIB });
      const upload = await keep(spool, randomBytes(size));
      const begun = upload.read()[Symbol.asyncIterator]();
      await begun.next();
      await spool.discard();
      await assert.rejects(readAll(upload), isGone);
      if (size > 65_536) await assert.rejects(begun.next(), isGone);
      assert.deepEqual(leftIn(home), []);
    }
  });

  it('a running reader gets an error, and no byte of another file', async () => {
    const spool = createSpool({ directory: home, maxBytes: 8 * MIB });
    const upload = await keep(spool, randomBytes(4 * MIB));
    const readers = Array.from({ length: 4 }, () => assert.rejects(readAll(upload), isGone));
    await Promise.all([spool.discard(), ...readers]);
    assert.deepEqual(leftIn(home), []);
  });

  it('a running write is awaited, and the next one fails', async () => {
    for (const before of [0, 100_000, MIB, 2 * MIB]) {
      const spool = createSpool({ directory: home, maxBytes: 8 * MIB, straightToDisk: before % MIB !== 0 });
      const file = spool.file(about);
      await file.write(randomBytes(before));
      const writing = file.write(randomBytes(3 * MIB));
      await Promise.all([spool.discard(), assert.rejects(writing, isGone)]);
      await assert.rejects(file.write(Buffer.from('x')), isGone);
      await assert.rejects(file.end(), isGone);
      assert.deepEqual(leftIn(home), []);
    }
  });

  it('a second release has no effect', async () => {
    const spool = createSpool({ directory: home, maxBytes: 8 * MIB });
    await keep(spool, randomBytes(2 * MIB));
    await Promise.all([spool.discard(), spool.discard()]);
    await spool.discard();
    assert.deepEqual(leftIn(home), []);
  });
});

describe('a disk that cannot be written', () => {
  it('refuses the request with 503 if there is no directory', async () => {
    const blocked = join(home, 'a-file');
    writeFileSync(blocked, '');
    for (const directory of [blocked, join(blocked, 'inside')]) {
      const spool = createSpool({ directory, maxBytes: 8 * MIB });
      await assert.rejects(keep(spool, randomBytes(2 * MIB)), isUnavailable);
      await spool.discard();
    }
    rmSync(blocked);
  });

  it('refuses the request with 503 if it is full, also after a partial write', async (t) => {
    const probe = await open(join(home, 'probe'), 'w');
    await probe.close();
    rmSync(join(home, 'probe'));
    const spool = createSpool({ directory: home, maxBytes: 8 * MIB });
    const file = spool.file(about);
    await file.write(randomBytes(2 * MIB));
    const handles = Object.getPrototypeOf(probe) as typeof probe;
    t.mock.method(handles, 'write', () =>
      Promise.reject(Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })),
    );
    await assert.rejects(file.write(randomBytes(MIB)), isUnavailable);
    await spool.discard();
    assert.deepEqual(leftIn(home), []);
  });

  it('reports a partial write', async (t) => {
    const probe = await open(join(home, 'probe'), 'w');
    await probe.close();
    rmSync(join(home, 'probe'));
    const handles = Object.getPrototypeOf(probe) as typeof probe;
    const { write } = handles;
    // biome-ignore lint/suspicious/noExplicitAny: one of several overloads
    t.mock.method(handles, 'write', function (this: any, bytes: Buffer, from: number, length: number, at: number) {
      return Reflect.apply(write, this, [bytes, from, Math.ceil(length / 3), at]);
    });
    await spooled(async (spool) => {
      const bytes = randomBytes(2 * MIB + 99);
      assert.ok((await readAll(await keep(spool, bytes))).equals(bytes), 'the file is whole');
    });
  });
});
