/** The vendor that issued a response: requests to it about that response. */

import type { Readable } from 'node:stream';
import { Catalog } from '../../../core/contracts/catalog.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import { Groups } from '../../../core/contracts/groups.ts';
import type { Holder } from '../../../core/contracts/identity.ts';
import type { Channel, Host, JsonObject, Question } from '../../../core/plugin.ts';
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

/** Streams of one account at the same time: each is a connection to a vendor, and no call that limits and money bound. */
const MOST_STREAMS = 8;

export function createIssuer(host: Host, turns: Turns) {
  /** The streams of each account. */
  const streaming = new Map<number, number>();
  /** Running requests for the state of a response. */
  const asking = new Map<string, Promise<string | undefined>>();

  /** Whether a caller reaches the channel of a response: its vendor is not asked for others. */
  function isFor(turn: Turn, holder: Holder | undefined): boolean {
    const groups = host.find(Groups);
    const channel = turn.channel === null ? undefined : host.find(Catalog)?.channel(turn.channel);
    if (groups === undefined || holder === undefined || channel === undefined) return true;
    return groups.reachOfChannel(holder, channel.name) !== undefined;
  }

  /** Sends the request of `send` about a response; undefined if the vendor does not answer with a success. */
  async function succeeding<T extends { readonly status: number }>(
    turn: Turn,
    method: Question['method'],
    below: string,
    send: (channel: Channel, question: Question) => Promise<T>,
  ): Promise<T | undefined> {
    if (turn.channel === null) return undefined;
    const channel = host.find(Catalog)?.channel(turn.channel);
    if (channel === undefined) return undefined;
    const path = host.vendors().get(channel.vendor)?.speaks.responses?.path;
    const root = typeof path === 'string' ? path : '/responses';
    const facts = { channel: turn.channel, method, response: turn.id };
    try {
      const reply = await send(channel, { method, path: `${root}/${encodeURIComponent(turn.id)}${below}` });
      if (reply.status >= 200 && reply.status < 300) return reply;
      host.log.warn('the vendor refused a request about a stored response', { ...facts, status: reply.status });
    } catch (error) {
      host.log.warn('a request about a stored response failed', { ...facts, error });
    }
    return undefined;
  }

  /** The vendor's reply if it is a success. */
  async function ask(turn: Turn, method: Question['method'], below = ''): Promise<JsonObject | undefined> {
    const reply = await succeeding(turn, method, below, host.ask);
    return reply && (isObject(reply.body) ? reply.body : {});
  }

  /** The vendor's events of a background response, as it sends them; undefined if it does not. Refuses (429) too many at the same time. */
  async function events(turn: Turn, holder: Holder | undefined, query: URLSearchParams): Promise<Readable | undefined> {
    if (!isFor(turn, holder)) return undefined;
    const end = beginStream(turn.accountId);
    const reply = await succeeding(turn, 'GET', `?${query}`, async (channel, question) => {
      const stream = await host.askStream(channel, question);
      if (stream.status !== 200) stream.body.destroy();
      return stream;
    });
    if (reply === undefined) end();
    return reply?.body.once('close', end).setEncoding('utf8');
  }

  function beginStream(accountId: number): () => void {
    const before = streaming.get(accountId) ?? 0;
    if (before >= MOST_STREAMS) {
      throw coreErrors.concurrency_limit_exceeded(
        `At most ${MOST_STREAMS} streams of an account can be resumed at the same time. Try again when one has ended.`,
      );
    }
    streaming.set(accountId, before + 1);
    return () => {
      const left = streaming.get(accountId)! - 1;
      if (left > 0) streaming.set(accountId, left);
      else streaming.delete(accountId);
    };
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

  async function current(turn: Turn, holder: Holder | undefined, response: string): Promise<string> {
    if (turn.channel === null || !isPending(response) || !isFor(turn, holder)) return response;
    return (await shared(turn, 'GET', '', response)) ?? response;
  }

  /** The state that the vendor answers with; undefined if it does not. Calls that ask before it has answered get the same answer. */
  function shared(turn: Turn, method: Question['method'], below: string, before: string): Promise<string | undefined> {
    const name = `${turn.accountId} ${turn.id}${below}`;
    const running = asking.get(name);
    if (running !== undefined) return running;
    const asked = ask(turn, method, below)
      .then((reply) => update(turn, reply, before))
      .finally(() => asking.delete(name));
    asking.set(name, asked);
    return asked;
  }

  return {
    /** The current state of the response: one that has not ended is requested from the vendor, and stored once it has ended. JSON text. */
    current,
    /** The same for its bytes. */
    async currentBytes(turn: Turn, holder: Holder | undefined, response: Uint8Array): Promise<Uint8Array> {
      // Most have ended: parsing a large one would block other calls.
      const bytes = bufferOf(response);
      if (turn.channel === null || !PENDING.some((status) => bytes.includes(`"status":"${status}"`))) return response;
      return Buffer.from(await current(turn, holder, bytes.toString()));
    },
    /** Cancels a background response; undefined if the vendor does not confirm it. */
    cancel: async (turn: Turn, holder: Holder | undefined, response: string): Promise<string | undefined> =>
      isFor(turn, holder) ? shared(turn, 'POST', '/cancel', response) : undefined,
    events,
    /** Deletes the response at the vendor. */
    async forget(turn: Turn, holder: Holder | undefined): Promise<void> {
      if (isFor(turn, holder)) await ask(turn, 'DELETE');
    },
  };
}

/** Asks vendors about the responses they issued. Nothing here throws: if a vendor does not answer, or the caller's group does not reach its channel, the result is undefined. */
export type Issuer = ReturnType<typeof createIssuer>;
