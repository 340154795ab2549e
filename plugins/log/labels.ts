/** Deduplication: what many records share is stored once and referenced by number: labels, and the runs that created their ids. */
import { createHash } from 'node:crypto';
import type { UsageRecord } from '../../core/contracts/records.ts';
import type { Json, Step, Store, Value } from '../../core/plugin.ts';
import { createRecent } from '../../core/sdk.ts';
import { runOf } from './ids.ts';
import type { Shared } from './notes.ts';

/** The number of cached rows; the cache is cleared beyond it. */
const KEPT = 5_000;

/** The columns of a label. */
export interface Label extends Pick<UsageRecord, 'style' | 'model' | 'channel' | 'stream' | 'outcome' | 'status'> {
  readonly route: string;
  readonly included: boolean;
  /** Undefined without usage. */
  readonly estimated: boolean | undefined;
  /** The upstream model of the only attempt; undefined if the row has the attempts. */
  readonly attempted: string | undefined;
  readonly notes: readonly Shared[];
}

/** A row that records refer to. */
interface Referred {
  /** Its unique key. */
  readonly name: string;
  number: number;
  /** The day on which it was last marked as used, as far as this process knows. */
  dayMs: number;
  isAskedFor: boolean;
}

/** The references of a record to its run and label. */
export interface Reference {
  /** Undefined: `steps` insert them, or mark them as used today, and the record finds them by `names`. */
  readonly numbers: readonly [run: number, label: number] | undefined;
  readonly names: readonly [run: string, digest: string];
  readonly steps: readonly Step[];
}

/** Returns the references of a record with this id, written on this day. */
export type Labels = (id: string, label: Label, dayMs: number) => Reference;

/**
 * Creates it. Numbers are cached of rows that are stored and marked as used today. Otherwise the record's list writes the row, and its
 * number is queried for later records.
 */
export function createLabels(store: Pick<Store, 'one'>): Labels {
  const runs = new Map<string, Referred>();
  const labels = new Map<string, Referred>();

  async function ask(referred: Referred, sql: string): Promise<void> {
    referred.isAskedFor = true;
    const row = await store.one<{ id: number; last_day_ms: number }>(sql, referred.name).catch(() => undefined);
    referred.isAskedFor = false;
    if (row === undefined) return;
    referred.number = row.id;
    referred.dayMs = row.last_day_ms;
  }

  /** The cached row of a key; `name` is called once. */
  function find(cache: Map<string, Referred>, key: string, name: () => string): Referred {
    let referred = cache.get(key);
    if (referred === undefined) {
      if (cache.size >= KEPT) cache.clear();
      referred = { name: name(), number: 0, dayMs: Number.NEGATIVE_INFINITY, isAskedFor: false };
      cache.set(key, referred);
    }
    return referred;
  }

  let lastRun: Referred | undefined;

  function runFor(id: string): Referred {
    const name = runOf(id);
    if (lastRun?.name !== name) lastRun = find(runs, name, () => name);
    return lastRun;
  }

  const rowFor = createRecent(64, placeFor, isSame, (label: Label) =>
    find(labels, keyOf(label), () => digestOf(label)),
  );

  return (id, label, dayMs) => {
    const run = runFor(id);
    const row = rowFor(label);
    const names = [run.name, row.name] as const;
    if (run.dayMs >= dayMs && row.dayMs >= dayMs) return { numbers: [run.number, row.number], names, steps: NO_STEPS };
    if (run.dayMs < dayMs && !run.isAskedFor) void ask(run, ASK_FOR_RUN);
    if (row.dayMs < dayMs && !row.isAskedFor) void ask(row, ASK_FOR_LABEL);
    return {
      numbers: undefined,
      names,
      steps: [
        { sql: WRITE_RUN, params: [run.name, dayMs] },
        { sql: WRITE_LABEL, params: [row.name, dayMs, ...columnsOf(label)] },
      ],
    };
  };
}

const NO_STEPS: readonly Step[] = [];
function placeFor({ status, model, channel, notes }: Label): number {
  return status + model.length * 7 + channel.length * 31 + (notes[0]?.number ?? 0) * 13;
}

function isSame(a: Label, b: Label): boolean {
  if (a.notes.length !== b.notes.length) return false;
  for (let i = 0; i < a.notes.length; i++) if (a.notes[i] !== b.notes[i]) return false;
  return (
    a.status === b.status &&
    a.outcome === b.outcome &&
    a.stream === b.stream &&
    a.included === b.included &&
    a.estimated === b.estimated &&
    a.style === b.style &&
    a.model === b.model &&
    a.channel === b.channel &&
    a.attempted === b.attempted &&
    a.route === b.route
  );
}

const ASK_FOR_RUN = 'SELECT id, last_day_ms FROM usage_run WHERE name = ?';
const ASK_FOR_LABEL = 'SELECT id, last_day_ms FROM usage_label WHERE digest = ?';
/** A past day never replaces a later one. */
const markIn = (table: string): string =>
  `DO UPDATE SET last_day_ms = excluded.last_day_ms WHERE excluded.last_day_ms > ${table}.last_day_ms`;
const WRITE_RUN = `INSERT INTO usage_run (name, last_day_ms) VALUES (?, ?) ON CONFLICT (name) ${markIn('usage_run')}`;
const WRITE_LABEL = `INSERT INTO usage_label (digest, last_day_ms, style, model, channel, stream, outcome, status, route, included,
    estimated, attempt, notes)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (digest) ${markIn('usage_label')}`;

function columnsOf(label: Label): readonly Exclude<Value, Uint8Array>[] {
  const { style, model, channel, stream, outcome, status, route, included, estimated, attempted, notes } = label;
  return [
    ...[style, model, channel, Number(stream), outcome, status, route, Number(included)],
    estimated === undefined ? null : Number(estimated),
    attempted === undefined ? '' : attemptText(channel, attempted, status),
    notes.map(({ text }) => text).join(''),
  ];
}

/** The note of the only attempt up to its duration. */
function attemptText(channel: string, model: string, status: number): string {
  const attempt: Json = { channel, model, status };
  return `,"attempts":[${JSON.stringify(attempt).slice(0, -1)},"ms":`;
}

/** The cache key of a label, computed without serializing notes. */
function keyOf(label: Label): string {
  const { style, model, channel, attempted = '', estimated } = label;
  let notes = '';
  for (const { number } of label.notes) notes += ` ${number}`;
  const flags = `${label.stream} ${label.included} ${estimated} ${label.attempted === undefined}`;
  // With lengths, so that different texts cannot give the same key.
  const lengths = `${style.length} ${channel.length} ${model.length} ${attempted.length}`;
  return `${label.outcome} ${label.status} ${flags}${notes}/${lengths}/${style}${channel}${model}${attempted}${label.route}`;
}

/** The unique key of a label in the store. */
function digestOf(label: Label): string {
  return createHash('sha256')
    .update(JSON.stringify(columnsOf(label)))
    .digest('base64url');
}
