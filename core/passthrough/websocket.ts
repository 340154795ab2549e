/** WebSockets on passthrough routes: joined to the client's connection, recorded when either side closes. */

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { LiveExchange } from '../call/live-exchange.ts';
import { coreErrors } from '../contracts/errors.ts';
import type { FailureKind } from '../contracts/formats/call.ts';
import { beginAttempt, endAttempt } from '../delivery/attempt.ts';
import { type DeliverTools, unsigned } from '../delivery/deliver.ts';
import { errorOf, failureOf } from '../delivery/judge-answer.ts';
import type { Head } from '../http/request-head.ts';
import { answerHeaders } from '../http/responses.ts';
import { addHeaders, signedHeaders } from '../outgoing/channel-request.ts';
import type { Known, PassthroughRoute, PassthroughTarget } from '../plugin.ts';
import type { Deadline } from '../runtime/deadlines.ts';
import type { OpaqueCall, OpaqueCarrier, OpaqueRequest, SocketListener } from './byte-proxy.ts';
import { addressOf, connectFailure, offerOf } from './passthrough.ts';

/** A client connection that requests a WebSocket. */
export interface Upgrade {
  readonly head: Head;
  readonly socket: Socket;
  /** The bytes that the client sent after its head. */
  readonly first: Buffer;
}

const HEAD_MS = 60_000;
const UPGRADE = { connection: 'Upgrade', upgrade: 'websocket' } as const;
/** Headers of the WebSocket handshake. */
const ASKED: readonly string[] = ['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-extensions'];
const ANSWERED: readonly string[] = ['sec-websocket-accept', 'sec-websocket-protocol', 'sec-websocket-extensions'];

/**
 * Joins an admitted client to the vendor, or throws the error for the client. When it returns, both connections are
 * closed and the request has ended. The channel's timeouts `idle` and `total` apply to a WebSocket, too.
 */
export function carrySocket(
  x: LiveExchange & Known,
  passthrough: PassthroughRoute,
  upgrade: Upgrade,
  opaque: OpaqueCarrier,
  tools: DeliverTools,
): Promise<void> {
  if (x.stoppedBy !== undefined) throw x.stoppedBy;
  const { clock, deadlines, proxies, vendors } = tools;
  const { head, socket: client, first } = upgrade;
  const target = passthrough.target(x);
  const { timeout } = target.channel;
  const totalAtMs = x.startedMono + timeout.totalMs;
  const attempt = beginAttempt(x, offerOf(target), clock);

  return new Promise((resolve, reject) => {
    let call: OpaqueCall | undefined;
    let connected = false;
    let vendor: Socket | undefined;
    let done = false;
    let deadline: Deadline | undefined;
    /** Bytes that both sides had sent at the last check. */
    let seen = 0;

    const watch = (ms: number): void => {
      if (deadline !== undefined) deadlines.clear(deadline);
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

    /** Ignores all later events. */
    const end = (): void => {
      done = true;
      if (deadline !== undefined) deadlines.clear(deadline);
      x.onStop(undefined);
      endAttempt(x, attempt, tools);
    };
    /** The upgrade failed. */
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
            ? coreErrors.upstream_refused(status).with({ status })
            : errorOf(attempt.failure, attempt),
        );
      },
      failed(error) {
        fail(connected ? 'broken' : 'connect', connectFailure(error));
      },
      opened(answer, vendorSocket) {
        vendor = vendorSocket;
        attempt.status = x.status = 101;
        attempt.firstByteMs = clock.now() - attempt.startedMs;
        x.served = attempt.offer;
        x.delivered = true;
        // From here on the bytes are no longer HTTP answers.
        x.response.detachSocket(client);
        client.on('close', close);
        vendorSocket.on('close', close);
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

    const open = (request: OpaqueRequest): void => {
      if (done) return;
      watch(timeout.connectMs);
      try {
        Object.assign(request.headers, UPGRADE);
        call = opaque.ws(request, client, first, listener);
      } catch {
        fail('broken', 'the request could not be sent');
      }
    };
    const url = addressOf(target);
    const proxy = proxies.for(url, target.channel.proxy);
    const request = { method: 'GET', url, headers: askedHeaders(head, target), proxy };
    const signer = vendors.get(target.channel.vendor);
    if (signer?.sign === undefined) {
      open(request);
    } else {
      signedHeaders(signer, target.channel, { ...request, body: undefined }, { clock, signal: x.signal }).then(
        (headers) => open({ ...request, headers }),
        (error) => fail('credential', unsigned(error, target.channel)),
      );
    }
    if (done) return;
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

/** All upstream headers, except the host. */
function askedHeaders(head: Head, target: PassthroughTarget): Record<string, string> {
  const headers: Record<string, string> = {
    'user-agent': 'turnpike',
    ...picked(head.headers, ASKED),
    ...target.headers,
  };
  // Clients that cannot set headers put credentials here, which must not be forwarded.
  const protocols = (head.headers['sec-websocket-protocol'] ?? '').split(/[\s,]+/);
  const harmless = protocols.filter((protocol) => protocol !== '' && !protocol.includes('api-key'));
  if (harmless.length > 0) headers['sec-websocket-protocol'] = harmless.join(', ');
  addHeaders(headers, target.channel.headers);
  return headers;
}

function byName(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i < lines.length; i += 2) headers[lines[i]!] = lines[i + 1]!;
  return headers;
}

function picked(
  headers: IncomingMessage['headers'] | Head['headers'],
  names: readonly string[],
): Record<string, string> {
  const picks: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string') picks[name] = value;
  }
  return picks;
}
