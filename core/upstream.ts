/** The HTTP/1.1 client of metered calls: what core asks of it, and the choice of the implementation. */
import type { Clock } from './clock.ts';
import type { FailureKind, Headers } from './contracts/call.ts';
import type { Parcel } from './parcel.ts';

/** What goes to a vendor. */
export interface UpstreamRequest {
  /** POST by default. */
  readonly method?: 'GET' | 'DELETE' | 'POST';
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: string;
  /** `host` and the headers that frame the body are written by the client. */
  readonly headers: Record<string, string>;
  readonly body: Buffer | Parcel | undefined;
  readonly connectMs: number;
  /** True if no kept connection may be used. */
  readonly fresh?: boolean;
}

/** Receives the answer. Never called from within `send`; after `end` or `fail` nothing more is called. */
export interface UpstreamListener {
  head(status: number, headers: Headers): void;
  /** The buffer belongs to the listener. */
  data(chunk: Buffer): void;
  end(): void;
  /** `reason`: for people; ends a sentence and holds neither an address nor a header. */
  fail(kind: FailureKind, reason: string, how: Breaking): void;
}

/** How a request failed. */
export interface Breaking {
  /** A kept connection was closed before it answered anything: worth another try on a new connection. */
  readonly stale: boolean;
  /** Part of the body had not been sent: the vendor cannot have worked on it. */
  readonly unsent: boolean;
}

/** A running request. */
export interface UpstreamCall {
  /** True once the request is being sent: from then on the vendor may be working on it. */
  readonly sent: boolean;
  /** Stops reading from the vendor; what was read before is still delivered. */
  pause(): void;
  resume(): void;
  /** Ends the request; the listener hears nothing more, and the connection is not used again. */
  abort(): void;
}

/** The connections to all vendors. */
export interface Upstream {
  send(request: UpstreamRequest, listener: UpstreamListener): UpstreamCall;
  /** Breaks off all requests. Resolves when every connection is closed. */
  close(): Promise<void>;
}

/** `own`: the client in `upstream/`; `undici`: the package of that name, which costs more CPU. */
export type UpstreamClient = 'own' | 'undici';

/** Opens a client. Connections are opened as they are needed. */
export async function openUpstream(client: UpstreamClient, clock: Clock): Promise<Upstream> {
  if (client === 'own') return (await import('./upstream/own.ts')).createOwnUpstream(clock);
  return (await import('./upstream/undici.ts')).createUndiciUpstream();
}
