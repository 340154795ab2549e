/** Filters and pages live in the address, so that a link shows what its sender saw. */
import { useMemo } from 'react';
import { useSearchParams } from 'wouter';

/** What the address says, by these names; what it does not say is as given here. Setting '' or the default removes a name. */
export function useAddress<const T extends Readonly<Record<string, string>>>(
  defaults: T,
): [{ readonly [K in keyof T]: string }, (change: Partial<Record<keyof T, string>>) => void] {
  const [search, setSearch] = useSearchParams();
  const key = search.toString();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the defaults are written down where this is called and stay
  const values = useMemo(
    () => Object.fromEntries(Object.entries(defaults).map(([name, usual]) => [name, search.get(name) ?? usual])),
    [key],
  ) as { readonly [K in keyof T]: string };
  const change = (asked: Partial<Record<keyof T, string>>): void =>
    setSearch(
      (before) => {
        const after = new URLSearchParams(before);
        for (const [name, value] of Object.entries(asked) as [string, string][]) {
          if (value === '' || value === defaults[name]) after.delete(name);
          else after.set(name, value);
        }
        return after;
      },
      { replace: true },
    );
  return [values, change];
}

/** The page of a list that an address says, from 1. */
export function pageOf(said: string): number {
  return /^[1-9]\d{0,8}$/.test(said) ? Number(said) : 1;
}
