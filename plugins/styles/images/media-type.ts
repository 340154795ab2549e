/** What the first bytes of a file say: whether it is an image, and of which kind. */

/** So many bytes tell. */
export const TELLING_BYTES = 32;

/** The first bytes, and the media type they stand for. `....` are four bytes of any kind. */
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

/** The media type of an image; undefined for what is none. */
export function imageTypeOf(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, TELLING_BYTES);
  return STARTS.find(([known]) => known.test(start))?.[1];
}

/** The same for base64. */
export function imageTypeOfBase64(data: string): string | undefined {
  return imageTypeOf(Buffer.from(data.slice(0, 64), 'base64'));
}
