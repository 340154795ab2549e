/** The secret and the identifier of a key of one-api and new-api. */
import { hash } from 'node:crypto';
import { type Row, textOf } from '../values.ts';

/** The secret in a row of `tokens`: it is stored without the `sk-` that users see. */
export function secretOf(row: Row): string {
  const stored = textOf(row, 'key') ?? '';
  return stored.startsWith('sk-') ? stored : `sk-${stored}`;
}

/** The SHA-256 of the secret. */
export function keyIdOf(row: Row): string {
  return hash('sha256', secretOf(row), 'hex');
}
