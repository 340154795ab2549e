/** Other gateways under the same load as Turnpike, with keys, budgets and a log on where they have them. */
import type { LoadTools, Sample } from '../load.ts';
import { inTurns, type Rounds } from '../rounds.ts';
import { turnpike } from '../turnpike.ts';
import { bareProxy, portkey, type Server, type Variant, type VariantName } from '../variants.ts';
import { CONNECTIONS, warmUp } from '../warm.ts';
import { agentgateway } from './agentgateway.ts';
import { bifrost } from './bifrost.ts';
import { litellm } from './litellm.ts';
import { newApi } from './new-api.ts';
import { notFound, type Peer, programOf, variantOf } from './peer.ts';

/** A measured server, and its duties in this measurement. */
export interface Entrant {
  readonly variant: Variant;
  /** What it does for a call, in a few words. */
  readonly does: string;
  /** What it does not do, in a sentence; undefined: nothing is missing. */
  readonly lacks: string | undefined;
}

/** The results. */
export interface MeasuredPeers {
  /** Those that were measured. */
  readonly entrants: readonly Entrant[];
  /** 64 connections, each sending its next request after its answer. */
  readonly whole: Rounds<VariantName>;
  readonly one: Rounds<VariantName>;
  /** 32 streams that start at the same time, 100 events each, one per 20 ms; memory is read before each. */
  readonly streams: Rounds<VariantName>;
}

/** The rounds of whole answers, and the number of those of streams, which last two seconds. */
export interface PeerScale {
  readonly rounds: number;
  readonly seconds: number;
  readonly streams: number;
}

/** The gateways that are measured if they are installed. */
export const PEERS: readonly Peer[] = [litellm, bifrost, newApi, agentgateway];

/** Turnpike, the bare proxy, and all peers that are installed or can be. `say`: which one is left out, and why. */
async function findEntrants(say: (sentence: string) => void): Promise<readonly Entrant[]> {
  const all: Entrant[] = [
    {
      variant: turnpike,
      does: 'everything on: keys, budgets, limits, prices, usage records, the ledger on disk before the answer',
      lacks: undefined,
    },
    { variant: bareProxy, does: 'forwards bytes', lacks: 'no keys, no budgets, no log.' },
  ];
  try {
    all.push({ variant: await portkey(), does: 'routes by headers', lacks: 'no keys, no budgets, no ledger.' });
  } catch (error) {
    say(`Portkey is left out, because it could not be installed: ${(error as Error).message}`);
  }
  for (const peer of PEERS) {
    try {
      const program = programOf(peer) ?? (await peer.install?.());
      if (program === undefined) say(`${peer.title} is left out: ${notFound(peer)}`);
      else all.push({ variant: await variantOf(peer, program), does: peer.does, lacks: peer.lacks });
    } catch (error) {
      say(`${peer.title} is left out: ${(error as Error).message}`);
    }
  }
  return all;
}

const EVENTS = 100;
const GAP_MS = 20;
const STREAMS = 32;
/** The part of the pace of 64 connections that one reaches, at least. */
const OF_FULL_PACE = 0.25;
/** A slow gateway answers this many calls in each round, even if that takes longer than a round. */
const FEWEST = 20;

/** Measures all in turns. `say` reports progress, and which one is left out. */
export async function measurePeers(
  tools: LoadTools,
  scale: PeerScale,
  say: (sentence: string) => void,
): Promise<MeasuredPeers> {
  const vendor = await tools.vendor(EVENTS, GAP_MS);
  // The first start of a checkout compiles the server, which leaves memory behind.
  await (await turnpike.start(vendor.port)).process.stop();
  const servers = new Map<VariantName, Server>();
  const entrants: Entrant[] = [];
  for (const entrant of await findEntrants(say)) {
    const { variant } = entrant;
    try {
      servers.set(variant.name, await variant.start(vendor.port));
      entrants.push(entrant);
    } catch (error) {
      say(`${variant.title} is left out: ${(error as Error).message}`);
    }
  }
  const pace = new Map<VariantName, number>();
  for (const { variant } of entrants) {
    say(`warming up ${variant.title}`);
    const server = servers.get(variant.name)!;
    await tools.measure(server, { stream: true, connections: STREAMS, requests: STREAMS });
    pace.set(variant.name, await warmUp(server, tools));
  }
  const everybody = [...servers.keys()];
  const answers = (connections: number, share: number): Promise<Rounds<VariantName>> =>
    inTurns(everybody, scale.rounds, (who): Promise<Sample> => {
      const requests = Math.round(pace.get(who)! * scale.seconds * share);
      return tools.measure(servers.get(who)!, {
        stream: false,
        connections,
        // Without `warm`: a slow gateway has done most of the work of 64 calls when the first of them is answered, and
        // those are half of its round.
        requests: Math.max(requests, FEWEST, 2 * connections),
      });
    });
  say('whole answers over 64 connections');
  const whole = await answers(CONNECTIONS, 1);
  say('whole answers over one connection');
  const one = await answers(1, OF_FULL_PACE);
  say(`${STREAMS} streams that begin in the same instant`);
  const streams = await inTurns(everybody, scale.streams, (who) =>
    tools.measure(servers.get(who)!, { stream: true, connections: STREAMS, requests: STREAMS }),
  );
  for (const { process } of servers.values()) await process.stop();
  await vendor.process.stop();
  return { entrants, whole, one, streams };
}
