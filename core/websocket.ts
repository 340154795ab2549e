/** Websockets inside passages: asked for in our own words, then joined to the client's, and booked when either side closes. */

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { answerHeaders } from './answers.ts';
import { beginAttempt, endAttempt } from './attempt.ts';
import type { FailureKind } from './contracts/call.ts';
import type { Deadline } from './deadlines.ts';
import { type DeliverTools, errorOf, failureOf } from './deliver.ts';
import { GatewayError } from './errors.ts';
import type { LiveExchange } from './exchange.ts';
import type { Head } from './head.ts';
import type { OpaqueCall, OpaqueCarrier, SocketListener } from './opaque.ts';
import { offerOf } from './passage.ts';
import type { Known, Passage } from './plugin.ts';

/** A connection whose client wants a websocket. */
export interface Upgrade {
  readonly head: Head;
  readonly socket: Socket;
  /** What the client sent behind its head. */
  readonly first: Buffer;
}

const HEAD_MS = 60_000;
/** What the two ends settle between them. */
const ASKED: readonly string[] = ['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-extensions'];
const ANSWERED: readonly string[] = ['sec-websocket-accept', 'sec-websocket-protocol', 'sec-websocket-extensions'];

/**
 * Joins an admitted client to the vendor, or throws what the client is to be told. When it returns, both connections are
 * closed and the exchange is concluded. The channel's `idle` and `total` hold for a websocket, too.
 */
export function carrySocket(
  x: LiveExchange & Known,
  passage: Passage,
  upgrade: Upgrade,
  opaque: OpaqueCarrier,
  tools: DeliverTools,
): Promise<void> {
  if (x.stoppedBy !== undefined) throw x.stoppedBy;
  const { clock, deadlines } = tools;
  const { head, socket: client, first } = upgrade;
  const target = passage.target(x);
  const { timeout } = target.channel;
  const totalAtMs = x.startedMono + timeout.totalMs;
  const attempt = beginAttempt(x, offerOf(target), clock);

  return new Promise((resolve, reject) => {
    let call: OpaqueCall | undefined;
    let connected = false;
    let vendor: Socket | undefined;
    let done = false;
    let deadline: Deadline;
    /** Bytes that both sides had sent when that was last looked at. */
    let seen = 0;

    const watch = (ms: number): void => {
      deadline = deadlines.set(Math.min(ms, totalAtMs - clock.mono()), expired);
    };
    const expired = (): void => {
      if (vendor === undefined) {
        fail(connected ? 'timeout' : 'connect', connected ? 'no answer in time' : 'the connection took too long');
        return;
      }
      const sent = client.bytesRead + vendor.bytesRead;
      if (sent === seen || clock.mono() >= totalAtMs) {
        close();
        return;
      }
      seen = sent;
      watch(timeout.idleMs);
    };

    /** Whatever happens from here on is nobody's business. */
    const end = (): void => {
      done = true;
      deadlines.clear(deadline);
      x.onStop(undefined);
      endAttempt(x, attempt, tools);
    };
    /** No websocket came of it. */
    const giveUp = (error: Error): void => {
      if (done) return;
      end();
      call?.abort();
      reject(error);
    };
    const fail = (failure: FailureKind, reason: string): void => {
      if (done) return;
      attempt.failure = failure;
      attempt.reason = reason;
      giveUp(errorOf(failure, attempt));
    };
    /** Either side has closed, or has to. */
    const close = (): void => {
      if (done) return;
      end();
      client.destroySoon();
      vendor?.destroySoon();
      tools.conclude(x, 'served').then(resolve, () => resolve());
    };

    const listener: SocketListener = {
      connected() {
        if (done) return;
        connected = true;
        deadlines.clear(deadline);
        watch(timeout.headMs ?? HEAD_MS);
      },
      answered(answer) {
        answer.on('error', () => {});
        answer.destroy();
        if (done) return;
        const status = answer.statusCode ?? 0;
        attempt.status = status;
        attempt.failure = failureOf(status, status < 400 || status >= 500);
        attempt.reason = `status ${status}`;
        giveUp(
          attempt.failure === 'refused'
            ? new GatewayError(status, 'upstream_refused', `The vendor refused the websocket (status ${status}).`)
            : errorOf(attempt.failure, attempt),
        );
      },
      failed() {
        fail(connected ? 'broken' : 'connect', 'the connection failed');
      },
      opened(answer, theirs) {
        vendor = theirs;
        attempt.status = x.status = 101;
        attempt.firstByteMs = clock.now() - attempt.startedMs;
        x.served = attempt.offer;
        x.delivered = true;
        // What is written from here on are no answers any more.
        x.response.detachSocket(client);
        client.on('close', close);
        theirs.on('close', close);
        deadlines.clear(deadline);
        watch(timeout.idleMs);
        const headers = answerHeaders(x.id, x.answerHeaders, {
          connection: 'Upgrade',
          upgrade: 'websocket',
          'x-turnpike-channel': target.channel.name,
          ...picked(answer.headers, ANSWERED),
        });
        return byName(headers);
      },
    };

    watch(timeout.connectMs);
    try {
      const headers = askedHeaders(head, target.headers);
      call = opaque.ws({ method: 'GET', url: target.url, headers }, client, first, listener);
    } catch {
      fail('broken', 'the request could not be made');
      return;
    }
    x.onStop((error) => {
      if (vendor !== undefined) {
        close();
        return;
      }
      attempt.cut = true;
      giveUp(error);
    });
  });
}

/** Everything the vendor learns about the request, beside its address. */
function askedHeaders(head: Head, credentials: Record<string, string>): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': 'turnpike', ...picked(head.headers, ASKED), ...credentials };
  // Clients that cannot set headers put credentials here, and ours are not for the vendor.
  const protocols = (head.headers['sec-websocket-protocol'] ?? '').split(/[\s,]+/);
  const harmless = protocols.filter((protocol) => protocol !== '' && !protocol.includes('api-key'));
  if (harmless.length > 0) headers['sec-websocket-protocol'] = harmless.join(', ');
  return Object.assign(headers, { connection: 'Upgrade', upgrade: 'websocket' });
}

function byName(headers: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (let i = 0; i < headers.length; i += 2) found[headers[i]!] = headers[i + 1]!;
  return found;
}

function picked(
  headers: IncomingMessage['headers'] | Head['headers'],
  names: readonly string[],
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string') found[name] = value;
  }
  return found;
}
