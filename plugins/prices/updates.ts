/** Published prices that were taken over: kept in the store for all gateways, each valid from a time on. */
import { readFile } from 'node:fs/promises';
import type { ModelInfo } from '@pydantic/genai-prices';
import { type Actor, Audit } from '../../core/contracts/audit.ts';
import type { PriceComparison, PriceUpdates } from '../../core/contracts/prices.ts';
import type { Host, Migration } from '../../core/plugin.ts';
import { type Chore, createChore, durationMs } from '../../core/sdk.ts';
import { errors } from './errors.ts';
import { data, type Epoch, type Epochs, merged } from './list-prices.ts';
import { type CompareOptions, changesOf, type FoundChange, Implausible, readList } from './published-list.ts';
import type { UpdatesSection } from './section.ts';

/** `info` is the entry of the list, as JSON. */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'published prices that were taken over, and the last check',
    sql: [
      `CREATE TABLE price_update (
        provider TEXT NOT NULL, model TEXT NOT NULL, from_ms INTEGER NOT NULL, info TEXT NOT NULL, source TEXT NOT NULL,
        taken_ms INTEGER NOT NULL, taken_by TEXT NOT NULL, PRIMARY KEY (provider, model, from_ms)
      ) STRICT`,
      `CREATE TABLE price_check (
        one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1), at_ms INTEGER NOT NULL
      ) STRICT`,
    ],
  },
];

/**
 * The time until a price is valid. All gateways must know it by then: a call that began with the price before must be
 * settled by it, too.
 */
const LEAD_MS = 120_000;
/** How often the store is read, in case a message of another process is lost. */
const READ_MS = 30_000;
const HOUR_MS = 3_600_000;
const FETCH_MS = 30_000;
const MOST_BYTES = 32 * 1_024 ** 2;
const TAKEN = 'prices.taken over';

/** What the updates need of the plugin. */
export interface UpdateTools {
  readonly host: Host;
  readonly section: UpdatesSection | undefined;
  /** The public names that cost a list price, and those that do not, by `provider model`. */
  sold(): Pick<CompareOptions, 'sold' | 'fixed'>;
}

/** The prices that were taken over, and how others are. */
export interface TakenPrices extends PriceUpdates, Epochs {
  /** Reads the store, and starts the scheduled check. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** The same as `takeOver`, from a URL or an absolute path, at a time in unix milliseconds. */
  update(how: UpdateOptions): Promise<PriceComparison>;
}

/** How prices are updated. */
export interface UpdateOptions {
  /** A URL, or an absolute path. Default: `prices.updates.from`. */
  readonly from?: string | undefined;
  /** Undefined: nothing is taken over. */
  readonly actor?: Actor | undefined;
  /** When they are valid; at least two minutes ahead, which is the default. */
  readonly atMs?: number | undefined;
  /** Only these changes. */
  readonly takes?: (change: FoundChange) => boolean;
  /** The list must be this one. */
  readonly digest?: string | undefined;
}

