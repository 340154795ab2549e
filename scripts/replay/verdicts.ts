/** What a check found, and all findings in one table. */
import { table } from '../../core/table.ts';
import { CLIENT_STYLES, type ClientStyle } from './client.ts';
import type { VendorStyle } from './folder.ts';

/**
 * `lives`: an answer comes, in time and of the right status. `same`: the recorded bytes. `others`: the recorded meaning, in
 * another style. `requests`: recorded requests at other vendors. `wholes`: streams are what whole answers are, however they
 * are cut. `books`: what was written down is what was used.
 */
export type Check = 'lives' | 'same' | 'others' | 'requests' | 'wholes' | 'books';
export const CHECKS: readonly Check[] = ['lives', 'same', 'others', 'requests', 'wholes', 'books'];

/** One finding. */
export interface Verdict {
  /** `openai-chat:15e7cdd49a` */
  readonly what: string;
  readonly client: ClientStyle;
  readonly vendor: VendorStyle;
  readonly check: Check;
  /** `refused`: an error that says what is wrong, where that is as good as an answer. */
  readonly result: 'ok' | 'refused' | 'failed';
  /** Why it failed, or what was refused. */
  readonly detail: string;
}

const VENDOR_STYLES: readonly VendorStyle[] = ['chat', 'responses', 'messages', 'gemini'];

/** A line for each pair of client and vendor: `ok/refused/failed` for each check. */
export function tableOf(verdicts: readonly Verdict[]): string {
  const rows = [['client', 'vendor', ...CHECKS]];
  for (const client of CLIENT_STYLES) {
    for (const vendor of VENDOR_STYLES) {
      const own = verdicts.filter((verdict) => verdict.client === client && verdict.vendor === vendor);
      if (own.length === 0) continue;
      rows.push([client, vendor, ...CHECKS.map((check) => countsOf(own.filter((verdict) => verdict.check === check)))]);
    }
  }
  return table(rows);
}

function countsOf(verdicts: readonly Verdict[]): string {
  if (verdicts.length === 0) return '-';
  return (['ok', 'refused', 'failed'] as const)
    .map((result) => verdicts.filter((verdict) => verdict.result === result).length)
    .join('/');
}

/** `openai-chat:15e7cdd49a  messages  others  stop length became stop` */
export function lineOf({ what, client, vendor, check, detail }: Verdict): string {
  return `${what}  ${client} from ${vendor}  ${check}  ${detail}`;
}

/** How often each kind of finding was met, most first: numbers, ids and quotations aside. */
export function causesOf(verdicts: readonly Verdict[]): readonly string[] {
  const counts = new Map<string, { count: number; example: string }>();
  for (const { client, vendor, check, detail, what } of verdicts) {
    // What an error says is its cause; what a difference quotes is its circumstance.
    const isError = /^\d{3} |^refused/.test(detail);
    const kind = isError ? detail : detail.replaceAll(/"(?:[^"\\]|\\.)*"?…?/g, '"…"').replaceAll(/\d+/g, 'N');
    const cause = `${client} from ${vendor}  ${check}  ${kind}`;
    const known = counts.get(cause);
    if (known === undefined) counts.set(cause, { count: 1, example: what });
    else known.count++;
  }
  return [...counts]
    .sort(([, one], [, other]) => other.count - one.count)
    .map(([cause, { count, example }]) => `${String(count).padStart(5)}  ${cause}  (${example})`);
}
