/** The interface of the HTTP/1.1 client for metered calls, which is in `upstream/`. */

import type { BodyStream } from '../bytes/body-stream.ts';
import type { Headers } from '../contracts/definitions.ts';
import type { FailureKind } from '../contracts/formats/call.ts';
import type { OutgoingProxy } from './proxy.ts';

/** An upstream request. */
export interface UpstreamRequest {
  /** POST by default. */
  readonly method?: 'GET' | 'DELETE' | 'POST';
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: string;
  /** The client itself writes `host` and the headers that frame the body. */
  readonly headers: Record<string, string>;
  readonly body: Buffer | BodyStream | undefined;
  readonly connectMs: number;
  /** The proxy that opens a tunnel to `origin`; undefined: a direct connection. */
  readonly proxy?: OutgoingProxy | undefined;
  /** True if no pooled connection may be used. */
  readonly fresh?: boolean;
}

/** Receives the answer. Never called from within `send`; nothing more is called after `end` or `fail`. */
export interface UpstreamListener {
  head(status: number, headers: Headers): void;
  /** The buffer belongs to the listener. */
  data(chunk: Buffer): void;
  end(): void;
  /** `reason`: for administrators; ends a sentence and contains neither an address nor a header. */
  fail(kind: FailureKind, reason: string, how: Breaking): void;
}

/** The kind of failure. */
export interface Breaking {
  /** A pooled connection was closed before it answered anything: retry on a new connection. */
  readonly stale: boolean;
  /** The body was not sent completely: the vendor cannot have processed it. */
  readonly unsent: boolean;
}

/** A running request. */
export interface UpstreamCall {
  /** True once the request is being sent: from then on the vendor may be processing it. */
  readonly sent: boolean;
  /** Stops reading from the vendor; what was read before is still delivered. */
  pause(): void;
  resume(): void;
  /** Aborts the request; the listener is not called any more, and the connection is not reused. */
  abort(): void;
}

/** All upstream connections. */
export interface Upstream {
  send(request: UpstreamRequest, listener: UpstreamListener): UpstreamCall;
  /** Aborts all requests. Resolves when every connection is closed. */
  close(): Promise<void>;
}
