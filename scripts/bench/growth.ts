/** Whether a call costs more with many keys, many models, or a database of millions of rows. */
import { write } from './folder.ts';
import { addAccounts, addCalls } from './grown.ts';
import type { Load, LoadTools } from './load.ts';
import { MODEL } from './requests.ts';
import { inTurns, type Rounds } from './rounds.ts';
import { chatChannel, type Installation, oneModel, prepareTurnpike } from './turnpike.ts';
import { CONNECTIONS, warmUp } from './warm.ts';

/** The dimension that grows. */
export type Grown = 'nothing' | 'keys' | 'models' | 'rows';

export const GROWN = ['keys', 'models', 'rows'] as const satisfies readonly Grown[];

/** The sizes. */
export interface GrowthScale {
  /** Each has its own account; a hundredth of them make calls. */
  readonly keys: number;
  readonly models: number;
  /** Usage records and ledger entries. */
  readonly rows: number;
}

export interface Growth {
  readonly rounds: Rounds<Grown>;
  readonly scale: GrowthScale;
}

/** In words: `500 models`. */
export function muchOf(grown: (typeof GROWN)[number], scale: GrowthScale): string {
  return `${scale[grown].toLocaleString('en')} ${grown}`;
}

interface Case {
  readonly installation: Installation;
  readonly load: Pick<Load, 'secrets'>;
}

/** The same calls, through gateways of which each has more of one thing. */
export async function measureGrowth(
  tools: LoadTools,
  scale: GrowthScale,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Growth> {
  const vendor = await tools.vendor(1, 0);
  const channel = chatChannel(vendor.port);
  const names = [...Array.from({ length: scale.models - 1 }, (_, i) => `model-${i}`), MODEL];
  const one = oneModel(vendor.port);
  const many = Object.fromEntries(names.map((name) => [name, channel]));
  const cases = new Map<Grown, Case>([
    ['nothing', await grow(tools, 'nothing', await prepareTurnpike(one), 1)],
    ['keys', await grow(tools, 'keys', await prepareTurnpike(one), scale.keys)],
    ['models', await grow(tools, 'models', await prepareTurnpike(many), 1)],
    ['rows', await grow(tools, 'rows', await prepareTurnpike(one), 1, scale.rows)],
  ]);
  const running = new Map<Grown, Awaited<ReturnType<typeof started>>>();
  for (const [grown, one] of cases) running.set(grown, await started(tools, one));
  const measured = await inTurns([...cases.keys()], rounds, (grown) => {
    const { target, load, perSecond } = running.get(grown)!;
    const requests = Math.round(perSecond * seconds);
    return tools.measure(target, { ...load, stream: false, connections: CONNECTIONS, requests, warm: CONNECTIONS });
  });
  for (const { stop } of running.values()) await stop();
  await vendor.process.stop();
  return { rounds: measured, scale };
}

/** Accounts are added everywhere, so that all calls are paid by accounts alike. */
async function grow(
  tools: LoadTools,
  name: Grown,
  installation: Installation,
  accounts: number,
  rows = 0,
): Promise<Case> {
  const first = await installation.start();
  // Those are multiplied.
  if (rows > 0) await tools.measure(first, { stream: false, connections: CONNECTIONS, requests: 2_000 });
  await first.process.stop();
  const secrets = addAccounts(installation.storeFile, accounts);
  if (rows > 0) addCalls(installation.storeFile, rows);
  const calling = secrets.slice(0, Math.ceil(accounts / 100));
  return { installation, load: { secrets: write(`secrets-${name}`, calling.join('\n')) } };
}

async function started(tools: LoadTools, { installation, load }: Case) {
  const server = await installation.start();
  const target = { ...server, headers: [] };
  return { target, load, perSecond: await warmUp(target, tools, load), stop: () => server.process.stop() };
}
