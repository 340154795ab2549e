/** Checks the invariants of all plugins. */
import type { OpenStore, Parts } from '../plugin.ts';

/** The result of one invariant. */
export interface Finding {
  readonly name: string;
  /** Violations; empty: it holds. */
  readonly faults: readonly string[];
}

/** All invariants, in one snapshot. */
export async function reconcile(
  players: readonly { readonly parts: Pick<Parts, 'invariants'> }[],
  store: OpenStore,
): Promise<readonly Finding[]> {
  return store.snapshot(async (reader) => {
    const findings: Finding[] = [];
    for (const { parts } of players) {
      for (const { name, check } of parts.invariants ?? []) findings.push({ name, faults: await check(reader) });
    }
    return findings;
  });
}

/** One line per invariant: `ok name`, or `FAILED name: the first fault (and n more)`. */
export function describeFindings(findings: readonly Finding[]): string {
  return findings
    .map(({ name, faults }) => {
      if (faults.length === 0) return `ok      ${name}\n`;
      const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
      return `FAILED  ${name}: ${faults[0]}${more}\n`;
    })
    .join('');
}
