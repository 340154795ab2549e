/** A connection to a Valkey server. Commands of one turn of the event loop are sent in one write. */
import type { Clock } from '../../../core/plugin.ts';
import type { Server } from './address.ts';
import type { Operation, Script } from './script.ts';

/** The timeout of an answer: the connection is closed, and all waiting commands fail. */
export const WAIT_MS = 200;
/** The timeout of connecting, for which no call waits. */
const CONNECT_MS = 2_000;
/** If a timer fires this late, this process was blocked, and maybe not the server. */
const HELD_UP_MS = 50;

/** An open connection. */
export interface Connection {
  /** Runs the script after all earlier commands. Rejects if the connection is lost; then it is unknown whether it ran. */
  run(operation: Operation, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  /** Closes it; waiting commands are rejected. */
  close(): void;
}

/** A command without an answer yet. */
interface Waiting {
  dueMs: number;
  /** Its timeout was extended. */
  isSpared: boolean;
}

/**
 * Opens a connection. Rejects with a reason that contains neither address nor password. `lost` is called with such a reason, once, unless
 * this process closed the connection.
 */
export async function connect(
  server: Server,
  script: Script,
  clock: Clock,
  lost: (reason: string) => void,
): Promise<Connection> {
  // Loaded on demand: it is large, and most gateways count in memory.
  const { createClient } = await import('@redis/client');
  const { url, tlsName } = server;
  const client = createClient({
    url,
    socket: {
      connectTimeout: CONNECT_MS,
      reconnectStrategy: false,
      // Otherwise, the client sends no server name.
      ...(tlsName !== undefined && { tls: true, servername: tlsName }),
    },
    RESP: 2,
    // Optional commands would need additional permissions.
    disableClientInfo: true,
    maintNotifications: 'disabled',
    disableOfflineQueue: true,
    // Auto-pipelining by `watch` uses one timer; here each command would have its own.
    commandOptions: { timeout: undefined as never },
  });
  /** Commands without an answer, in order. */
  const waiting = new Set<Waiting>();
  let stopWatching: (() => void) | undefined;
  let isOver = false;
  let fail: (reason: string) => void = () => {};

  function end(reason?: string): void {
    if (isOver) return;
    isOver = true;
    stopWatching?.();
    client.destroy();
    if (reason !== undefined) fail(reason);
  }

  /** Starts the timeout of the oldest command, then of the next. */
  function watch(): void {
    stopWatching = undefined;
    const [oldest] = waiting;
    if (oldest === undefined || isOver) return;
    stopWatching = clock.after(Math.max(1, oldest.dueMs - clock.mono()), () => {
      const lateMs = clock.mono() - oldest.dueMs;
      // The answer may have arrived and not been read yet.
      setImmediate(() => {
        if (!waiting.has(oldest)) return watch();
        if (lateMs < HELD_UP_MS || oldest.isSpared) return end(SLOW);
        oldest.isSpared = true;
        oldest.dueMs = clock.mono() + WAIT_MS;
        watch();
      });
    });
  }

  async function send(args: readonly string[]): Promise<unknown> {
    const command = { dueMs: clock.mono() + WAIT_MS, isSpared: false };
    waiting.add(command);
    if (stopWatching === undefined) watch();
    try {
      return await client.sendCommand(args);
    } finally {
      waiting.delete(command);
    }
  }

  const connection: Connection = {
    async run(operation, keys, args) {
      const rest = [String(keys.length), ...keys, ...args.map(String), operation];
      try {
        // A restarted server, or one whose scripts were flushed, needs the script's text.
        return await send(['EVALSHA', script.sha, ...rest]).catch((error: unknown) => {
          if (wordOf(error) !== 'NOSCRIPT') throw error;
          return send(['EVAL', script.text, ...rest]);
        });
      } catch (error) {
        end(reasonOf(error));
        throw error;
      }
    },
    close: () => end(),
  };

  return new Promise((resolve, reject) => {
    fail = (reason) => reject(new Error(reason));
    client.on('error', (error: unknown) => end(reasonOf(error)));
    const stop = clock.after(CONNECT_MS, () => end(SLOW));
    client
      .connect()
      .then(() => {
        // A socket that was opened in the meantime could not be closed.
        if (isOver) return client.destroy();
        fail = lost;
        resolve(connection);
      })
      .catch((error: unknown) => end(reasonOf(error)))
      .finally(stop);
  });
}

const SLOW = 'it does not answer in time';

/** Explanations by the first word of the server's errors. */
const MEANINGS: Readonly<Record<string, string>> = {
  WRONGPASS: 'the user name or the password is incorrect',
  NOAUTH: 'it wants a password',
  NOPERM: 'the user may not run scripts, or not on these keys',
  READONLY: 'it is a replica, which cannot be written',
  LOADING: 'it is still loading its data',
  MASTERDOWN: 'it is a replica without a primary',
  OOM: 'its memory is full',
  MOVED: 'it is part of a cluster, whose primaries each have only a part of the keys',
  CROSSSLOT: 'it is part of a cluster, whose primaries each have only a part of the keys',
};

/** The first word of a server error: `NOSCRIPT`. */
function wordOf(error: unknown): string {
  return error instanceof Error ? (/^[A-Z]+(?= |$)/.exec(error.message)?.[0] ?? '') : '';
}

/** Why a connection was lost. Texts of the library and the server may contain the address or the user. */
function reasonOf(error: unknown): string {
  const word = wordOf(error);
  if (word !== '') return MEANINGS[word] === undefined ? `it answered ${word}` : MEANINGS[word];
  const code = (error as { readonly code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? `the connection failed (${code})` : 'the connection was closed';
}
