/**
 * The measurements: whole answers at full speed and at a low rate, many and few streams, translated compared with
 * untranslated calls, memory of open streams; and for Turnpike only: start, large requests, growth, storage and
 * workers.
 */
import { type Blocks, measureBlocks } from './blocks.ts';
import { type Efforts, measureEfforts } from './effort.ts';
import { type Growth, type GrowthScale, measureGrowth } from './growth.ts';
import { type Load, type LoadTools, polyglotVendor, type Sample } from './load.ts';
import { CORE, descriptors, moveTo } from './machine.ts';
import { askOf, BYTES, type Pair, TRANSLATED } from './pairs.ts';
import { inTurns, type Rounds, type Who } from './rounds.ts';
import { measureStarts, type Starts } from './starts.ts';
import { measureStorage, type Storage } from './storage.ts';
import { measurePostgres, type StoreCase } from './stores.ts';
import { everyStyle, oneModel, prepareTurnpike } from './turnpike.ts';
import type { Server, Target, Variant } from './variants.ts';
import { CONNECTIONS, warmUp, warmUpStreams } from './warm.ts';
import { measureWorkers, type Workers } from './workers.ts';

/** The amount of work. */
export interface Scale {
  /**
   * Rounds of whole answers: short and many, because the speed of machines changes by a factor of two within seconds,
   * and both sides of a ratio must be measured at one speed.
   */
  readonly brief: { readonly rounds: number; readonly seconds: number };
  /** Rounds of longer loads such as streams. */
  readonly rounds: number;
  /** Approximate duration of one such load. */
  readonly seconds: number;
  readonly starts: number;
  /** The variants beyond whole answers at full speed; undefined: all. */
  readonly others: readonly Who[] | undefined;
  readonly translated: readonly Pair[];
  readonly heldStreams: number;
  /** Milliseconds between two events of an open stream. */
  readonly heldGapMs: number;
  /** Requests with an image, of each kind. */
  readonly images: number;
  readonly growth: GrowthScale;
  readonly storedCalls: number;
}

export const FULL: Scale = {
  brief: { rounds: 24, seconds: 0.5 },
  rounds: 3,
  seconds: 2,
  starts: 5,
  others: undefined,
  translated: TRANSLATED,
  heldStreams: 2_000,
  heldGapMs: 1_000,
  images: 15,
  growth: { keys: 100_000, models: 500, rows: 20_000_000 },
  storedCalls: 1_000_000,
};
export const QUICK: Scale = {
  brief: { rounds: 4, seconds: 0.3 },
  rounds: 1,
  seconds: 0.7,
  starts: 2,
  others: ['direct', 'bare', 'turnpike'],
  translated: TRANSLATED.slice(0, 1),
  heldStreams: 500,
  heldGapMs: 300,
  images: 3,
  growth: { keys: 10_000, models: 500, rows: 200_000 },
  storedCalls: 5_000,
};

/** All results. */
export interface Measured {
  /** 64 connections, each sending its next request after its answer. */
  readonly whole: Rounds;
  /** The same with so few connections, as a small team has them: by their number. */
  readonly few: ReadonlyMap<number, Rounds>;
  /** 200 requests per second; the server may use both cores. */
  readonly calm: Rounds;
  /** 200 concurrent streams, 20,000 events per second. */
  readonly manyStreams: Rounds;
  /** 32 streams that start at the same time. */
  readonly fewStreams: Rounds;
  /** 64 streams of two seconds that end together and are started again: each start is a cold call in a burst. */
  readonly restarted: Rounds;
  /** Whole answers and 200 streams again, by kind of translation, all on one Turnpike. */
  readonly translated: Translated;
  /** Many slow streams, on a new server. */
  readonly held: Rounds;
  readonly heldStreams: number;
  /** Undefined if a server ended by itself. */
  readonly starts: Starts | undefined;
  readonly blocks: Blocks;
  readonly growth: Growth;
  readonly storage: Storage;
  readonly workers: Rounds<Workers> | undefined;
  /** One gateway on SQLite and one on PostgreSQL, if its programs are installed. */
  readonly postgres: Rounds<StoreCase> | undefined;
  /** Memory of a new server after many calls, MB. */
  readonly usedMb: number | undefined;
  /** What a call takes apart from time. */
  readonly efforts: Efforts;
}

export interface Translated {
  readonly whole: Rounds<Pair>;
  readonly streams: Rounds<Pair>;
}

const CALM_PER_SECOND = 200;
/** Connections of a lone caller, and of a few. */
export const FEW = [1, 8] as const;
/** Calls after which memory is read. */
const USED_CALLS = 100_000;
/** The part of the pace at full speed that so few connections reach, approximately. */
const OF_FULL_PACE = { 1: 0.25, 8: 0.6 } as const;
/** Of a stream: its events, and the time between two of them. */
export const EVENTS = 60;
export const GAP_MS = 10;
const HELD_EVENTS = 6;
const RESTARTED = { streams: 64, events: 100, gapMs: 20 } as const;
/** Descriptors of a server that are not streams. */
const OTHER_FILES = 200;

