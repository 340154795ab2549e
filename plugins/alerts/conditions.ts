/** Conditions of the gateway that are told: failing channels, prices that differ, a nearly full disk, failed and overdue backups. */
import { Catalog, type ChannelStatus } from '../../core/contracts/catalog.ts';
import { Prices } from '../../core/contracts/prices.ts';
import { Running } from '../../core/contracts/running.ts';
import type { Host } from '../../core/plugin.ts';
import { durationMs } from '../../core/sdk.ts';
import type { Book, Finding } from './book.ts';
import type { AlertsSection } from './section.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** A disk with less than this part free is nearly full. */
const LEAST_FREE = 0.1;
/** A scheduled backup is overdue after this many intervals. */
const OVERDUE = 2;
/** How recent a refused key must be: a channel without calls has no newer outcome. */
const RECENT_MS = 600_000;

const bytesText = (bytes: number): string => `${(bytes / 1_024 ** 3).toFixed(1)} GiB`;

type Condition = Pick<Finding, 'subject' | 'kind' | 'title' | 'text' | 'facts'> & { readonly againMs?: number };

/** Creates it. `failing`: since when channels are not closed, by the clock's `mono`; it survives a reload. */
export function createConditions(host: Host, section: AlertsSection, book: Book, failing: Map<string, number>) {
  const { clock } = host;
  const afterMs = durationMs(section.vendors);
  const startedMs = clock.now();
  let pricesMs = Number.NEGATIVE_INFINITY;

  function ofChannel({ name, on, state, lastFailure, recent }: ChannelStatus): Condition | undefined {
    const now = clock.mono();
    if (!on || state === 'closed') failing.delete(name);
    else if (!failing.has(name)) failing.set(name, now);
    if (!on) return undefined;
    const subject = `vendor ${name}`;
    const { kind, atMs = 0, status } = lastFailure ?? {};
    const isRecent = clock.now() - atMs < RECENT_MS && (recent.lastServedMs ?? 0) < atMs;
    if (kind === 'credential' && isRecent) {
      const title = `The key of the channel "${name}" is refused`;
      const text = `The vendor answers with status ${status}. Its key may be expired, without credit, or not allowed.`;
      const facts = { about: 'credential', name, ...(status !== undefined && { status }) } as const;
      return { subject, kind: 'vendor', title, text, facts };
    }
    const forMs = now - (failing.get(name) ?? now);
    if (!failing.has(name) || forMs < afterMs) return undefined;
    const failure = status === undefined ? kind : kind === 'status' ? `status ${status}` : `${kind}, status ${status}`;
    const why = failure === undefined ? '' : ` The last failure: ${failure}.`;
    const title = `The channel "${name}" is failing`;
    const minutes = Math.floor(forMs / 60_000);
    const text = `Its circuit has not been closed for ${minutes} minutes.${why} Calls use other channels if there are any.`;
    const last = { ...(kind !== undefined && { failure: kind }), ...(status !== undefined && { status }) };
    return { subject, kind: 'vendor', title, text, facts: { about: 'circuit', name, minutes, ...last } };
  }

  function ofPrices(): readonly Condition[] {
    const { models, snapshot } = host.find(Prices)?.table() ?? { models: [], snapshot: { name: '', version: '' } };
    return models
      .filter(({ drift }) => drift.length > 0)
      .map(({ name, drift }) => {
        const differences = drift.map((each) => `${each.field}: ${each.configured}, published ${each.published}`);
        const [all, list] = [differences.join('; '), `${snapshot.name} ${snapshot.version}`];
        return {
          ...{ subject: `price ${name}`, kind: 'price', againMs: 30 * DAY_MS },
          title: `The price of "${name}" differs from the list price`,
          text: `${all} (${list}).`,
          facts: { about: 'price', name, drift: all, list },
        };
      });
  }

  async function ofDisk(): Promise<readonly Condition[]> {
    const { store } = (await host.find(Running)?.vitals()) ?? {};
    const { room } = store ?? {};
    const isFull =
      store?.scarce === true || (room !== undefined && room.disk > 0 && room.free < room.disk * LEAST_FREE);
    if (!isFull) return [];
    const left = room === undefined ? '' : ` ${bytesText(room.free)} of ${bytesText(room.disk)} are free.`;
    const text = `The disk of the database is nearly full.${left} When it is full, calls are refused.`;
    const facts = { about: 'disk', ...(room !== undefined && { free: room.free, disk: room.disk }) } as const;
    return [{ subject: 'disk', kind: 'disk', title: 'The disk is nearly full', text, facts }];
  }

  function ofBackups(): readonly Condition[] {
    const schedule = host.find(Running)?.backups();
    if (schedule === undefined) return [];
    const { failed, proven, everyMs, to } = schedule;
    const last =
      proven === undefined
        ? 'No backup was ever proven.'
        : `The last proven backup is of ${new Date(proven.atMs).toISOString()}.`;
    const backup = { subject: 'backup', kind: 'backup' } as const;
    const known = { to, ...(proven !== undefined && { proven_at: Math.floor(proven.atMs / 1_000) }) };
    if (failed !== undefined) {
      const { reason = '' } = failed;
      const facts = { about: 'backup-failed', ...known, reason } as const;
      return [{ ...backup, title: 'The backup failed', text: `The backup to ${to} failed: ${reason} ${last}`, facts }];
    }
    if (clock.now() - (proven?.atMs ?? startedMs) <= OVERDUE * everyMs) return [];
    const text = `No backup to ${to} was made in time. ${last}`;
    return [{ ...backup, title: 'The backup is overdue', text, facts: { about: 'backup-overdue', ...known } }];
  }

  /** The conditions that hold, and those of the kind that have ended. */
  async function* findings(kind: Finding['kind'], conditions: readonly Condition[]): AsyncIterable<Finding> {
    const common = { periodMs: 0, resetsMs: undefined, accountId: undefined };
    const subjects = new Set(conditions.map(({ subject }) => subject));
    for (const condition of conditions) yield { level: 100, againMs: DAY_MS, ...common, ...condition };
    for (const { subject, title, facts } of await book.openOf(kind)) {
      if (subjects.has(subject)) continue;
      const over = { subject, kind, level: 0, title: `Over: ${title}`, text: `This no longer holds: ${title}.` };
      yield { againMs: DAY_MS, ...common, ...over, facts };
    }
  }

  return {
    async *look(): AsyncIterable<Finding> {
      const channels = afterMs > 0 ? (host.find(Catalog)?.channels() ?? []) : [];
      yield* findings(
        'vendor',
        channels.flatMap((channel) => ofChannel(channel) ?? []),
      );
      yield* findings('disk', section.disk ? await ofDisk() : []);
      yield* findings('backup', section.backups ? ofBackups() : []);
      if (clock.mono() - pricesMs < HOUR_MS) return;
      pricesMs = clock.mono();
      yield* findings('price', section.prices ? ofPrices() : []);
    },
  };
}
