/** The HTTP/1.1 client for metered calls: pooled connections, the most recently used first, one request at a time each. */
import type { Clock } from '../runtime/clock.ts';
import { Call, Connection, type ConnectionOwner } from './connection.ts';
import { type Target, targetOf } from './dial.ts';
import { NOT_SENDABLE, Refusal, STOPPED } from './reasons.ts';
import { requestHead } from './request-head.ts';
import type { Upstream, UpstreamRequest } from './upstream.ts';

/** Maximum idle connections per pool; a burst opens more, which are closed after their answer. */
const MAX_IDLE = 256;
/** Interval of closing idle connections: the maximum delay. An expired one is not used in the meantime. */
const SWEEP_MS = 2_000;

/** Creates a client. Connections are opened on demand; its timeouts use `clock`. */
export function openUpstream(clock: Clock): Upstream {
  /** By origin, with a proxy also by that, and connect timeout. */
  const pools = new Map<string, Map<number, Pool>>();
  let closed = false;
  const stopSweeping = clock.every(SWEEP_MS, () => {
    const now = clock.mono();
    for (const pool of all()) pool.sweep(now);
  });

  const all = (): Pool[] => [...pools.values()].flatMap((byTimeout) => [...byTimeout.values()]);

  const poolOf = ({ origin, proxy, connectMs }: UpstreamRequest): Pool => {
    const place = proxy === undefined ? origin : `${origin} ${proxy.url}`;
    const known = pools.get(place)?.get(connectMs);
    if (known !== undefined) return known;
    const byTimeout = pools.get(place) ?? new Map<number, Pool>();
    const pool = new Pool(targetOf(origin, proxy), connectMs, clock);
    pools.set(place, byTimeout.set(connectMs, pool));
    return pool;
  };

  return {
    send(request, listener) {
      const pool = poolOf(request);
      const head = requestHead(request, pool.target.host);
      if (closed || head === undefined) return new Refusal(listener, closed ? STOPPED : NOT_SENDABLE);
      const call = new Call(head, request.body, listener);
      pool.connection(request.fresh === true).begin(call);
      return call;
    },
    async close() {
      closed = true;
      stopSweeping();
      await Promise.all(all().map((pool) => pool.close()));
    },
  };
}

/** Connections to one origin with one connect timeout. */
class Pool implements ConnectionOwner {
  readonly target: Target;
  readonly clock: Clock;
  readonly #connectMs: number;
  readonly #open = new Set<Connection>();
  /** The most recently used last. */
  #idle: Connection[] = [];

  constructor(target: Target, connectMs: number, clock: Clock) {
    this.target = target;
    this.clock = clock;
    this.#connectMs = connectMs;
  }

  /** An idle connection; `fresh`: a new one. */
  connection(fresh: boolean): Connection {
    if (!fresh && this.#idle.length > 0) {
      const now = this.clock.mono();
      for (let kept = this.#idle.pop(); kept !== undefined; kept = this.#idle.pop()) {
        if (kept.idleUntilMs > now) return kept;
        kept.discard();
      }
    }
    const connection = new Connection(this.target, this.#connectMs, this);
    this.#open.add(connection);
    return connection;
  }

  keep(connection: Connection, keepMs: number): boolean {
    if (this.#idle.length === MAX_IDLE) return false;
    connection.idleUntilMs = this.clock.mono() + keepMs;
    this.#idle.push(connection);
    return true;
  }

  drop(connection: Connection): void {
    this.#open.delete(connection);
    const at = this.#idle.lastIndexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
  }

  /** Closes expired idle connections. */
  sweep(now: number): void {
    for (const connection of this.#idle.filter(({ idleUntilMs }) => idleUntilMs <= now)) connection.discard();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((connection) => connection.close()));
  }
}
