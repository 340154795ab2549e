/** The scope of an administrator: all users' calls, or their own. The browser stores the choice. */
import { useEffect } from 'react';
import { useSearch } from 'wouter';
import type { Step } from './address.ts';

const KEPT = 'turnpike.whose';

/** Stores the choice, for pages whose address has no scope. */
export function storeScope(allUsers: boolean): void {
  localStorage.setItem(KEPT, allUsers ? 'all' : 'mine');
}

/**
 * Whether an address shows all users' calls: if the address requests it, or, for administrators, if it has no choice
 * and they did not choose their own calls last. `scope`: the parameter of the address.
 */
export function useScope(
  admin: boolean,
  scope: string,
  change: (change: { readonly whose: string }, step: Step) => void,
): boolean {
  const isDefault = useSearch() === '' && localStorage.getItem(KEPT) !== 'mine';
  const allUsers = admin && (scope === 'all' || isDefault);
  // The address names the scope from here on.
  useEffect(() => {
    if (admin && isDefault) change({ whose: 'all' }, 'replace');
  });
  return allUsers;
}
