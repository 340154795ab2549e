/** One connection to a Valkey server, until it is closed or lost. What is sent in one turn of the event loop leaves in one write. */
import { isIP } from 'node:net';
import type { Clock } from '../../../core/plugin.ts';
import type { Server } from './address.ts';
import type { Operation, Script } from './script.ts';

/** An answer that takes longer is not waited for: the connection is given up, and everything that waits with it. */
export const WAIT_MS = 200;
/** The same for a connection to be opened, which no call waits for. */
const CONNECT_MS = 2_000;
/** If the timer of an answer comes so much too late, this process was held up, and perhaps not the server. */
const HELD_UP_MS = 50;

/** A connection that is open. */
export interface Connection {
  /** Runs the script, behind all that was sent before. Rejects if the connection is lost; then nobody knows whether it has run. */
  run(operation: Operation, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  /** Ends it; what waits is rejected. */
  close(): void;
}

/** What was sent and has no answer yet. */
interface Waiting {
  dueMs: number;
  /** It was given more time. */
  isSpared: boolean;
}

/**
 * Opens one. Rejects with a message that says why and names neither address nor password. `lost` gets such a message, once, unless the
 * connection was closed from here.
 */
export async function connect(
  server: Server,
  script: Script,
  clock: Clock,
  lost: (reason: string) => void,
): Promise<Connection> {
  // A large library, and most gateways count in memory.
  const { createClient } = await import('@redis/client');
  const { host, port, tls, username, password, database } = server;
  const client = createClient({
    socket: {
      host,
      port,
      connectTimeout: CONNECT_MS,
      reconnectStrategy: false,
      // The name that the server is told, which it may need to find its certificate; an IP address is none.
      ...(tls && { tls, ...(isIP(host) === 0 && { servername: host }) }),
    },
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    database,
    RESP: 2,
    // Commands that are not needed would be permissions that are.
    disableClientInfo: true,
    maintNotifications: 'disabled',
    disableOfflineQueue: true,
    // `watch` has one timer for all commands; here each would have its own.
    commandOptions: { timeout: undefined as never },
  });
  /** Commands without an answer, in their order, which is that of the answers. */
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

  /** Waits for the oldest command, and then for the next. */
  function watch(): void {
    stopWatching = undefined;
    const [oldest] = waiting;
    if (oldest === undefined || isOver) return;
    stopWatching = clock.after(Math.max(1, oldest.dueMs - clock.mono()), () => {
      const lateMs = clock.mono() - oldest.dueMs;
      // The answer may be there, and only not read yet.
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
        // A server that was restarted, or told to forget its scripts, is sent the text.
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
        // A socket that was being opened meanwhile could not be ended.
        if (isOver) return client.destroy();
        fail = lost;
        resolve(connection);
      })
      .catch((error: unknown) => end(reasonOf(error)))
      .finally(stop);
  });
}

const SLOW = 'it does not answer in time';

/** What the first words of the server's errors mean. */
const MEANINGS: Readonly<Record<string, string>> = {
  WRONGPASS: 'the user or the password is wrong',
  NOAUTH: 'it wants a password',
  NOPERM: 'the user may not run scripts, or not on these keys',
  READONLY: 'it is a replica, which cannot be written',
  LOADING: 'it is still loading its data',
  MASTERDOWN: 'it is a replica without a primary',
  OOM: 'its memory is full',
  MOVED: 'it is part of a cluster, whose primaries each have only a part of the keys',
  CROSSSLOT: 'it is part of a cluster, whose primaries each have only a part of the keys',
};

/** The first word of an error of the server: `NOSCRIPT`. */
function wordOf(error: unknown): string {
  return error instanceof Error ? (/^[A-Z]+(?= |$)/.exec(error.message)?.[0] ?? '') : '';
}

/** Why a connection is lost. What the library and the server write may name the address or the user. */
function reasonOf(error: unknown): string {
  const word = wordOf(error);
  if (word !== '') return MEANINGS[word] === undefined ? `it answered ${word}` : MEANINGS[word];
  const code = (error as { readonly code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? `the connection failed (${code})` : 'the connection was closed';
}
