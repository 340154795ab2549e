/** A small reading of JSON that nobody has checked. */
import type { Json } from '../../../core/plugin.ts';
import { member } from '../../../core/translation/index.ts';

/** A member that is a text; empty where it is not. */
export function textIn(value: Json | undefined, name: string): string {
  const found = member(value, name);
  return typeof found === 'string' ? found : '';
}