/** Creates them. Nothing is read before `start`. */
export function createPriceUpdates({ host, section, sold }: UpdateTools): TakenPrices {
  const { store, clock, log, peers } = host;
  /** The newest first. */
  let epochs: readonly Epoch[] = [];
  let state = '';
  let chores: readonly Chore[] = [];

  async function read(): Promise<void> {
    const row = await store.one<{ n: number; last: number | null }>(
      'SELECT COUNT(*) AS n, MAX(from_ms) AS last FROM price_update',
    );
    const now = `${row?.n} ${row?.last}`;
    if (now === state) return;
    const rows = await store.all<{ provider: string; model: string; from_ms: number; info: string }>(
      'SELECT provider, model, from_ms, info FROM price_update ORDER BY from_ms, provider, model',
    );
    epochs = epochsOf(rows);
    state = now;
  }

  /** The list that is valid when all that was taken over is valid. */
  async function currentList() {
    const shipped = (await data().waitForUpdate()) ?? [];
    const [latest] = epochs;
    return shipped.map((provider) => {
      const taken = latest?.models.get(provider.id);
      return taken === undefined ? provider : { ...provider, models: merged(provider.models, taken) };
    });
  }

  async function update({ from, actor, atMs, takes = () => true, digest }: UpdateOptions): Promise<PriceComparison> {
    const source = from ?? section?.from ?? data().REMOTE_DATA_JSON_URL;
    const checkedMs = clock.now();
    await read();
    let found: ReturnType<typeof changesOf>;
    let list: ReturnType<typeof readList>;
    try {
      list = readList(await fetchList(source, host.fetch));
      const maxChange = section?.maxChange ?? DEFAULT_MAX_CHANGE;
      found = changesOf(await currentList(), list, { ...sold(), maxChange });
    } catch (error) {
      if (error instanceof Implausible) throw errors.price_list_refused(`the list ${error.message}`);
      throw errors.price_list_refused(error instanceof Error ? error.message : String(error));
    }
    if (digest !== undefined && digest !== list.digest) throw errors.price_list_changed();
    await store.run(
      'INSERT INTO price_check (one, at_ms) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET at_ms = excluded.at_ms',
      checkedMs,
    );
    const changes = found.changes.filter(takes);
    const fromMs = Math.max(atMs ?? 0, clock.now() + LEAD_MS);
    if (actor !== undefined && changes.length > 0) await keep(changes, source, actor, fromMs);
    return {
      source,
      digest: list.digest,
      changes: found.changes.map(({ info: _, ...change }) => change),
      skipped: found.skipped,
      taken: actor === undefined ? undefined : { count: changes.length, fromMs },
    };
  }

  async function keep(changes: readonly FoundChange[], source: string, actor: Actor, fromMs: number): Promise<void> {
    const facts = { source, count: changes.length, from: new Date(fromMs).toISOString() };
    const takenMs = clock.now();
    await store.atomic([
      ...changes.map(({ provider, model, info }) => ({
        sql: `INSERT INTO price_update (provider, model, from_ms, info, source, taken_ms, taken_by)
              VALUES (?, ?, ?, ?, ?, ?, ?)`,
        params: [provider, model, fromMs, JSON.stringify(info), source, takenMs, actor.name],
      })),
      ...(host.find(Audit)?.steps({ actor, action: 'prices.update', object: 'published prices', facts }) ?? []),
    ]);
    await read();
    peers.tell(TAKEN, null);
    log.info('published prices were taken over', { ...facts, by: actor.name });
  }

  /** The scheduled check. */
  async function check({ every, apply }: UpdatesSection): Promise<void> {
    if (every === undefined) return;
    const last = await store.one<{ at_ms: number }>('SELECT at_ms FROM price_check WHERE one = 1');
    if (last !== undefined && clock.now() - last.at_ms < durationMs(every)) return;
    const takes = (change: FoundChange): boolean => apply === 'all' || change.kind === 'decrease';
    const actor = apply === 'none' ? undefined : SCHEDULE;
    const { source, changes, taken } = await update({ actor, takes });
    const sold = changes.filter(({ names }) => names.length > 0).length;
    if (sold > 0 && (apply === 'none' || taken!.count < changes.length))
      log.warn('the published price list has changes that were not taken over: `turnpike prices update --dry-run`', {
        source,
        changes: changes.length,
        sold,
      });
  }

  return {
    at(atMs) {
      for (const epoch of epochs) if (epoch.fromMs <= atMs) return epoch;
      return undefined;
    },
    after: (atMs) => epochs.filter(({ fromMs }) => fromMs > atMs),
    async start() {
      await read();
      peers.on(TAKEN, async () => {
        await read();
        return undefined;
      });
      const tools = { clock, log, peers };
      chores = [
        createChore(tools, { everyMs: READ_MS, everywhere: true, work: read, failure: 'prices could not be read' }),
        ...(section?.every === undefined
          ? []
          : [
              createChore(tools, {
                everyMs: Math.min(durationMs(section.every), HOUR_MS),
                work: () => check(section),
                failure: 'the published price list could not be checked',
              }),
            ]),
      ];
      for (const chore of chores) chore.start();
    },
    async stop() {
      await Promise.all(chores.map((chore) => chore.stop()));
    },
    update,
    compare: () => update({}),
    takeOver(actor, digest, only) {
      const chosen = only && new Set(only);
      const takes = ({ provider, model }: FoundChange): boolean => chosen?.has(`${provider} ${model}`) ?? true;
      return update({ actor, digest, takes });
    },
    async rule() {
      const last = await store.one<{ at_ms: number }>('SELECT at_ms FROM price_check WHERE one = 1');
      const rule = section && {
        everyMs: section.every === undefined ? undefined : durationMs(section.every),
        apply: section.apply,
        maxChange: section.maxChange,
      };
      return { rule, checkedMs: last?.at_ms };
    },
    async history() {
      const rows = await store.all<{
        provider: string;
        model: string;
        from_ms: number;
        taken_ms: number;
        taken_by: string;
        source: string;
      }>(
        `SELECT provider, model, from_ms, taken_ms, taken_by, source FROM price_update
         ORDER BY from_ms DESC, provider, model LIMIT 1000`,
      );
      return rows.map(({ provider, model, from_ms, taken_ms, taken_by, source }) => ({
        source,
        provider,
        model,
        fromMs: from_ms,
        takenMs: taken_ms,
        takenBy: taken_by,
      }));
    },
  };
}

/** Without `prices.updates`. */
const DEFAULT_MAX_CHANGE = 300;

const SCHEDULE: Actor = { accountId: undefined, name: 'schedule', ip: '' };

/** Each has all that were taken over before it. */
function epochsOf(
  rows: readonly {
    readonly provider: string;
    readonly model: string;
    readonly from_ms: number;
    readonly info: string;
  }[],
): readonly Epoch[] {
  const epochs: { fromMs: number; models: Map<string, Map<string, ModelInfo>> }[] = [];
  for (const { provider, model, from_ms, info } of rows) {
    let last = epochs.at(-1);
    if (last?.fromMs !== from_ms) {
      const before = [...(last?.models ?? [])].map(([id, own]) => [id, new Map(own)] as const);
      last = { fromMs: from_ms, models: new Map(before) };
      epochs.push(last);
    }
    const own = last.models.get(provider) ?? new Map<string, ModelInfo>();
    last.models.set(provider, own.set(model, JSON.parse(info) as ModelInfo));
  }
  return epochs.reverse();
}

/** Downloads a list, or reads a local one. */
async function fetchList(from: string, fetch: Host['fetch']): Promise<string> {
  if (!/^https?:/.test(from)) return readFile(from, 'utf8');
  const answer = await fetch(from, { signal: AbortSignal.timeout(FETCH_MS) });
  if (!answer.ok) throw new Error(`${from} answered ${answer.status}`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Implausible('is larger than 32 MB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
