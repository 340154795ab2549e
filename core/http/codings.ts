/** Compressed request bodies: which codings are supported, and how one is unpacked without trusting its size. */
import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import zlib from 'node:zlib';
import { coreErrors } from '../contracts/errors.ts';
import type { GatewayError } from '../contracts/gateway-error.ts';

/** Newer versions of Node have it. */
const { createZstdDecompress, zstdDecompressSync, constants } = zlib as typeof zlib & {
  readonly createZstdDecompress?: (options: zlib.ZlibOptions & { params?: Record<number, number> }) => Transform;
  readonly zstdDecompressSync?: (bytes: Buffer) => Buffer;
  readonly constants: { readonly ZSTD_d_windowLogMax?: number };
};

/** Only from version 24 on does Node notice that data is cut; until then, a cut body would pass for a whole one. */
function noticesCutZstd(): boolean {
  try {
    zstdDecompressSync?.(Buffer.from('28b52ffd', 'hex'));
    return false;
  } catch {
    return true;
  }
}

/** Larger pieces are unpacked before their size can be checked. */
const PIECE = { chunkSize: 32 * 1_024 };
/** The largest window that clients may use over HTTP (RFC 9659): 8 MiB. */
const WINDOW_LOG = 23;

type Unpack = (first: Buffer) => Transform;

const UNPACK: Readonly<Record<string, Unpack>> = {
  gzip: () => zlib.createGunzip(PIECE),
  'x-gzip': () => zlib.createGunzip(PIECE),
  // Some clients leave out the two bytes before the data.
  deflate: (first) => ((first[0]! & 0x0f) === 8 ? zlib.createInflate(PIECE) : zlib.createInflateRaw(PIECE)),
  br: () => zlib.createBrotliDecompress(PIECE),
  ...(createZstdDecompress !== undefined &&
    noticesCutZstd() && {
      zstd: () => createZstdDecompress({ ...PIECE, params: { [constants.ZSTD_d_windowLogMax!]: WINDOW_LOG } }),
    }),
};

/** The supported codings, as `Accept-Encoding` lists them. */
const SUPPORTED = Object.keys(UNPACK)
  .filter((name) => !name.startsWith('x-'))
  .join(', ');

/** The coding of a body, in lower case; undefined if it is not compressed. Refuses (415) others, and several. */
export function codingOf(header: string | undefined): string | undefined {
  const name = header?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return undefined;
  if (Object.hasOwn(UNPACK, name)) return name;
  throw coreErrors.unsupported_content_encoding(SUPPORTED).with({ headers: { 'accept-encoding': SUPPORTED } });
}

/**
 * Unpacks the body of a request into `to`, piece by piece, as fast as `to` takes it; `failed` is called if it is not what
 * its header says. Returns what ends it early: nothing more is read, and the rest stays in the request.
 */
export function unpack(
  request: IncomingMessage,
  coding: string,
  to: Transform,
  failed: (error: GatewayError) => void,
): () => void {
  let stream: Transform | undefined;
  const begin = (first: Buffer): void => {
    request.off('data', begin);
    request.pause();
    stream = UNPACK[coding]!(first);
    stream.on('error', () => failed(broken(coding)));
    stream.pipe(to);
    stream.write(first);
    request.pipe(stream);
  };
  const end = (): void => {
    if (stream === undefined) failed(broken(coding));
  };
  request.on('data', begin);
  request.on('end', end);
  return () => {
    request.off('data', begin).off('end', end);
    if (stream !== undefined) request.unpipe(stream);
    request.pause();
    stream?.destroy();
  };
}

function broken(coding: string): GatewayError {
  const message = `The body is not complete data of the coding ${coding}, which the header content-encoding names.`;
  return coreErrors.invalid_request_error(message).with({ param: 'content-encoding' });
}
