/** The counts that every client is promised, in answers whose vendor leaves some of them out. */
import type { Call, Finishing, Json, JsonBody, JsonObject, Losses, Usage } from '../../../core/plugin.ts';
import { isObject } from '../../../core/translation/index.ts';
import { toUsage, usageBody } from './usage.ts';

const COUNTS = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens'];

/** The changes that give a message all counts; empty where it has them. `usage`: what is told where the vendor says nothing. */
export function completing(told: Json, usage: () => Usage, losses: Losses): Record<string, string> {
  if (isObject(told) && COUNTS.every((name) => typeof told[name] === 'number')) return {};
  losses.change('usage', 'hint');
  const own = isObject(told) ? told : {};
  const counted: JsonObject = toUsage(told) === undefined ? usageBody(usage()) : {};
  const counts = COUNTS.map((name) => [name, own[name] ?? counted[name] ?? 0]);
  return { usage: JSON.stringify({ ...own, ...Object.fromEntries(counts) }) };
}

/** A whole answer with all counts; undefined where it has them. */
export function finishAnswer(body: JsonBody, _call: Call, { usage, losses }: Finishing): Buffer | undefined {
  const changes = completing(body.get('usage') ?? null, () => usage, losses);
  return changes.usage === undefined ? undefined : body.patched(changes);
}
