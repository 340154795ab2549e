/** Looks into what the vendor sent without trusting any of it: what is not as expected is not there. */
import type { Json } from '../../../core/plugin.ts';
import { member, tokensIn } from '../../../core/translation/index.ts';

/** A member that is a number, or the text of one, as large numbers are written; 0 where it is neither. */
export function numberIn(value: Json | undefined, name: string): number {
  const found = member(value, name);
  return (typeof found === 'number' || typeof found === 'string' ? Number(found) : 0) || 0;
}

/** A member that counts tokens. */
export function countIn(value: Json | undefined, name: string): number {
  return tokensIn(numberIn(value, name));
}

/** True where there is nothing in it. */
export function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}
