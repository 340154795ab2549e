/** The vendor that issued a response: what it knows of it, beside the call that made it. */
import { Catalog } from '../../../core/contracts/catalog.ts';
import type { Host, JsonObject, Question } from '../../../core/plugin.ts';
import { isObject } from '../../../core/translation/index.ts';
import { completion } from '../responses/completion.ts';
import type { Turn, Turns } from './turns.ts';
import { bufferOf } from './work.ts';

/** Asks vendors about the responses they issued. None of it ever fails: a vendor that does not answer has nothing to say. */
export interface Issuer {
  /** The response as it stands now: one that had not ended is asked for, and kept once it has. JSON text. */
  current(turn: Turn, response: string): Promise<string>;
  /** The same of its bytes. */
  currentBytes(turn: Turn, response: Uint8Array): Promise<Uint8Array>;
  /** Stops a response that is made in the background; undefined where the vendor does not say that it did. */
  cancel(turn: Turn, response: string): Promise<string | undefined>;
  /** Has the vendor forget it. */
  forget(turn: Turn): Promise<void>;
}

const PENDING = ['queued', 'in_progress'];

/** Whether a response is still being made. */
export function isPending(response: string): boolean {
  const { status } = JSON.parse(response) as JsonObject;
  return PENDING.some((pending) => status === pending);
}

export function createIssuer(host: Host, turns: Turns): Issuer {
  /** The vendor's answer where it is a success. */
  async function ask(turn: Turn, method: Question['method'], below = ''): Promise<JsonObject | undefined> {
    if (turn.channel === null) return undefined;
    const channel = host.find(Catalog)?.channel(turn.channel);
    if (channel === undefined) return undefined;
    const path = host.vendors().get(channel.vendor)?.speaks.responses?.path;
    const root = typeof path === 'string' ? path : '/responses';
    const facts = { channel: channel.name, method, response: turn.id };
    try {
      const { status, body } = await host.ask(channel, {
        method,
        path: `${root}/${encodeURIComponent(turn.id)}${below}`,
      });
      if (status >= 200 && status < 300) return isObject(body) ? body : {};
      host.log.warn('a vendor would not say what became of a response', { ...facts, status });
    } catch (error) {
      host.log.warn('a vendor could not be asked about a response', { ...facts, error });
    }
    return undefined;
  }

  /** What the vendor says about it, kept where that is its last word. `before`: as it was kept until now. */
  async function told(turn: Turn, said: JsonObject | undefined, before: string): Promise<string | undefined> {
    if (said?.id !== turn.id) return undefined;
    const { previous_response_id: previous } = JSON.parse(before) as JsonObject;
    const previousId = typeof previous === 'string' ? previous : undefined;
    const response = JSON.stringify({ ...said, ...completion(said, { previousId }) });
    if (!isPending(response)) await turns.replace(turn, response);
    return response;
  }

  async function current(turn: Turn, response: string): Promise<string> {
    if (turn.channel === null || !isPending(response)) return response;
    return (await told(turn, await ask(turn, 'GET'), response)) ?? response;
  }

  return {
    current,
    async currentBytes(turn, response) {
      // Most have ended: to parse a large one would keep all calls waiting.
      const bytes = bufferOf(response);
      if (turn.channel === null || !PENDING.some((status) => bytes.includes(`"status":"${status}"`))) return response;
      return Buffer.from(await current(turn, bytes.toString()));
    },
    cancel: async (turn, response) => told(turn, await ask(turn, 'POST', '/cancel'), response),
    async forget(turn) {
      await ask(turn, 'DELETE');
    },
  };
}
