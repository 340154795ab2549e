/** Reads the usage records of a running gateway straight from its file. */
import Database from 'better-sqlite3';
import type { FailureKind, Outcome } from '../../core/contracts/call.ts';

/** One usage record, as far as tests ask. */
export interface UsageRow {
  /** The `x-request-id` of the answer. */
  readonly id: string;
  readonly model: string;
  readonly channel: string;
  readonly outcome: Outcome | 'recovered';
  readonly status: number;
  /** Tokens; null where nothing was used. */
  readonly input: number | null;
  readonly output: number | null;
  /** True where the vendor did not count and we did. */
  readonly estimated: boolean;
  /** Micro-quota. */
  readonly charged: bigint;
  readonly attempts: readonly {
    readonly channel: string;
    readonly status?: number;
    readonly failure?: FailureKind;
    readonly reason?: string;
  }[];
  /** What else was noted. */
  readonly other: Readonly<Record<string, unknown>>;
}

/** All usage records in this SQLite file, oldest first. */
export function usageRecords(file: string): readonly UsageRow[] {
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    const rows = db
      .prepare<[], { [column: string]: string | number | null }>(
        `SELECT id, model, channel, outcome, status, input, output, estimated, CAST(charged AS TEXT) AS charged, other
          FROM usage_record ORDER BY id`,
      )
      .all();
    return rows.map((row) => {
      const other = JSON.parse(String(row.other)) as UsageRow['other'];
      return {
        ...(row as unknown as UsageRow),
        estimated: row.estimated === 1,
        charged: BigInt(row.charged ?? 0),
        attempts: (other.attempts ?? []) as UsageRow['attempts'],
        other,
      };
    });
  } finally {
    db.close();
  }
}
