/** Members of chat completions: the first ones, and the usage, counted by the gateway if the vendor omits it. */
import type { Answering, Call, Finishing, JsonBody, JsonObject, Usage } from '../../../../core/plugin.ts';
import { isToldUsage, writeUsage } from './usage.ts';

/** The first members of a reply or a chunk. */
export function headOf(
  object: 'chat.completion' | 'chat.completion.chunk' | 'text_completion',
  { id, createdMs, model }: Answering,
) {
  const prefix = object === 'text_completion' ? 'cmpl' : 'chatcmpl';
  return { id: `${prefix}-${id}`, object, created: Math.floor(createdMs / 1_000), model };
}

/** A whole reply with its usage; undefined if it has one. */
export function finishAnswer(body: JsonBody, _call: Call, { usage, warnings }: Finishing): Buffer | undefined {
  if (isToldUsage(body.get('usage'))) return undefined;
  warnings.change('usage', 'hint');
  return body.patched({ usage: JSON.stringify(writeUsage(usage)) });
}

/** A stream event that has only the usage. `chunk`: an event of the same stream, from which id and model are taken. */
export function usageEvent({ id, object, created, model }: JsonObject, usage: Usage): string {
  return `data: ${JSON.stringify({ id, object, created, model, choices: [], usage: writeUsage(usage) })}\n\n`;
}
