/** How a vendor handles reasoning in the history that no longer fits what comes before it. */
import type { JsonObject } from '../../../../core/plugin.ts';
import type { Quirks } from '../../../../core/translation/index.ts';

/**
 * The member `thinking` of a request that the gateway changes: reasoning that no longer fits is dropped, because the vendor would refuse the
 * request. With reasoning off, the option is neither valid nor needed; a choice of the client stays.
 */
export function bound(
  thinking: JsonObject | undefined,
  { binding, levels }: Quirks['reasoning'],
): JsonObject | undefined {
  if (!binding || (thinking === undefined && levels.includes('none'))) return thinking;
  const { type = 'adaptive' } = thinking ?? {};
  if (type !== 'adaptive' && type !== 'enabled') return thinking;
  return { block_binding: { prefix_mismatch_behavior: 'drop_block' }, type, ...thinking };
}
