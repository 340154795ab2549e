/** Random secrets, and their stored form. */
import { hash } from 'node:crypto';
import { randomBase62 } from '../../core/sdk.ts';

const LENGTH = 43;

/** 43 base62 characters: 256 random bits. */
export function newSecret(): string {
  return randomBase62(LENGTH);
}

/** The stored form: the SHA-256. */
export function hashOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
