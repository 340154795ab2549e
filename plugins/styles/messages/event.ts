/** One event of a messages stream. */
import type { JsonObject } from '../../../core/plugin.ts';

/** The whole event. Clients of this style ignore events without an `event` line. */
export function event(type: string, data: JsonObject = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
