/** Tool calls in the replies of chat vendors, which deviate from the specification. */
import { createHash, randomUUID } from 'node:crypto';
import type { Json, JsonObject, Origin } from '../../../../core/plugin.ts';
import { isObject, jsonText, type ToolCallBlock, textOf } from '../../../../core/translation/index.ts';
import { thoughtSignature } from './thinking.ts';

/** A call, or a piece of one. Missing members are empty. */
export interface CallPiece {
  readonly id: string;
  readonly name: string;
  readonly kind: ToolCallBlock['kind'];
  readonly input: string;
  readonly opaque: ToolCallBlock['opaque'];
}

/** One entry of `tool_calls`. Some servers send `function` and `custom`; the one with a name counts. */
export function readCallPiece(entry: JsonObject, { channel }: Origin): CallPiece {
  const isNamed = isObject(entry.custom) && textOf(entry.custom.name) !== '';
  const isCustom = entry.type === 'custom' || isNamed || (isObject(entry.custom) && !isObject(entry.function));
  const inner = isCustom ? entry.custom : entry.function;
  const { name, input, arguments: words } = isObject(inner) ? inner : {};
  return {
    id: textOf(entry.id),
    name: textOf(name),
    kind: isCustom ? 'custom' : 'function',
    input: inputText(isCustom ? input : words),
    opaque: thoughtSignature(entry.extra_content, channel),
  };
}

/**
 * An id for a call without one. A reply gets the same ids whether streamed or not. Some servers use one id for all
 * answers, so the answer's id alone is not enough.
 */
export function newCallId({ id, created }: JsonObject, place: number): string {
  const isKnown = textOf(id) !== '' && typeof created === 'number' && created > 0;
  const seed = isKnown ? `${String(id)}:${created}:${place}` : randomUUID();
  return `call_${createHash('sha256').update(seed).digest('hex').slice(0, 32)}`;
}

/** Arguments are a string; some servers send the object itself. */
function inputText(input: Json | undefined): string {
  if (typeof input === 'string') return input;
  return input === undefined || input === null ? '' : jsonText(input);
}
