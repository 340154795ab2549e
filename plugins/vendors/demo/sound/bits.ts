/** Helpers for encoders: a bit writer, and CRCs. */

/** Creates an empty writer. */
export function createBitWriter() {
  const bits: number[] = [];
  return {
    put(value: number, count: number): void {
      for (let bit = count - 1; bit >= 0; bit--) bits.push((value >> bit) & 1);
    },
    get length() {
      return bits.length;
    },
    /** The bytes, padded with zeros to this length, or to the next whole byte. */
    bytes(atLeast: number = 0): Buffer {
      const bytes = Buffer.alloc(Math.max(atLeast, Math.ceil(bits.length / 8)));
      for (const [i, bit] of bits.entries()) if (bit === 1) bytes[i >> 3]! |= 0x80 >> (i & 7);
      return bytes;
    },
  };
}

/** A CRC of this width, highest bit first, with this polynomial. */
export function cyclicSum(bits: 8 | 16 | 32, polynomial: number): (bytes: Buffer) => number {
  const top = 2 ** (bits - 1);
  const mask = 2 ** bits - 1;
  const table = Array.from({ length: 256 }, (_, byte) => {
    let sum = byte * 2 ** (bits - 8);
    for (let i = 0; i < 8; i++) {
      const carry = sum >= top;
      sum = (sum * 2) % (mask + 1);
      if (carry) sum = (sum ^ polynomial) >>> 0;
    }
    return sum;
  });
  return (bytes) => {
    let sum = 0;
    for (const byte of bytes) {
      const index = Math.floor(sum / 2 ** (bits - 8)) ^ byte;
      sum = (((sum * 256) % (mask + 1)) ^ table[index]!) >>> 0;
    }
    return sum;
  };
}
