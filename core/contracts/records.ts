/** Usage records: one row per exchange. Provided by the plugin `log`. */
import type { Step } from '../plugin.ts';
import { service } from '../plugin.ts';
import type { Json, Outcome, Usage } from './call.ts';

/** One exchange as it stands in the books. */
export interface UsageRecord {
  /** The exchange's id; the `x-request-id` the client saw. */
  readonly id: string;
  readonly atMs: number;
  readonly accountId: number;
  readonly keyId: number;
  readonly style: string;
  readonly model: string;
  readonly channel: string;
  readonly stream: boolean;
  readonly outcome: Outcome | 'recovered';
  readonly status: number;
  readonly usage: Usage | undefined;
  /** Micro-quota taken. */
  readonly charged: bigint;
  readonly durationMs: number;
  readonly firstByteMs: number | undefined;
  readonly ip: string;
  /** Attempts, notes, the client's own request id. */
  readonly other: { readonly [member: string]: Json };
}

/** Writes them. */
export interface Records {
  /** The steps that write one record, for a list that must write it together with something else. */
  steps(record: UsageRecord): readonly Step[];
}
/** The service of that name. */
export const Records = service<Records>('records');
