/** The cost of a second worker: CPU time per call with two workers, compared with one. */
import type { LoadTools } from './load.ts';
import { CORE } from './machine.ts';
import { inTurns, type Rounds } from './rounds.ts';
import { oneModel, prepareTurnpike } from './turnpike.ts';
import type { Server } from './variants.ts';
import { CONNECTIONS, warmUp } from './warm.ts';

/** The number of workers. */
export type Workers = 1 | 2;

/** Both on two cores, which they share with the load. Undefined if this Turnpike has no workers. */
export async function measureWorkers(
  tools: LoadTools,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Rounds<Workers> | undefined> {
  const vendor = await tools.vendor(1, 0);
  const installations = new Map(
    await Promise.all(
      ([1, 2] as const).map(
        async (workers) => [workers, await prepareTurnpike(oneModel(vendor.port), { workers })] as const,
      ),
    ),
  );
  let measured: Rounds<Workers> | undefined;
  if (await installations.get(2)!.isAccepted()) {
    const servers = new Map<Workers, Server>();
    for (const [workers, installation] of installations)
      servers.set(workers, await installation.start({ cores: CORE.both }));
    const pace = new Map<Workers, number>();
    for (const [workers, server] of servers) pace.set(workers, await warmUp(server, tools));
    measured = await inTurns([...servers.keys()], rounds, (workers) =>
      tools.measure(servers.get(workers)!, {
        stream: false,
        connections: CONNECTIONS,
        requests: Math.round(pace.get(workers)! * seconds),
        warm: CONNECTIONS,
      }),
    );
    for (const { process } of servers.values()) await process.stop();
  }
  await vendor.process.stop();
  return measured;
}