/** Measures all variants. `say` reports progress. */
export async function measureAll(
  variants: readonly Variant[],
  tools: LoadTools,
  scale: Scale,
  say: (sentence: string) => void,
): Promise<Measured> {
  const vendor = await tools.vendor(EVENTS, GAP_MS);
  const servers = new Map<Who, Server>();
  for (const variant of variants) servers.set(variant.name, await variant.start(vendor.port));
  const targets = new Map<Who, Target>([['direct', { port: vendor.port, headers: [] }], ...servers]);
  const everybody = [...targets.keys()];
  const others = everybody.filter((who) => scale.others?.includes(who) ?? true);
  const proxies = others.filter((who) => who !== 'direct');

  say('warming up');
  const pace = new Map<Who, number>();
  for (const [who, target] of targets) pace.set(who, await warmUpAll(target, tools));

  say('whole answers at full speed');
  const whole = await inTurns(everybody, scale.brief.rounds, (who) => {
    const requests = Math.round(pace.get(who)! * scale.brief.seconds);
    return tools.measure(targets.get(who)!, { stream: false, connections: CONNECTIONS, requests, warm: CONNECTIONS });
  });

  const few = new Map<number, Rounds>();
  const nearest = variants.filter(
    ({ name }) => (name === 'bare' || name === 'floor' || name === 'turnpike') && proxies.includes(name),
  );
  const nearestNames = nearest.map(({ name }) => name);
  for (const connections of FEW) {
    say(`whole answers over ${connections === 1 ? 'one connection' : `${connections} connections`}`);
    const found = await inTurns<Who>(nearestNames, scale.brief.rounds, (who) => {
      const requests = Math.round(pace.get(who)! * scale.brief.seconds * OF_FULL_PACE[connections]);
      return tools.measure(targets.get(who)!, { stream: false, connections, requests, warm: connections });
    });
    few.set(connections, found);
  }
  say('200 streams, 20,000 events per second');
  const manyStreams = await inTurns(proxies, scale.rounds, (who) =>
    tools.measure(targets.get(who)!, manyStreamsLoad(scale)),
  );
  say('32 streams that begin in the same instant');
  const fewStreams = await inTurns(others, scale.brief.rounds, (who) =>
    tools.measure(targets.get(who)!, { stream: true, connections: 32, requests: 32 }),
  );
  say('200 requests per second');
  for (const server of servers.values()) moveTo(CORE.both, server.pid);
  const calm = await inTurns(others, scale.rounds, (who) =>
    tools.measure(targets.get(who)!, {
      stream: false,
      connections: 16,
      requests: Math.round(CALM_PER_SECOND * scale.seconds),
      warm: CALM_PER_SECOND / 4,
      perSecond: CALM_PER_SECOND,
    }),
  );
  for (const { process } of servers.values()) await process.stop();
  await vendor.process.stop();

  const heldStreams = Math.min(scale.heldStreams, Math.floor((descriptors() - OTHER_FILES) / 2));
  if (heldStreams < scale.heldStreams) {
    say(`only ${heldStreams} streams are held: each takes two descriptors, and ulimit -n is ${descriptors()}`);
  }
  const restarted = await measureRestarted(nearest, tools, scale.rounds, say);
  const translated = await measureTranslated(tools, scale, say);
  const holders = variants.filter(({ name }) => proxies.includes(name));
  const held = await measureHeld(holders, tools, heldStreams, scale.heldGapMs, say);
  say('starts');
  const starts = await measureStarts(scale.starts);
  const alone = await measureAlone(tools, scale, say);
  return {
    whole,
    few,
    calm,
    manyStreams,
    fewStreams,
    restarted,
    translated,
    held,
    heldStreams,
    starts,
    ...alone,
  };
}

/** Measured for Turnpike only. */
async function measureAlone(
  tools: LoadTools,
  scale: Scale,
  say: (sentence: string) => void,
): Promise<Pick<Measured, 'blocks' | 'growth' | 'storage' | 'workers' | 'postgres' | 'usedMb' | 'efforts'>> {
  say('requests with an image of 10 MB');
  const blocks = await measureBlocks(tools, scale.images);
  const { keys, models, rows } = scale.growth;
  say(`${count(keys)} keys, ${count(models)} models, ${count(rows)} rows`);
  const growth = await measureGrowth(tools, scale.growth, scale.brief);
  say(`what ${count(scale.storedCalls)} calls leave on the disk`);
  const storage = await measureStorage(tools, scale.storedCalls);
  const workers = await measureWorkers(tools, scale.brief);
  say(workers === undefined ? 'this Turnpike knows no `listen.workers`: they are not measured' : 'two workers');
  say('SQLite and PostgreSQL');
  const postgres = await measurePostgres(tools, scale.brief);
  if (postgres === undefined) say('PostgreSQL is not installed: it is not compared');
  const usedCalls = Math.min(USED_CALLS, scale.storedCalls);
  say(`memory after ${count(usedCalls)} calls`);
  const usedMb = await measureUsed(tools, usedCalls);
  say('what a call takes apart from time');
  const efforts = await measureEfforts(tools);
  return { blocks, growth, storage, workers, postgres, usedMb, efforts };
}

