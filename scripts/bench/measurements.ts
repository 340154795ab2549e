/**
 * What is measured: whole answers at full speed and at a low rate, streams many and few, translated streams beside our own that
 * are not, and the memory of held streams.
 */
import { setTimeout } from 'node:timers/promises';
import { type Load, type LoadTools, polyglotVendor, type Sample } from './load.ts';
import { CORE, descriptors, moveTo, residentKib } from './machine.ts';
import { askOf, BYTES, type Pair, TRANSLATED } from './pairs.ts';
import { inTurns, median, type Rounds, type Who } from './rounds.ts';
import { type Server, startedBefore, startTranslator, type Target, type Variant } from './variants.ts';

/** How much of everything is done. */
export interface Scale {
  /** Rounds at full speed; the others take fewer. */
  readonly rounds: number;
  readonly fewerRounds: number;
  /** How long one load takes, about. */
  readonly seconds: number;
  readonly heldStreams: number;
  /** Milliseconds between two events of a held stream. */
  readonly heldGapMs: number;
}

export const FULL: Scale = { rounds: 5, fewerRounds: 3, seconds: 2, heldStreams: 2_000, heldGapMs: 1_000 };
export const QUICK: Scale = { rounds: 2, fewerRounds: 1, seconds: 1, heldStreams: 500, heldGapMs: 500 };

/** Everything that was measured; undefined where the tools cannot. */
export interface Measured {
  /** 64 connections, each sending its next request when it has an answer. */
  readonly whole: Rounds;
  /** 200 requests per second; the server may use both cores. */
  readonly calm: Rounds | undefined;
  /** 200 streams at once, 20,000 events per second. */
  readonly manyStreams: Rounds | undefined;
  /** 32 streams that begin in the same instant. */
  readonly fewStreams: Rounds | undefined;
  /** As many again, each kind of translation by itself; all on one server of ours. */
  readonly translated: Rounds<Pair> | undefined;
  /** Many slow streams, on a server that is fresh. */
  readonly held: Rounds | undefined;
  readonly heldStreams: number;
  readonly starts: Starts | undefined;
}

/** What a start costs where the database is there. */
export interface Starts {
  /** Seconds from the command to the line `ready`. */
  readonly readyS: number;
  /** Megabytes of memory two seconds later. */
  readonly idleMb: number;
}

const CONNECTIONS = 64;
const CALM_PER_SECOND = 200;
const EVENTS = 60;
const GAP_MS = 10;
const HELD_EVENTS = 6;
/** Descriptors of a server that are not streams. */
const OTHER_FILES = 200;

/** Measures all variants. `say` hears a sentence now and then. */
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
  const proxies = [...servers.keys()];

  say('warming up');
  const pace = new Map<Who, number>();
  for (const [who, target] of targets) pace.set(who, await warmUp(target, tools));

  say('whole answers at full speed');
  const whole = await inTurns(everybody, scale.rounds, (who) => {
    const requests = Math.round(pace.get(who)! * scale.seconds);
    return tools.measure(targets.get(who)!, { stream: false, connections: CONNECTIONS, requests, warm: CONNECTIONS });
  });

  let calm: Rounds | undefined;
  let manyStreams: Rounds | undefined;
  let fewStreams: Rounds | undefined;
  if (tools.exact) {
    say('200 streams, 20,000 events per second');
    manyStreams = await inTurns(proxies, scale.fewerRounds, (who) =>
      tools.measure(targets.get(who)!, manyStreamsLoad(scale)),
    );
    say('32 streams that begin in the same instant');
    fewStreams = await inTurns(everybody, scale.fewerRounds, (who) =>
      tools.measure(targets.get(who)!, { stream: true, connections: 32, requests: 32 * 2 * scale.seconds }),
    );
    say('200 requests per second');
    for (const server of servers.values()) moveTo(CORE.both, server.pid);
    calm = await inTurns(everybody, scale.fewerRounds, (who) =>
      tools.measure(targets.get(who)!, {
        stream: false,
        connections: 16,
        requests: CALM_PER_SECOND * 1.5 * scale.seconds,
        warm: CALM_PER_SECOND / 4,
        perSecond: CALM_PER_SECOND,
      }),
    );
  }
  for (const server of servers.values()) await server.stop();
  await vendor.process.stop();

  const heldStreams = Math.min(scale.heldStreams, Math.floor((descriptors() - OTHER_FILES) / 2));
  if (heldStreams < scale.heldStreams) {
    say(`only ${heldStreams} streams are held: each takes two descriptors, and ulimit -n is ${descriptors()}`);
  }
  const translated = tools.exact ? await measureTranslated(tools, scale, say) : undefined;
  const held = tools.exact ? await measureHeld(variants, tools, heldStreams, scale.heldGapMs, say) : undefined;
  say('starts');
  const starts = await measureStarts(scale.rounds);
  return { whole, calm, manyStreams, fewStreams, translated, held, heldStreams, starts };
}

/** Medians of several. Nothing is called there: a vendor is not needed. */
async function measureStarts(rounds: number): Promise<Starts | undefined> {
  const seconds: number[] = [];
  const megabytes: number[] = [];
  const restart = await startedBefore();
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    const server = await restart();
    seconds.push((performance.now() - began) / 1_000);
    await setTimeout(2_000);
    const kib = residentKib(server.pid);
    if (kib === undefined) return undefined;
    megabytes.push(kib / 1_024);
    await server.stop();
  }
  return { readyS: median(seconds)!, idleMb: median(megabytes)! };
}

/** 20,000 events per second. */
function manyStreamsLoad({ seconds }: Scale): Load {
  return {
    stream: true,
    connections: 200,
    requests: 200 * (seconds + 1),
    warm: 200,
    // The events of all streams are spread evenly over the time between two of one.
    rampUs: (GAP_MS * 1_000) / 200,
  };
}

/** Runs what will be measured until it is compiled. Requests per second. */
async function warmUp(target: Target, tools: LoadTools): Promise<number> {
  const first = await tools.measure(target, { stream: false, connections: CONNECTIONS, requests: 1_000 });
  if (tools.exact) await tools.measure(target, { stream: true, connections: 100, requests: 200 });
  const requests = Math.round(first.perSecond);
  return (await tools.measure(target, { stream: false, connections: CONNECTIONS, requests })).perSecond;
}

/** Vendor, server and load are the same for all, so that nothing but the translation makes a difference. */
async function measureTranslated(
  tools: LoadTools,
  scale: Scale,
  say: (sentence: string) => void,
): Promise<Rounds<Pair>> {
  say('translated streams, 20,000 events per second');
  const vendor = await polyglotVendor(EVENTS, GAP_MS);
  const server = await startTranslator(vendor.port);
  const pairs = [BYTES, ...TRANSLATED];
  for (const pair of pairs) {
    await tools.measure(server, { stream: true, connections: 100, requests: 200, ask: askOf(pair) });
  }
  const rounds = await inTurns(pairs, scale.fewerRounds, async (pair) => {
    const sample = await tools.measure(server, { ...manyStreamsLoad(scale), ask: askOf(pair) });
    // The vendor's events count: what a client gets for one may be none, or several.
    return { ...sample, cpuPerEvent: sample.cpu && sample.cpu / EVENTS };
  });
  await server.stop();
  await vendor.process.stop();
  return rounds;
}

/** Each on a server of its own: memory that earlier loads have left free would be counted for nothing. */
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
    await server.stop();
  }
  await vendor.process.stop();
  return samples;
}
