/** Has plugins inspect requests that are no calls: those whose tokens a vendor counts. */
import type { Clock } from './clock.ts';
import { inspectCall } from './content.ts';
import type { Inspecting } from './contracts/inspecting.ts';
import { scanJson } from './json.ts';
import type { Known } from './plugin.ts';
import type { Generation } from './server.ts';
import { supposedExchange } from './supposed.ts';

/** The service, on whatever generation is the current one when it is asked. */
export function createInspecting(current: () => Generation, clock: Clock): Inspecting {
  return {
    async inspect({ holder, style: name, model, body: json, ...request }) {
      const { pipeline, deliver } = current();
      const style = deliver.styles.get(name);
      if (style === undefined) throw new Error(`there is no style ${name}`);
      if (!pipeline.inspects) return undefined;
      const x = Object.assign(supposedExchange(style, request, clock), { identity: holder });
      // It was within the limits when it came.
      const body = scanJson(Buffer.from(JSON.stringify(json)), UNLIMITED);
      const bounds = { inputBytes: body.textBytes, media: body.media, outputTokens: undefined, choices: 1 };
      x.call = { style: name, model, stream: false, asksUsage: false, body, bounds };
      try {
        await inspectCall(x as typeof x & Known, pipeline, 'count');
        return x.call.conversation;
      } finally {
        await x.release((error) => deliver.log.error('a release failed', { exchange: x.id, error }));
      }
    },
  };
}

const UNLIMITED = { depth: Number.POSITIVE_INFINITY, tokens: Number.POSITIVE_INFINITY };
