/** Statistics of the last 24 hours by the hour, in memory, for display. No decision depends on them. */
import type { RecentCalls } from '../../core/contracts/catalog.ts';
import type { Attempt, Clock, Exchange } from '../../core/plugin.ts';
import { boundedMap } from '../../core/sdk.ts';
import type { ModelCatalog } from './catalog.ts';

/** Bounded: clients choose the names that match patterns. */
const MOST_NAMES = 1_000;
const HOUR_MS = 3_600_000;
const HOURS = 24;

/** Histogram with four buckets per doubling, from a millisecond to four hours: quantiles are accurate to a tenth. */
const STEPS_PER_DOUBLING = 4;
const STEPS = 96;

/** Counts of one name over a short time. */
export interface Counts {
  served: number;
  failed: number;
  /** Unix milliseconds. */
  lastServedMs?: number;
  /** Histogram of the time to the first byte. */
  readonly steps: { [step: number]: number };
}

/** Creates zero counts. */
export function noCounts(): Counts {
  return { served: 0, failed: 0, steps: {} };
}

/** Counts of one name in one hour. */
interface Hour {
  /** Hours since the epoch; -1: unused. */
  hour: number;
  served: number;
  failed: number;
  /** Histogram of the time to the first byte. */
  readonly steps: Uint32Array;
}

interface Counted {
  /** By the hour modulo 24. */
  readonly hours: (Hour | undefined)[];
  lastServedMs: number | undefined;
}

/** Creates empty statistics. A count takes constant time. */
export function createRecent(clock: Clock) {
  const beganMs = clock.now();
  const byName = boundedMap<string, Counted>(MOST_NAMES);

  function countedAs(name: string): Counted {
    let counted = byName.get(name);
    if (counted === undefined) {
      counted = { hours: new Array<Hour | undefined>(HOURS).fill(undefined), lastServedMs: undefined };
      byName.set(name, counted);
    }
    return counted;
  }

  function hourOf({ hours }: Counted, nowMs: number): Hour {
    const hour = Math.floor(nowMs / HOUR_MS);
    const place = hour % HOURS;
    let slot = hours[place];
    if (slot === undefined) {
      slot = { hour, served: 0, failed: 0, steps: new Uint32Array(STEPS) };
      hours[place] = slot;
    } else if (slot.hour !== hour) {
      slot.hour = hour;
      slot.served = 0;
      slot.failed = 0;
      slot.steps.fill(0);
    }
    return slot;
  }

  return {
    /** `firstByteMs`: undefined if unknown. */
    served(name: string, firstByteMs: number | undefined): void {
      const counted = countedAs(name);
      const nowMs = clock.now();
      counted.lastServedMs = nowMs;
      const hour = hourOf(counted, nowMs);
      hour.served++;
      if (firstByteMs !== undefined) hour.steps[stepOf(firstByteMs)]!++;
    },
    failed(name: string): void {
      hourOf(countedAs(name), clock.now()).failed++;
    },
    /** Adds the counts of another process. */
    add(name: string, { served, failed, lastServedMs, steps }: Counts): void {
      const counted = countedAs(name);
      const hour = hourOf(counted, clock.now());
      hour.served += served;
      hour.failed += failed;
      for (const [step, count] of Object.entries(steps)) hour.steps[Number(step)]! += count;
      if (lastServedMs !== undefined && lastServedMs > (counted.lastServedMs ?? 0)) counted.lastServedMs = lastServedMs;
    },
    look(name: string): RecentCalls {
      const nowMs = clock.now();
      const current = Math.floor(nowMs / HOUR_MS);
      const counted = byName.get(name);
      const hours = (counted?.hours ?? []).filter(
        (each) => each !== undefined && each.hour <= current && each.hour > current - HOURS,
      ) as Hour[];
      const steps = new Float64Array(STEPS);
      for (const hour of hours) for (let i = 0; i < STEPS; i++) steps[i]! += hour.steps[i]!;
      return {
        sinceMs: Math.max(beganMs, (current - HOURS + 1) * HOUR_MS),
        served: hours.reduce((sum, { served }) => sum + served, 0),
        failed: hours.reduce((sum, { failed }) => sum + failed, 0),
        p50FirstByteMs: quantile(steps, 0.5),
        p95FirstByteMs: quantile(steps, 0.95),
        lastServedMs: counted?.lastServedMs,
      };
    },
  };
}

/** Statistics by name. */
export type Recent = ReturnType<typeof createRecent>;

/** Counts an attempt for its channel, unless the client caused its outcome. */
export function countAttempt(recent: Recent, { offer, failure, firstByteMs, cut }: Attempt): void {
  const { name } = offer.channel;
  if (failure === undefined) {
    if (!cut || firstByteMs !== undefined) recent.served(name, firstByteMs);
  } else if (failure !== 'refused') recent.failed(name);
}

/** Counts a call for the requested model, even if a fallback served it. Calls without an upstream attempt are not counted. */
export function countCall(recent: Recent, x: Exchange, catalog: Pick<ModelCatalog, 'find'>): void {
  const last = x.attempts.at(-1);
  if (x.style === undefined || last === undefined) return;
  const name = catalog.find(x.call.model)?.name;
  if (name === undefined) return;
  if (x.outcome === 'failed') recent.failed(name);
  else if (x.outcome === 'served' || (x.outcome === 'aborted' && x.delivered)) {
    const { firstByteMs } = last;
    recent.served(name, firstByteMs === undefined ? undefined : last.startedMs - x.startedMs + firstByteMs);
  }
}

/** The bucket of a duration: bucket 0 ends at a millisecond. */
export function stepOf(ms: number): number {
  return ms <= 1 ? 0 : Math.min(STEPS - 1, Math.ceil(Math.log2(ms) * STEPS_PER_DOUBLING));
}

/** The middle of the bucket that contains a quantile. */
function quantile(steps: Float64Array, share: number): number | undefined {
  const all = steps.reduce((sum, count) => sum + count, 0);
  if (all === 0) return undefined;
  let reached = 0;
  const step = steps.findIndex((count) => {
    reached += count;
    return reached >= all * share;
  });
  return Math.round(2 ** ((step - 0.5) / STEPS_PER_DOUBLING));
}