/** The memory of a server that has answered so many calls, in MB. */
async function measureUsed(tools: LoadTools, requests: number): Promise<number | undefined> {
  const vendor = await tools.vendor(1, 0);
  const server = await (await prepareTurnpike(oneModel(vendor.port))).start();
  await tools.measure(server, { stream: false, connections: CONNECTIONS, requests });
  const { memoryBefore } = await tools.measure(server, { stream: false, connections: 1, requests: 1 });
  await server.process.stop();
  await vendor.process.stop();
  return memoryBefore && memoryBefore / 1_024;
}

const count = (number: number): string => number.toLocaleString('en');

/** 20,000 events per second. */
export function manyStreamsLoad({ seconds }: Pick<Scale, 'seconds'>): Load {
  return {
    stream: true,
    connections: 200,
    requests: Math.round(200 * (seconds + 1)),
    warm: 200,
    // The events of all streams are spread evenly over one interval.
    rampUs: (GAP_MS * 1_000) / 200,
  };
}

/** Whole answers and streams. Returns whole answers per second. */
async function warmUpAll(target: Target, tools: LoadTools): Promise<number> {
  await warmUpStreams(target, tools);
  return warmUp(target, tools);
}

/** Each stream is followed by another one on its connection. */
async function measureRestarted(
  variants: readonly Variant[],
  tools: LoadTools,
  rounds: number,
  say: (sentence: string) => void,
): Promise<Rounds> {
  const { streams, events, gapMs } = RESTARTED;
  say(`${streams} streams that are restarted as they end`);
  const vendor = await tools.vendor(events, gapMs);
  const servers = new Map<Who, Server>();
  for (const variant of variants) {
    const server = await variant.start(vendor.port);
    servers.set(variant.name, server);
    await warmUp(server, tools);
    await warmUpStreams(server, tools);
  }
  const measured = await inTurns([...servers.keys()], rounds, (who) =>
    tools.measure(servers.get(who)!, {
      stream: true,
      connections: streams,
      requests: 4 * streams,
      warm: streams,
    }),
  );
  for (const { process } of servers.values()) await process.stop();
  await vendor.process.stop();
  return measured;
}

/** Vendor, server and load are the same for all, so that only the translation differs. */
async function measureTranslated(tools: LoadTools, scale: Scale, say: (sentence: string) => void): Promise<Translated> {
  say('translated calls');
  const vendor = await polyglotVendor(EVENTS, GAP_MS);
  const server = await (await prepareTurnpike(everyStyle(vendor.port))).start();
  const pairs = [BYTES, ...scale.translated];
  const pace = new Map<Pair, number>();
  for (const pair of pairs) {
    await tools.measure(server, { stream: true, connections: 100, requests: 200, ask: askOf(pair, true) });
    pace.set(pair, await warmUp(server, tools, { ask: askOf(pair, false) }));
  }
  const whole = await inTurns(pairs, scale.brief.rounds, (pair) =>
    tools.measure(server, {
      stream: false,
      connections: CONNECTIONS,
      requests: Math.round(pace.get(pair)! * scale.brief.seconds),
      ask: askOf(pair, false),
    }),
  );
  const streams = await inTurns(pairs, scale.rounds, async (pair) => {
    const sample = await tools.measure(server, { ...manyStreamsLoad(scale), ask: askOf(pair, true) });
    // The vendor's events count: the client may get none or several for one.
    return { ...sample, cpuPerEvent: sample.cpu && sample.cpu / EVENTS };
  });
  await server.process.stop();
  await vendor.process.stop();
  return { whole, streams };
}

/** Each on its own server: memory freed by earlier loads would be counted as unused. */
async function measureHeld(
  variants: readonly Variant[],
  tools: LoadTools,
  streams: number,
  gapMs: number,
  say: (sentence: string) => void,
): Promise<Rounds> {
  say(`${streams} streams held`);
  const vendor = await tools.vendor(HELD_EVENTS, gapMs);
  const samples = new Map<Who, readonly Sample[]>();
  for (const variant of variants) {
    const server = await variant.start(vendor.port);
    await tools.measure(server, { stream: false, connections: CONNECTIONS, requests: 500 });
    const rampUs = 1_000;
    const openedS = (streams * rampUs) / 1_000_000;
    const memoryAtS = (openedS + (HELD_EVENTS * gapMs) / 1_000) / 2;
    const sample = await tools.measure(server, {
      stream: true,
      connections: streams,
      requests: streams,
      rampUs,
      memoryAtS,
    });
    samples.set(variant.name, [sample]);
    await server.process.stop();
  }
  await vendor.process.stop();
  return samples;
}
