/** Simulated requests without a client: for explained calls, and for the tokens of a request that a vendor counts. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { findBase64, LARGE, noBase64 } from '../../bytes/base64-ranges.ts';
import { scanJson } from '../../bytes/json-body.ts';
import { inspectInTurn } from '../../call/inspection.ts';
import { LiveExchange } from '../../call/live-exchange.ts';
import type { Style } from '../../contracts/formats/style.ts';
import type { Inspecting } from '../../contracts/inspecting.ts';
import type { Caller, Known } from '../../plugin.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Generation } from '../../server/generation.ts';

/** A simulated request of this style. */
export function supposedExchange(
  style: Style,
  { path, headers: own, ip }: Pick<Caller, 'path' | 'headers' | 'ip'>,
  clock: Clock,
): LiveExchange {
  const headers = { ...style.ingress?.headers, ...own };
  const request = new IncomingMessage(new Socket());
  return new LiveExchange(
    {
      request,
      response: new ServerResponse(request),
      head: { method: 'POST', path, search: '', headers, length: undefined, hasBody: true, coding: undefined },
      ip,
      style,
      passthrough: undefined,
    },
    clock,
  );
}

/** The service; uses the generation that is current at each call. */
export function createInspecting(current: () => Generation, clock: Clock): Inspecting {
  return {
    async count({ holder, style: name, bytes, ...request }, use) {
      const { pipeline, deliver, limits } = current();
      const style = deliver.styles.get(name);
      if (style === undefined) throw new Error(`there is no style ${name}`);
      const x = Object.assign(supposedExchange(style, request, clock), { identity: holder }) as LiveExchange & Known;
      const base64 = bytes.length < LARGE ? noBase64(bytes) : await findBase64(bytes);
      const body = scanJson(bytes, limits, base64);
      try {
        return await use({
          body,
          async screen(model) {
            const bounds = { inputBytes: body.textBytes, media: body.media, outputTokens: undefined, choices: 1 };
            x.call = { style: name, model, stream: false, asksUsage: false, body, bounds };
            await pipeline.screen(x, { purpose: 'count', isInspected: pipeline.inspects });
          },
          async inspect() {
            await inspectInTurn(x, pipeline, 'count');
            return x.call.conversation;
          },
        });
      } finally {
        await x.release((error) => deliver.log.error('a release callback failed', { exchange: x.id, error }));
      }
    },
  };
}
