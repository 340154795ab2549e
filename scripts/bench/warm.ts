/** Warms up a server until its code is compiled. */
import type { Load, LoadTools } from './load.ts';
import type { Target } from './variants.ts';

/** Of whole answers at full speed. */
export const CONNECTIONS = 64;

/** After this many calls V8 has optimized the code; slow servers get at most this many seconds. */
const CALLS = 12_000;
const SECONDS = 4;

/** Makes whole calls until the server is warm. Returns requests per second. */
export async function warmUp(target: Target, tools: LoadTools, load: Partial<Load> = {}): Promise<number> {
  const measure = (requests: number) =>
    tools.measure(target, { stream: false, connections: CONNECTIONS, requests: Math.round(requests), ...load });
  const { perSecond } = await measure(500);
  return (await measure(Math.min(CALLS, perSecond * SECONDS))).perSecond;
}
