/** Detects by the first bytes of a file whether it is an image, and its media type. */

/** Bytes that are enough to decide. */
export const SIGNATURE_BYTES = 32;

/** The first bytes, and their media type. `....` are four arbitrary bytes. */
const STARTS: readonly (readonly [start: RegExp, mediaType: string])[] = [
  [/^\x89PNG\r\n.\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF....WEBP/s, 'image/webp'],
  [/^BM.{4}\0{4}/s, 'image/bmp'],
  [/^(II\*\0|MM\0\*)/, 'image/tiff'],
  [/^....ftyp(avif|avis)/s, 'image/avif'],
  [/^....ftyp(heic|heix|hevc|heim|heis|mif1|msf1)/s, 'image/heic'],
  [/^\s*<svg/, 'image/svg+xml'],
];

/** The media type of an image; undefined for anything else. */
export function imageTypeOf(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, SIGNATURE_BYTES);
  return STARTS.find(([pattern]) => pattern.test(start))?.[1];
}

/** The same for base64. */
export function imageTypeOfBase64(data: string): string | undefined {
  return imageTypeOf(Buffer.from(data.slice(0, 64), 'base64'));
}
