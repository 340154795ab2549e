/** The vendor that issued a response: requests to it about that response. */
import { Catalog } from '../../../core/contracts/catalog.ts';
import type { Host, JsonObject, Question } from '../../../core/plugin.ts';
import { isObject } from '../../../core/translation/index.ts';
import { completion } from '../responses/answer.ts';
import type { Turn, Turns } from './turns.ts';
import { bufferOf } from './work.ts';

const PENDING = ['queued', 'in_progress'];

/** Whether a response is still in progress. */
export function isPending(response: string): boolean {
  const { status } = JSON.parse(response) as JsonObject;
  return PENDING.some((pending) => status === pending);
}

export function createIssuer(host: Host, turns: Turns) {
  /** The vendor's reply if it is a success. */
  async function ask(turn: Turn, method: Question['method'], below = ''): Promise<JsonObject | undefined> {
    if (turn.channel === null) return undefined;
    const channel = host.find(Catalog)?.channel(turn.channel);
    if (channel === undefined) return undefined;
    const path = host.vendors().get(channel.vendor)?.speaks.responses?.path;
    const root = typeof path === 'string' ? path : '/responses';
    const facts = { channel: turn.channel, method, response: turn.id };
    try {
      const { status, body } = await host.ask(channel, {
        method,
        path: `${root}/${encodeURIComponent(turn.id)}${below}`,
      });
      if (status >= 200 && status < 300) return isObject(body) ? body : {};
      host.log.warn('the vendor refused a request about a stored response', { ...facts, status });
    } catch (error) {
      host.log.warn('a request about a stored response failed', { ...facts, error });
    }
    return undefined;
  }

  /** The vendor's current state of the response, stored if it is final. `before`: the stored state. */
  async function update(turn: Turn, reply: JsonObject | undefined, before: string): Promise<string | undefined> {
    if (reply?.id !== turn.id) return undefined;
    const { previous_response_id: previous } = JSON.parse(before) as JsonObject;
    const previousId = typeof previous === 'string' ? previous : undefined;
    const response = JSON.stringify({ ...reply, ...completion(reply, { previousId }) });
    if (!isPending(response)) await turns.replace(turn, response);
    return response;
  }

  async function current(turn: Turn, response: string): Promise<string> {
    if (turn.channel === null || !isPending(response)) return response;
    return (await update(turn, await ask(turn, 'GET'), response)) ?? response;
  }

  return {
    /** The current state of the response: one that has not ended is requested from the vendor, and stored once it has ended. JSON text. */
    current,
    /** The same for its bytes. */
    async currentBytes(turn: Turn, response: Uint8Array): Promise<Uint8Array> {
      // Most have ended: parsing a large one would block other calls.
      const bytes = bufferOf(response);
      if (turn.channel === null || !PENDING.some((status) => bytes.includes(`"status":"${status}"`))) return response;
      return Buffer.from(await current(turn, bytes.toString()));
    },
    /** Cancels a background response; undefined if the vendor does not confirm it. */
    cancel: async (turn: Turn, response: string): Promise<string | undefined> =>
      update(turn, await ask(turn, 'POST', '/cancel'), response),
    /** Deletes the response at the vendor. */
    async forget(turn: Turn): Promise<void> {
      await ask(turn, 'DELETE');
    },
  };
}

/** Asks vendors about the responses they issued. Nothing here throws: if a vendor does not answer, the result is undefined. */
export type Issuer = ReturnType<typeof createIssuer>;
