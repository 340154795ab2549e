/** Adds the token counts that some vendors omit. */
import type { Call, Finishing, Json, JsonBody, JsonObject, Losses, Usage } from '../../../core/plugin.ts';
import { isObject } from '../../../core/translation/index.ts';
import { toUsage, usageBody } from './usage.ts';

const COUNTS = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens'];

/** The members to change so that a message has all counts; empty if it has them. `usage`: the counts to use if the vendor reports none. */
export function completing(reported: Json, usage: () => Usage, losses: Losses): Record<string, string> {
  if (isObject(reported) && COUNTS.every((name) => typeof reported[name] === 'number')) return {};
  losses.change('usage', 'hint');
  const own = isObject(reported) ? reported : {};
  const counted: JsonObject = toUsage(reported) === undefined ? usageBody(usage()) : {};
  const counts = COUNTS.map((name) => [name, own[name] ?? counted[name] ?? 0]);
  return { usage: JSON.stringify({ ...own, ...Object.fromEntries(counts) }) };
}

/** A whole reply with all counts; undefined if it has them. */
export function finishAnswer(body: JsonBody, _call: Call, { usage, losses }: Finishing): Buffer | undefined {
  const changes = completing(body.get('usage') ?? null, () => usage, losses);
  return changes.usage === undefined ? undefined : body.patched(changes);
}
