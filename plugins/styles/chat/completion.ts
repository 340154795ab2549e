/** The usage that every client is promised, in answers whose vendor leaves it out: by our own count. */
import type { Call, Finishing, JsonBody, JsonObject } from '../../../core/plugin.ts';
import { countedUsage } from '../../../core/translation/index.ts';
import { isCounted, writeUsage } from './usage.ts';

/** A whole answer with its usage; undefined where it has one. */
export function finishAnswer(body: JsonBody, _call: Call, { usage, losses }: Finishing): Buffer | undefined {
  if (isCounted(body.get('usage'))) return undefined;
  losses.change('usage', 'hint');
  return body.patched({ usage: JSON.stringify(writeUsage(usage)) });
}

/** The event of a stream that holds nothing else. `chunk`: one of its events, which says what answer it is. */
export function usageEvent({ id, object, created, model }: JsonObject, call: Call, textLength: number): string {
  const usage = writeUsage(countedUsage(call.bounds, textLength));
  return `data: ${JSON.stringify({ id, object, created, model, choices: [], usage })}\n\n`;
}
