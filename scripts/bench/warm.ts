/** Running what will be measured until it is compiled. */
import type { Load, LoadTools } from './load.ts';
import type { Target } from './variants.ts';

/** Of whole answers at full speed. */
export const CONNECTIONS = 64;

/** After so many calls V8 has optimized what they run through; after so many seconds we do not wait for the slow ones. */
const CALLS = 12_000;
const SECONDS = 4;

/** Makes whole calls until the server is warm. Requests per second. */
export async function warmUp(target: Target, tools: LoadTools, load: Partial<Load> = {}): Promise<number> {
  const measure = (requests: number) =>
    tools.measure(target, { stream: false, connections: CONNECTIONS, requests: Math.round(requests), ...load });
  const { perSecond } = await measure(500);
  return (await measure(Math.min(CALLS, perSecond * SECONDS))).perSecond;
}
