/** The steps that write a usage record: its shared part as a label (`labels.ts`), the rest as a row. */

import { unusualIn } from '../../core/contracts/formats/uses.ts';
import type { UsageRecord } from '../../core/contracts/records.ts';
import type { Clock, Step, Store, Usage, Value } from '../../core/plugin.ts';
import { type ADDED, type Addition, additionSteps, dayOf, tagSteps } from './additions.ts';
import { assertId, msOf, placeOf, RUN_NAMED, runOf } from './ids.ts';
import { sumKindOf } from './kinds.ts';
import { createLabels, type Reference } from './labels.ts';
import { createNotes, onlyAttempt } from './notes.ts';
import { kindOf } from './records.ts';
import { createSummedTags } from './tags.ts';

/** The steps that write a record of a user in a department (0: none). Hours before `closedMs` may have been rolled up. */
export function createRecordSteps({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
  const findLabel = createLabels(store);
  const notes = createNotes();
  const summedTag = createSummedTags();

  function ofTags(record: UsageRecord, departmentId: number, added: Added, tags: readonly string[]): readonly Step[] {
    const { id, accountId, keyId, model, channel } = record;
    const kind = sumKindOf(record, kindOf(record));
    const summed = new Set(tags.map((tag) => summedTag(accountId, tag, msOf(id))));
    return tagSteps({ id, accountId, kind, keyId, model, channel, departmentId, ...added }, [...summed]);
  }

  return {
    /** A second insert fails its list, so nothing is added up twice. */
    record(record: UsageRecord, departmentId: number, closedMs: number): readonly Step[] {
      const { id, style, channel, stream, outcome, status, usage, charged: amount } = record;
      assertId(id);
      const idMs = msOf(id);
      const attempt = onlyAttempt(record.other.attempts, channel, status);
      const noted = notes.of(record.other, attempt && 'attempts');
      // Clients can invent names of models that do not exist.
      const isOwnModel = outcome !== 'served';
      const label = {
        style,
        model: isOwnModel ? '' : record.model,
        channel,
        stream,
        outcome,
        status,
        route: record.route ?? '',
        included: record.included === true,
        estimated: usage?.estimated,
        attempted: attempt?.model,
        notes: noted.shared,
      };
      // The wall clock may have been set back.
      const reference = findLabel(id, label, dayOf(Math.max(idMs, clock.now())));
      const added = {
        lines: 1,
        repeats: record.repeats ?? 0,
        amount,
        included: record.included === true ? amount : 0n,
        input: usage?.input ?? 0,
        output: usage?.output ?? 0,
      } as const;
      const model = isOwnModel ? record.model : null;
      const row = rowStep(record, departmentId, reference, {
        model,
        attemptMs: attempt?.ms ?? null,
        notes: noted.text,
      });
      const steps = [...sumSteps(record, departmentId, added, closedMs), ...reference.steps, row];
      const { tags } = record.other;
      if (tags !== undefined) steps.push(...ofTags(record, departmentId, added, tags as readonly string[]));
      if (hasDetail(usage) || record.atMs !== idMs) steps.push(detailStep(record, idMs));
      return steps;
    },

    /** Counts further requests on an existing record. The list fails if there is none. */
    more(record: UsageRecord, departmentId: number, repeats: number, closedMs: number): readonly Step[] {
      const { id } = record;
      const added = { lines: 0, repeats, amount: 0n, included: 0n, input: 0, output: 0 } as const;
      return [
        {
          sql: `UPDATE usage_row SET repeats = repeats + ? WHERE place = ? AND run_id = ${RUN_NAMED}`,
          params: [repeats, placeOf(id), runOf(id)],
          must: 'record_missing',
        },
        ...sumSteps(record, departmentId, added, closedMs),
      ];
    },
  };
}

const LABEL = '(SELECT id FROM usage_label WHERE digest = ?)';
const insertRow = (run: string, label: string): string =>
  `INSERT INTO usage_row (run_id, label_id, place, account_id, department_id, key_id, model, input, cache_read, cache_write,
      cache_write_long, output, reasoning, charged, duration_ms, first_byte_ms, attempt_ms, repeats, ip, notes)
    VALUES (${run}, ${label}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_ROW = insertRow('?', '?');
const INSERT_ROW_BY_NAMES = insertRow(RUN_NAMED, LABEL);

/** The values of a row. */
interface OfRow {
  readonly model: string | null;
  readonly attemptMs: number | null;
  readonly notes: string | null;
}

/** Counts with a column in `usage_detail`. */
const DETAIL_COUNTS = ['inputAudio', 'outputAudio', 'inputImage', 'outputImage', 'characters', 'seconds'] as const;

function rowStep(record: UsageRecord, departmentId: number, { numbers, names }: Reference, of: OfRow): Step {
  const { usage } = record;
  const [run, label] = numbers ?? names;
  return {
    sql: numbers === undefined ? INSERT_ROW_BY_NAMES : INSERT_ROW,
    params: [
      run,
      label,
      placeOf(record.id),
      record.accountId,
      departmentId,
      record.keyId,
      of.model,
      usage?.input ?? null,
      usage?.cacheRead ?? null,
      usage?.cacheWrite ?? null,
      usage?.cacheWriteLong ?? null,
      usage?.output ?? null,
      usage?.reasoning ?? null,
      record.charged,
      record.durationMs,
      record.firstByteMs ?? null,
      of.attemptMs,
      record.repeats ?? 0,
      record.ip,
      of.notes,
    ],
  };
}

/** Whether the usage has counts without a column in the row. */
function hasDetail(usage: Usage | undefined): usage is Usage {
  if (usage === undefined) return false;
  const { inputAudio, outputAudio, inputImage, outputImage, characters, seconds, images, uses, service } = usage;
  const counted = inputImage ?? outputImage ?? characters ?? seconds ?? images ?? uses;
  return inputAudio > 0 || outputAudio > 0 || counted !== undefined || unusualIn(service).length > 0;
}

const INSERT_DETAIL = `INSERT INTO usage_detail (run_id, place, at_ms, input_audio, output_audio, input_image, output_image, characters,
    seconds, images, image_size, image_quality, uses, service)
  VALUES (${RUN_NAMED}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

function detailStep({ id, atMs, usage }: UsageRecord, idMs: number): Step {
  const params: readonly Value[] = [
    runOf(id),
    placeOf(id),
    atMs === idMs ? null : atMs,
    ...DETAIL_COUNTS.map((name) => usage?.[name] ?? null),
    usage?.images?.count ?? null,
    usage?.images?.size ?? null,
    usage?.images?.quality ?? null,
    usesText(usage),
    unusualIn(usage?.service).length > 0 ? JSON.stringify(usage?.service) : null,
  ];
  return { sql: INSERT_DETAIL, params };
}

/** The uses of tools, without zeros. */
function usesText(usage: Usage | undefined): string | null {
  const run = Object.entries(usage?.uses ?? {}).filter(([, count]) => count > 0);
  return run.length === 0 ? null : JSON.stringify(Object.fromEntries(run));
}

/** What a record adds to sums. */
type Added = Pick<Addition, (typeof ADDED)[number]>;

function sumSteps(record: UsageRecord, departmentId: number, added: Added, closedMs: number): readonly Step[] {
  const { id, accountId, keyId, model, channel } = record;
  const kind = sumKindOf(record, kindOf(record));
  // Daily sums are of calls only.
  const day = kind === 'request' ? 0 : closedMs;
  const { lines, repeats, amount, included, input, output } = added;
  return additionSteps(
    { id, accountId, kind, keyId, model, channel, departmentId, lines, repeats, amount, included, input, output },
    day,
  );
}
