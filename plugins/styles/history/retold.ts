/** Converts output items to input that any vendor accepts: reasoning sealed for its vendor, and no storage labels. */

import type { Json } from '../../../core/plugin.ts';
import { isObject, packOpaque } from '../../../core/translation/index.ts';

/** Item types whose id and status only describe storage and completion. */
const LABELLED: readonly (Json | undefined)[] = ['message', 'function_call', 'custom_tool_call'];

/**
 * Converts the output items of a response. `channel`: the channel whose vendor answered in this style, and which alone
 * can read its reasoning; reasoning that is not sealed is left out. Null: the gateway wrote the response, and has sealed
 * its reasoning already.
 */
export function toInputItems(output: readonly Json[], channel: string | null): readonly Json[] {
  return output.flatMap((item): readonly Json[] => {
    if (!isObject(item)) return [item];
    if (item.type === 'reasoning' && channel !== null) {
      const { id, encrypted_content: value } = item;
      if (typeof value !== 'string' || value === '') return [];
      const sealed = { style: 'responses', channel, kind: 'encrypted', value } as const;
      return [{ ...item, encrypted_content: packOpaque(typeof id === 'string' ? { ...sealed, id } : sealed) }];
    }
    if (!LABELLED.includes(item.type)) return [item];
    const { id: _, status: __, ...rest } = item;
    return [rest];
  });
}
