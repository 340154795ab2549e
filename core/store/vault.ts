/** Secrets at rest: encrypted with the master key, each bound to its place in the store. */

import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { Vault } from '../contracts/host.ts';

export type { Vault } from '../contracts/host.ts';

/** The length of a master key. */
export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1';
const SEALED = /^v1\.[0-9a-f]{16}\.[\w-]{38,}$/;

/** A vault with a master key of 32 bytes. AES-256-GCM; the place is authenticated data. */
export function createVault(masterKey: Buffer): Vault {
  const derive = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', masterKey, '', purpose, KEY_BYTES));
  const key = derive('turnpike secrets at rest');
  const keyId = createHash('sha256').update(derive('turnpike key id')).digest('hex').slice(0, 16);

  return {
    keyId,
    derive: (purpose) => derive(`turnpike for ${purpose}`),
    isSealed: (text) => SEALED.test(text),
    seal(place, secret) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(place));
      const parts = [nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return `${VERSION}.${keyId}.${Buffer.concat(parts).toString('base64url')}`;
    },
    open(place, sealed) {
      const [version, sealedWith, text = ''] = sealed.split('.');
      const bytes = Buffer.from(text, 'base64url');
      if (version !== VERSION || bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error('it is not a sealed secret');
      if (sealedWith !== keyId) throw new Error('it was sealed with another master key');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(place));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const secret = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([secret, decipher.final()]).toString('utf8');
    },
  };
}

/** The master key of an environment variable: 32 bytes in base64 or hexadecimal. Throws if it is neither. */
export function readMasterKey(text: string): Buffer {
  const key = text.trim();
  if (/^[0-9a-f]{64}$/i.test(key)) return Buffer.from(key, 'hex');
  // Buffers skip characters that are not base64: a sentence of the right length would become a weak key.
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(key)) return Buffer.from(key, 'base64');
  throw new Error(
    'TURNPIKE_MASTER_KEY must be 32 bytes in base64 or hexadecimal: run `openssl rand -base64 32` to create one',
  );
}
