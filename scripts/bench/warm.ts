/** Warms up a server until its code is compiled. */
import type { Load, LoadTools } from './load.ts';
import type { Target } from './variants.ts';

/** Of whole answers at full speed. */
export const CONNECTIONS = 64;

/**
 * After this many calls V8 compiles hardly anything any more: after 12,000 it still spent a fifth of the CPU of a call of Turnpike on that. Slow servers
 * get at most this many seconds.
 */
const CALLS = 80_000;
const SECONDS = 20;
/** Of streams: at once, and in total. */
const STREAMS_AT_ONCE = 200;
const STREAMS = 1_200;

/** Makes whole calls until the server is warm. Returns requests per second. */
export async function warmUp(target: Target, tools: LoadTools, load: Partial<Load> = {}): Promise<number> {
  const measure = (requests: number) =>
    tools.measure(target, { stream: false, connections: CONNECTIONS, requests: Math.round(requests), ...load });
  const { perSecond } = await measure(500);
  return (await measure(Math.min(CALLS, perSecond * SECONDS) * tools.warmth)).perSecond;
}

/** Makes streams until the server is warm for them, too. */
export async function warmUpStreams(target: Target, tools: LoadTools): Promise<void> {
  const requests = Math.max(STREAMS_AT_ONCE, Math.round(STREAMS * tools.warmth));
  await tools.measure(target, { stream: true, connections: STREAMS_AT_ONCE, requests });
}
