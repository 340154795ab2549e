/**
 * Decrypts what LiteLLM encrypts in its database. The key is the SHA-256 of `LITELLM_SALT_KEY`, or of the master key if there was none.
 * Two formats: NaCl secret boxes (nonce of 24 bytes, then the box) in base64, and `v2:gcm:` with base64 of a nonce of 12 bytes, the
 * AES-256-GCM ciphertext and its tag of 16 bytes (setting `encryption_algorithm: aes-256-gcm`). Facts: BerriAI/litellm 1.110.2,
 * litellm/proxy/common_utils/encrypt_decrypt_utils.py.
 */
import { createDecipheriv, hash } from 'node:crypto';

const NONCE_BYTES = 24;
const GCM = 'v2:gcm:';
const GCM_NONCE_BYTES = 12;
const GCM_TAG_BYTES = 16;
/** Base64 of a nonce, a tag and at least one byte. */
const BOX = /^[\w+/-]{55,}={0,2}$/;

/** Opens a sealed value: its text; undefined if its key is another one, or the text is not sealed. */
export type OpenBox = (box: string) => string | undefined;

/** Whether a text looks like a sealed value. */
export function isSealed(text: string): boolean {
  return text.startsWith(GCM) || BOX.test(text);
}

/** Opens values with this key; without one, none can be opened. */
export async function createBoxOpener(saltKey: string | undefined): Promise<OpenBox> {
  if (saltKey === undefined) return () => undefined;
  // Loaded here, because a gateway that imports nothing does not need it.
  const { xsalsa20poly1305 } = await import('@noble/ciphers/salsa.js');
  const key = hash('sha256', saltKey, 'buffer');
  const openGcm = (bytes: Buffer): string => {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, GCM_NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(-GCM_TAG_BYTES));
    return decipher.update(bytes.subarray(GCM_NONCE_BYTES, -GCM_TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  };
  return (box) => {
    const isGcm = box.startsWith(GCM);
    // Both alphabets of base64 were used.
    const bytes = Buffer.from(isGcm ? box.slice(GCM.length) : box, 'base64');
    if (bytes.length <= NONCE_BYTES) return undefined;
    try {
      if (isGcm) return openGcm(bytes);
      const text = xsalsa20poly1305(key, bytes.subarray(0, NONCE_BYTES)).decrypt(bytes.subarray(NONCE_BYTES));
      return Buffer.from(text).toString('utf8');
    } catch {
      return undefined;
    }
  };
}
