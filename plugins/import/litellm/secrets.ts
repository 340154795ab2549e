/**
 * Decrypts what LiteLLM encrypts in its database: NaCl secret boxes (nonce of 24 bytes, then the box) in base64, whose
 * key is the SHA-256 of `LITELLM_SALT_KEY`, or of the master key if there was none. Facts:
 * docs.litellm.ai/docs/data_security.
 */
import { hash } from 'node:crypto';

const NONCE_BYTES = 24;

/** Opens a box: its text; undefined if its key is another one, or the text is not a box. */
export type OpenBox = (box: string) => string | undefined;

/** Opens boxes with this key. */
export async function createBoxOpener(saltKey: string): Promise<OpenBox> {
  // Loaded here, because a gateway that imports nothing does not need it.
  const { xsalsa20poly1305 } = await import('@noble/ciphers/salsa.js');
  const key = hash('sha256', saltKey, 'buffer');
  return (box) => {
    // Both alphabets of base64 were used.
    const bytes = Buffer.from(box, 'base64');
    if (bytes.length <= NONCE_BYTES) return undefined;
    try {
      const text = xsalsa20poly1305(key, bytes.subarray(0, NONCE_BYTES)).decrypt(bytes.subarray(NONCE_BYTES));
      return Buffer.from(text).toString('utf8');
    } catch {
      return undefined;
    }
  };
}
