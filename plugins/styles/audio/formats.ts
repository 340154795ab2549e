/** The formats in which speech can be asked for. */

interface Format {
  /** The content type that usually goes with it. */
  readonly type: string;
  /** Bytes of a second, where the sound has no head that would tell. */
  readonly bare?: number;
}

/** By the names that `response_format` has for them. `pcm`: 24,000 samples of 16 bits a second. */
export const FORMATS: Readonly<Record<string, Format>> = {
  mp3: { type: 'audio/mpeg' },
  opus: { type: 'audio/opus' },
  aac: { type: 'audio/aac' },
  flac: { type: 'audio/flac' },
  wav: { type: 'audio/wav' },
  pcm: { type: 'audio/pcm', bare: 48_000 },
};

/** What vendors send who leave it to the client to know what it asked for. */
const UNTOLD = ['', 'application/octet-stream', 'binary/octet-stream'];

const PLAIN_SOUND = /^audio\/[\w.+-]{1,64}( ?; ?[\w-]{1,32}=[\w.-]{1,64}){0,4}$/i;

/** The type for the client, made of the vendor's; undefined where that is no sound. */
export function soundType(vendors: string, format: string): string | undefined {
  const [bare = ''] = vendors.split(';');
  const name = bare.trim().toLowerCase();
  // Of parameters only plain ones (the rate of bare samples): browsers read more into others than vendors mean.
  if (PLAIN_SOUND.test(vendors)) return vendors;
  if (PLAIN_SOUND.test(name) || name === 'application/ogg') return name;
  return UNTOLD.includes(name) ? FORMATS[format]?.type : undefined;
}
