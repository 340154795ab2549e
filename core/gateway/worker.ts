/** A worker: serves calls, passthrough routes and WebSockets; its owner controls it, and answers its routes. */
import type { Server } from 'node:http';
import { reasons } from '../config/file.ts';
import type { Json } from '../plugin.ts';
import { systemClock } from '../runtime/clock.ts';
import { boot } from '../runtime/ids.ts';
import { createLog, logLevelOf } from '../runtime/logger.ts';
import { watchUnexpected } from '../runtime/unexpected.ts';
import { createForward } from '../server/forward-to-owner.ts';
import { listening, stopListening } from '../server/listen-address.ts';
import type { ProcessRole } from '../server/process-role.ts';
import { createLink, type Link, type Message } from '../workers/link.ts';
import {
  type Beginning,
  type ListenOrder,
  type ListenReport,
  ORDER,
  REPORT,
  type StopOrder,
} from '../workers/orders.ts';
import { createWorkerPeers, type WorkerPeers } from '../workers/peers.ts';
import { type Gateway, openWorker } from './gateway.ts';

/** Runs it in this process, which ends with its owner. */
export function runWorker(): void {
  // A terminal sends signals to all processes; the owner decides what to do.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  let worker: Employee | undefined;
  const link = createLink(
    (messages) => process.send?.(messages, undefined, undefined, () => {}),
    (topic, message) => {
      if (topic !== ORDER.begin) return worker!.handle(topic, message);
      worker = employ(message as unknown as Beginning, link);
      return worker.begin();
    },
  );
  process.on('message', (messages) => link.receive(messages as Message[]));
  link.tell(REPORT.here, null);
}

interface Employee {
  /** Opens the gateway. */
  begin(): Promise<null>;
  handle(topic: string, message: Json): Promise<Json> | undefined;
}

function employ({ number, count, configFile, env, routes }: Beginning, link: Link): Employee {
  const log = createLog({
    level: logLevelOf(env.TURNPIKE_LOG_LEVEL),
    write: (line) => void process.stderr.write(`${line}\n`),
    now: () => Date.now(),
    facts: { worker: number },
  });
  const workerPeers = createWorkerPeers(boot, count, link, { clock: systemClock, log });
  const entrance = createEntrance(workerPeers, routes);
  let opening: Promise<Gateway> | undefined;

  async function end({ withAll }: StopOrder, gateway: Gateway, isFailed = false): Promise<never> {
    if (!withAll) entrance.close();
    const code = await gateway.stop().then(
      () => (isFailed ? 1 : 0),
      (error: unknown) => {
        log.error('the worker failed to stop', { error });
        return 1;
      },
    );
    return process.exit(code);
  }

  return {
    async begin() {
      opening = openWorker(entrance.role, { configFile, env, log }, () => link.ask(REPORT.joined, boot));
      await opening.catch((error: unknown) => {
        log.error('the worker did not start', reasons(error));
        throw error;
      });
      const gateway = await opening;
      // Its calls go on until they end; the owner then replaces it.
      watchUnexpected(log, () => void end({ withAll: false }, gateway, true));
      return null;
    },
    handle(topic, message) {
      const obey = async (order: (gateway: Gateway) => unknown): Promise<null> => {
        await order(await opening!);
        return null;
      };
      switch (topic) {
        case ORDER.listen:
          return opening!.then((gateway) => entrance.open(message as unknown as ListenOrder, gateway)) as Promise<Json>;
        case ORDER.serve:
          entrance.serve();
          log.info('serving', { pid: process.pid, epoch: boot });
          return undefined;
        case ORDER.reload:
          return obey((gateway) => gateway.reload());
        case ORDER.stop:
          return obey((gateway) => end(message as unknown as StopOrder, gateway));
        case ORDER.hurry:
          return obey((gateway) => gateway.hurry());
        default:
          return workerPeers.handle(topic, message);
      }
    },
  };
}

/** Accepts connections. */
interface Entrance {
  readonly role: ProcessRole;
  /** Accepts connections, and reports whether it can; calls wait for `serve`. */
  open(order: ListenOrder, gateway: Gateway): Promise<ListenReport>;
  serve(): void;
  /** Accepts no more connections. */
  close(): void;
}

function createEntrance({ peers }: WorkerPeers, routes: string): Entrance {
  const forward = createForward(routes, systemClock);
  let order: ListenOrder | undefined;
  let server: Server | undefined;
  let opened = (): void => {};
  let serve = (): void => {};
  const serving = new Promise<void>((resolve) => {
    serve = resolve;
  });
  return {
    role: {
      role: 'worker',
      peers,
      server: { forward },
      async listen(its) {
        const { host, port } = order!;
        await listening(its, () => its.listen(port, host));
        server = its;
        opened();
        await serving;
        return port;
      },
      ready: () => {},
      reloaded: async () => {},
      stopping: async () => true,
      hurry: () => {},
      close: forward.close,
    },
    open(to, gateway) {
      order = to;
      return new Promise((resolve) => {
        opened = () => resolve({});
        gateway.listen().catch((error: NodeJS.ErrnoException) => resolve({ failed: error.code ?? error.message }));
      });
    },
    serve: () => serve(),
    close() {
      if (server !== undefined) void stopListening(server);
    },
  };
}
