/** Turnpike and the bare proxy on several versions of Node, all measured in turns. */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { install } from './folder.ts';
import type { LoadTools, Sample } from './load.ts';
import { residentKib } from './machine.ts';
import { EVENTS, GAP_MS, manyStreamsLoad } from './measurements.ts';
import { run } from './processes.ts';
import { inTurns, type Rounds } from './rounds.ts';
import { oneModel, prepareTurnpike } from './turnpike.ts';
import { bareProxyOn, type Server } from './variants.ts';
import { CONNECTIONS, warmUp, warmUpStreams } from './warm.ts';

/** The measured major versions. */
export const NODES = [20, 22, 24] as const;

/** A server on a version of Node: `turnpike v22.1.0`. */
export type OnNode = `${'turnpike' | 'bare'} ${string}`;

/** The results, by server and exact version. */
export interface MeasuredNodes {
  /** The exact versions: `v22.1.0`. */
  readonly versions: readonly string[];
  /** 64 connections, each sending its next request after its answer. */
  readonly whole: Rounds<OnNode>;
  readonly one: Rounds<OnNode>;
  /** 200 concurrent streams. */
  readonly streams: Rounds<OnNode>;
  /** Memory of a new Turnpike that has answered nothing, in MB, by version. */
  readonly idleMb: ReadonlyMap<string, number>;
}

/** The rounds of whole answers, and those of streams. */
export interface NodeScale {
  readonly brief: { readonly rounds: number; readonly seconds: number };
  readonly streams: { readonly rounds: number; readonly seconds: number };
}

/** Time until the memory is read. */
const IDLE_MS = 2_000;
/** The part of the pace of 64 connections that one reaches, approximately. */
const OF_FULL_PACE = 0.25;

/** Measures all versions that can be installed. `say` reports progress, and which version is left out. */
export async function measureNodes(
  tools: LoadTools,
  scale: NodeScale,
  say: (sentence: string) => void,
): Promise<MeasuredNodes> {
  const vendor = await tools.vendor(EVENTS, GAP_MS);
  const servers = new Map<OnNode, Server>();
  const versions: string[] = [];
  for (const major of NODES) {
    try {
      const node = await executableOf(major);
      const version = (await run([node, '--version'])).trim();
      // The gateway first: if it cannot start, nothing of this version is measured. Twice, because the first start of a
      // checkout compiles the server, which leaves memory behind.
      const installation = await prepareTurnpike(oneModel(vendor.port));
      await (await installation.start({ node })).process.stop();
      servers.set(`turnpike ${version}`, await installation.start({ node }));
      servers.set(`bare ${version}`, await bareProxyOn(node).start(vendor.port));
      versions.push(version);
    } catch (error) {
      say(`Node ${major} is left out: ${(error as Error).message}`);
    }
  }
  await setTimeout(IDLE_MS);
  const idleMb = new Map<string, number>();
  for (const version of versions) {
    const kib = residentKib(servers.get(`turnpike ${version}`)!.pid);
    if (kib !== undefined) idleMb.set(version, kib / 1_024);
  }

  say('warming up');
  const pace = new Map<OnNode, number>();
  for (const [who, server] of servers) {
    await warmUpStreams(server, tools);
    pace.set(who, await warmUp(server, tools));
  }
  const everybody = [...servers.keys()];
  const answers = (connections: number, share: number): Promise<Rounds<OnNode>> =>
    inTurns(everybody, scale.brief.rounds, (who): Promise<Sample> => {
      const requests = Math.round(pace.get(who)! * scale.brief.seconds * share);
      return tools.measure(servers.get(who)!, { stream: false, connections, requests, warm: connections });
    });
  say('whole answers over 64 connections');
  const whole = await answers(CONNECTIONS, 1);
  say('whole answers over one connection');
  const one = await answers(1, OF_FULL_PACE);
  say('200 streams, 20,000 events per second');
  const streams = await inTurns(everybody, scale.streams.rounds, (who) =>
    tools.measure(servers.get(who)!, manyStreamsLoad(scale.streams)),
  );
  for (const { process } of servers.values()) await process.stop();
  await vendor.process.stop();
  return { versions, whole, one, streams, idleMb };
}

/**
 * The executable of a major version: the running one, or the newest at the first run. Rejects if it cannot be
 * installed. The package `node` would get it in an install script; the packages per platform contain it.
 */
async function executableOf(major: number): Promise<string> {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const folder = await install(`node-${major}`, { [name]: `${major}` });
  return join(folder, 'node_modules', name, 'bin/node');
}
