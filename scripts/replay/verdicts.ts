/** The findings of all checks in one table. */
import { table } from '../../core/helpers/text-table.ts';
import { CLIENT_STYLES, type ClientStyle } from './client.ts';
import type { VendorStyle } from './folder.ts';

/**
 * `lives`: an answer arrives in time with the right status. `same`: the recorded bytes. `others`: the recorded meaning,
 * in another style. `requests`: recorded requests at other vendors. `wholes`: streams equal whole answers, however they
 * are split. `books`: the recorded usage and charge are right.
 */
export type Check = 'lives' | 'same' | 'others' | 'requests' | 'wholes' | 'books';
export const CHECKS: readonly Check[] = ['lives', 'same', 'others', 'requests', 'wholes', 'books'];

/** One finding. */
export interface Finding {
  /** `openai-chat:15e7cdd49a` */
  readonly what: string;
  readonly client: ClientStyle;
  readonly vendor: VendorStyle;
  readonly check: Check;
  /** `refused`: a clear error, which is acceptable. */
  readonly result: 'ok' | 'refused' | 'failed';
  /** Why it failed or was refused. */
  readonly detail: string;
}

const VENDOR_STYLES: readonly VendorStyle[] = ['chat', 'responses', 'messages', 'gemini'];

/** A line for each pair of client and vendor: `ok/refused/failed` for each check. */
export function tableOf(findings: readonly Finding[]): string {
  const rows = [['client', 'vendor', ...CHECKS]];
  for (const client of CLIENT_STYLES) {
    for (const vendor of VENDOR_STYLES) {
      const own = findings.filter((verdict) => verdict.client === client && verdict.vendor === vendor);
      if (own.length === 0) continue;
      rows.push([client, vendor, ...CHECKS.map((check) => countsOf(own.filter((verdict) => verdict.check === check)))]);
    }
  }
  return table(rows);
}

function countsOf(findings: readonly Finding[]): string {
  if (findings.length === 0) return '-';
  return (['ok', 'refused', 'failed'] as const)
    .map((result) => findings.filter((verdict) => verdict.result === result).length)
    .join('/');
}

/** `openai-chat:15e7cdd49a  messages  others  stop length became stop` */
export function lineOf({ what, client, vendor, check, detail }: Finding): string {
  return `${what}  ${client} from ${vendor}  ${check}  ${detail}`;
}

/** The number of findings by kind, most frequent first, ignoring numbers, ids and quotations. */
export function causesOf(findings: readonly Finding[]): readonly string[] {
  const counts = new Map<string, { count: number; example: string }>();
  for (const { client, vendor, check, detail, what } of findings) {
    // For an error its message is the cause; for a difference the quoted values are not.
    const isError = /^\d{3} |^refused/.test(detail);
    const kind = isError ? detail : detail.replaceAll(/"(?:[^"\\]|\\.)*"?…?/g, '"…"').replaceAll(/\d+/g, 'N');
    const cause = `${client} from ${vendor}  ${check}  ${kind}`;
    const entry = counts.get(cause);
    if (entry === undefined) counts.set(cause, { count: 1, example: what });
    else entry.count++;
  }
  return [...counts]
    .sort(([, one], [, other]) => other.count - one.count)
    .map(([cause, { count, example }]) => `${String(count).padStart(5)}  ${cause}  (${example})`);
}
