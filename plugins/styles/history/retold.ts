/** What was answered, so that any vendor can be told it: thoughts sealed for their maker alone, and no labels of whoever kept them. */

import type { Json } from '../../../core/plugin.ts';
import { isObject, packOpaque } from '../../../core/translation/index.ts';

/** Items whose id and status only say where they were kept, and that they are done. */
const LABELLED: readonly (Json | undefined)[] = ['message', 'function_call', 'custom_tool_call'];

/**
 * Output items of an answer. `channel`: whose vendor gave it in this style, and can alone read its thoughts; one that is not sealed
 * cannot be said again. Null: we wrote it, and have sealed them already.
 */
export function retold(output: readonly Json[], channel: string | null): readonly Json[] {
  return output.flatMap((item): readonly Json[] => {
    if (!isObject(item)) return [item];
    if (item.type === 'reasoning' && channel !== null) {
      const { id, encrypted_content: value } = item;
      if (typeof value !== 'string' || value === '') return [];
      const sealed = { style: 'responses', channel, kind: 'encrypted', value } as const;
      return [{ ...item, encrypted_content: packOpaque(typeof id === 'string' ? { ...sealed, id } : sealed) }];
    }
    if (!LABELLED.includes(item.type)) return [item];
    const { id: _, status: __, ...said } = item;
    return [said];
  });
}
