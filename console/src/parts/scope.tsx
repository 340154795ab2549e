/** The scope of an administrator: all users' calls, or their own. The browser stores the choice, for pages whose address has no scope. */
import { SegmentedControl } from '@mantine/core';
import { useEffect } from 'react';
import { useSearch } from 'wouter';
import { texts } from '../text.ts';
import type { Step } from './address.ts';

const KEPT = 'turnpike.whose';

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

const useText = texts({ mine: ['Mine', '我的'], all: ['All users', '所有用户'] });

/** Selects the scope, which the browser keeps. `mine`: the value of the address for the viewer's own calls. */
export function ScopeSelect({
  label,
  mine,
  allUsers,
  onChange,
}: {
  readonly label: string;
  readonly mine: string;
  readonly allUsers: boolean;
  onChange(scope: string): void;
}) {
  const text = useText();
  return (
    <SegmentedControl
      size="xs"
      aria-label={label}
      data={[
        { value: mine, label: text.mine },
        { value: 'all', label: text.all },
      ]}
      value={allUsers ? 'all' : mine}
      onChange={(scope) => {
        localStorage.setItem(KEPT, scope === 'all' ? 'all' : 'mine');
        onChange(scope);
      }}
    />
  );
}
