/** Reads members of untrusted replies: a value of the wrong type counts as missing. */
import type { Json } from '../../../core/plugin.ts';
import { member, tokensIn } from '../../../core/translation/index.ts';

/** A member that is a number, or a numeric text, as large numbers are encoded; otherwise 0. */
export function numberIn(value: Json | undefined, name: string): number {
  const raw = member(value, name);
  return (typeof raw === 'number' || typeof raw === 'string' ? Number(raw) : 0) || 0;
}

/** A member that counts tokens. */
export function countIn(value: Json | undefined, name: string): number {
  return tokensIn(numberIn(value, name));
}

/** True if it is empty. */
export function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}
