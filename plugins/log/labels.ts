/** What is the same of many records is written once, and they refer to it by number: their labels, and the runs that made their ids. */
import { createHash } from 'node:crypto';
import type { UsageRecord } from '../../core/contracts/records.ts';
import type { Json, Step, Store, Value } from '../../core/plugin.ts';
import { runOf } from './ids.ts';
import type { Shared } from './notes.ts';

/** So many are remembered; beyond, they start over. */
const KEPT = 5_000;

/** What a label says. */
export interface Label extends Pick<UsageRecord, 'style' | 'model' | 'channel' | 'stream' | 'outcome' | 'status'> {
  readonly route: string;
  readonly included: boolean;
  /** Undefined where nothing was used. */
  readonly estimated: boolean | undefined;
  /** The model that the only attempt asked its channel for; undefined where the row tells what was attempted. */
  readonly attempted: string | undefined;
  readonly notes: readonly Shared[];
}

/** A row that records refer to. */
interface Referred {
  /** What it is found by. */
  readonly name: string;
  number: number;
  /** It is known to be marked as used on this day. */
  dayMs: number;
  isAskedFor: boolean;
}

/** How a list of steps says the numbers of a record's run and label. */
export interface Reference {
  /** Undefined: `steps` write them, or mark them as used today, and the record looks them up by these names. */
  readonly numbers: readonly [run: number, label: number] | undefined;
  readonly names: readonly [run: string, digest: string];
  readonly steps: readonly Step[];
}

/** Finds the label and the run of a record with this id, that is written on this day. */
export type Labels = (id: string, label: Label, dayMs: number) => Reference;

/**
 * Makes it. Numbers are known of what is in the store and was marked as used today. Where one is not, the record's own list sees to
 * that, and the number is asked for: the next record, or one after it, finds it.
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

  /** The one of that key; `name` is asked once. */
  function find(known: Map<string, Referred>, key: string, name: () => string): Referred {
    let referred = known.get(key);
    if (referred === undefined) {
      if (known.size >= KEPT) known.clear();
      referred = { name: name(), number: 0, dayMs: Number.NEGATIVE_INFINITY, isAskedFor: false };
      known.set(key, referred);
    }
    return referred;
  }

  return (id, label, dayMs) => {
    const runName = runOf(id);
    const run = find(runs, runName, () => runName);
    const its = find(labels, keyOf(label), () => digestOf(label));
    const names = [run.name, its.name] as const;
    if (run.dayMs >= dayMs && its.dayMs >= dayMs) return { numbers: [run.number, its.number], names, steps: [] };
    if (run.dayMs < dayMs && !run.isAskedFor) void ask(run, ASK_FOR_RUN);
    if (its.dayMs < dayMs && !its.isAskedFor) void ask(its, ASK_FOR_LABEL);
    return {
      numbers: undefined,
      names,
      steps: [
        { sql: WRITE_RUN, params: [run.name, dayMs] },
        { sql: WRITE_LABEL, params: [its.name, dayMs, ...columnsOf(label)] },
      ],
    };
  };
}

const ASK_FOR_RUN = 'SELECT id, last_day_ms FROM usage_run WHERE name = ?';
const ASK_FOR_LABEL = 'SELECT id, last_day_ms FROM usage_label WHERE digest = ?';
/** A day that is over never follows one that is not. */
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

/** The note of the only attempt as far as its time. */
function attemptText(channel: string, model: string, status: number): string {
  const attempt: Json = { channel, model, status };
  return `,"attempts":[${JSON.stringify(attempt).slice(0, -1)},"ms":`;
}

/** What tells labels apart within this process, without making texts of what was noted. */
function keyOf(label: Label): string {
  const { style, model, channel, attempted = '', estimated } = label;
  let notes = '';
  for (const { number } of label.notes) notes += ` ${number}`;
  const flags = `${label.stream} ${label.included} ${estimated} ${label.attempted === undefined}`;
  // Lengths, so that no two texts can be taken for others.
  const lengths = `${style.length} ${channel.length} ${model.length} ${attempted.length}`;
  return `${label.outcome} ${label.status} ${flags}${notes}/${lengths}/${style}${channel}${model}${attempted}${label.route}`;
}

/** The same in the store, for every process alike. */
function digestOf(label: Label): string {
  return createHash('sha256')
    .update(JSON.stringify(columnsOf(label)))
    .digest('base64url');
}
