/** Estimates the duration of a recording from its first bytes; enough for a demo. */

const KILOBITS = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const KILOBITS_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
/** Minimum length of a frame. */
const HEAD = 7;
const MP3_HERTZ = [44_100, 48_000, 32_000];
const AAC_HERTZ = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000];

/** `start`: its first bytes; `size`: its total number of bytes. Undefined for an unknown format. */
export function soundSeconds(start: Buffer, size: number): number | undefined {
  try {
    const seconds = estimate(start, size);
    return seconds !== undefined && Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
  } catch {
    // The data ends where another frame is expected.
    return undefined;
  }
}

function estimate(bytes: Buffer, size: number): number | undefined {
  const name = bytes.toString('latin1', 0, 4);
  // The duration is extrapolated from the part that was counted.
  const share = size / bytes.length;
  if (name === 'RIFF') return ofWave(bytes, size);
  if (name === 'fLaC') return bytes.readUInt32BE(22) / (bytes.readUIntBE(18, 3) >> 4);
  if (name === 'OggS') return scaled(ofOgg(bytes), share);
  const movie = bytes.indexOf('mvhd');
  if (bytes.toString('latin1', 4, 8) === 'ftyp' && movie !== -1) {
    return bytes.readUInt32BE(movie + 20) / bytes.readUInt32BE(movie + 16);
  }
  return scaled(ofFrames(bytes, name.startsWith('ID3') ? 10 + tagLength(bytes) : 0), share);
}

function scaled(seconds: number | undefined, share: number): number | undefined {
  return seconds === undefined ? undefined : seconds * share;
}

function ofWave(bytes: Buffer, size: number): number {
  const sound = bytes.indexOf('data') + 8;
  const promised = bytes.readUInt32LE(sound - 4);
  return Math.min(promised, size - sound) / bytes.readUInt32LE(28);
}

/** The last page has the total number of samples. */
function ofOgg(bytes: Buffer): number | undefined {
  const samples = Number(bytes.readBigUInt64LE(bytes.lastIndexOf('OggS') + 6));
  const codec = bytes.toString('latin1', 28, 36);
  if (codec === 'OpusHead') return (samples - bytes.readUInt16LE(38)) / 48_000;
  return codec.startsWith('\x01vorbis') ? samples / bytes.readUInt32LE(40) : undefined;
}

/** MP3 and AAC: each frame has its length in bytes, and all frames have the same duration. */
function ofFrames(bytes: Buffer, start: number): number | undefined {
  const second = bytes[start + 1]!;
  if (bytes[start] !== 0xff || second < 0xe0) return undefined;
  const isAac = (second & 0x06) === 0;
  const version = isAac || (second & 0x18) === 0x18 ? 1 : (second & 0x18) === 0x10 ? 2 : 4;
  const hertz = isAac ? AAC_HERTZ[(bytes[start + 2]! >> 2) & 15]! : MP3_HERTZ[(bytes[start + 2]! >> 2) & 3]! / version;
  const samples = isAac ? 1_024 : version === 1 ? 1_152 : 576;
  const kilobits = version === 1 ? KILOBITS : KILOBITS_2;
  let frames = 0;
  for (let at = start; at + HEAD <= bytes.length && bytes[at] === 0xff; frames++) {
    const third = bytes[at + 2]!;
    const length = isAac
      ? (bytes.readUIntBE(at + 3, 3) >> 5) & 0x1fff
      : Math.floor((samples * 125 * kilobits[third >> 4]!) / hertz) + ((third >> 1) & 1);
    if (!(length >= HEAD)) break;
    at += length;
  }
  return (frames * samples) / hertz;
}

/** The size has seven bits per byte. */
function tagLength(bytes: Buffer): number {
  let length = 0;
  for (const byte of bytes.subarray(6, 10)) length = length * 128 + byte;
  return length;
}
