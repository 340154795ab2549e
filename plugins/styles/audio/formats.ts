/** Audio formats of speech replies. */

interface Format {
  /** The usual content type of the format. */
  readonly type: string;
  /** Bytes per second, for formats without a header. */
  readonly bare?: number;
}

/** Keyed by `response_format`. `pcm`: 24,000 samples of 16 bits per second. */
export const FORMATS: Readonly<Record<string, Format>> = {
  mp3: { type: 'audio/mpeg' },
  opus: { type: 'audio/opus' },
  aac: { type: 'audio/aac' },
  flac: { type: 'audio/flac' },
  wav: { type: 'audio/wav' },
  pcm: { type: 'audio/pcm', bare: 48_000 },
};

/** Generic content types; the actual type then follows from the requested format. */
const UNTOLD = ['', 'application/octet-stream', 'binary/octet-stream'];

const PLAIN_SOUND = /^audio\/[\w.+-]{1,64}( ?; ?[\w-]{1,32}=[\w.-]{1,64}){0,4}$/i;

/** The content type for the client, from the vendor's; undefined if the vendor's is not audio. */
export function soundType(vendors: string, format: string): string | undefined {
  const [bare = ''] = vendors.split(';');
  const name = bare.trim().toLowerCase();
  // Only plain parameters are kept (the rate of raw samples): browsers could interpret others.
  if (PLAIN_SOUND.test(vendors)) return vendors;
  if (PLAIN_SOUND.test(name) || name === 'application/ogg') return name;
  return UNTOLD.includes(name) ? FORMATS[format]?.type : undefined;
}
