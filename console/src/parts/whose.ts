/** Whose calls an administrator looks at: everybody's, or their own. The choice is kept by the browser. */
import { useEffect } from 'react';
import { useSearch } from 'wouter';
import type { Step } from './address.ts';

const KEPT = 'turnpike.whose';

/** Keeps what was chosen, for the next page that is opened without saying whose calls it shows. */
export function keepWhose(everybody: boolean): void {
  localStorage.setItem(KEPT, everybody ? 'all' : 'mine');
}

/**
 * Whether an address shows everybody's calls: one that says so, and for administrators one that says nothing at all, unless they
 * looked at their own last. `whose`: what the address says.
 */
export function useWhose(
  admin: boolean,
  whose: string,
  change: (change: { readonly whose: string }, step: Step) => void,
): boolean {
  const usual = useSearch() === '' && localStorage.getItem(KEPT) !== 'mine';
  const everybody = admin && (whose === 'all' || usual);
  // From here on the address says it, whatever else is added to it.
  useEffect(() => {
    if (admin && usual) change({ whose: 'all' }, 'replace');
  });
  return everybody;
}
