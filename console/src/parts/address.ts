/** State in the address (filters, pages, open items): a link shows what its sender saw, and Back undoes one step. */
import { useMemo } from 'react';
import { useSearchParams } from 'wouter';

/** Changed on every keystroke: replaces the history entry. */
const TYPED: ReadonlySet<string> = new Set(['q', 'find', 'actor']);
/** Other parameters that the change sets. */
const RESET = 'page';

/** Whether a change adds a history entry that Back undoes. `replace`: a correction that no user made. */
export type Step = 'push' | 'replace';

let isGoingBack = false;

/**
 * The parameters of the address with these names, or the given defaults. Setting '' or the default removes a parameter. A change
 * that leads to the previous address goes back, so a drawer that is opened and closed adds no history entries. The third element
 * returns the address of a change, for links.
 */
export function useAddress<const T extends Readonly<Record<string, string>>>(
  defaults: T,
): [
  { readonly [K in keyof T]: string },
  (change: Partial<Record<keyof T, string>>, step?: Step) => void,
  (change: Partial<Record<keyof T, string>>) => string,
] {
  const [search, setSearch] = useSearchParams();
  const key = search.toString();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the defaults are literals of the caller
  const values = useMemo(
    () => Object.fromEntries(Object.entries(defaults).map(([name, fallback]) => [name, search.get(name) ?? fallback])),
    [key],
  ) as { readonly [K in keyof T]: string };
  const change = (changes: Partial<Record<keyof T, string>>, step: Step = 'push'): void => {
    // The address stays the old one until the browser has gone back.
    if (isGoingBack) {
      window.addEventListener('popstate', () => change(changes, step), { once: true });
      return;
    }
    const before = new URLSearchParams(location.search);
    const after = changed(before, changes, defaults);
    const names = Object.keys(changes).filter((name) => before.get(name) !== after.get(name));
    if (names.length === 0) return;
    const { from } = (history.state ?? {}) as { readonly from?: string };
    const typed = names.filter((name) => name !== RESET);
    const isTyped = typed.length > 0 && typed.every((name) => TYPED.has(name));
    if (step === 'replace' || isTyped) setSearch(after, { replace: true, state: history.state });
    else if (from === after.toString()) goBack();
    else setSearch(after, { state: { from: before.toString() } });
  };
  const hrefOf = (changes: Partial<Record<keyof T, string>>): string =>
    `${location.pathname}?${changed(search, changes, defaults)}`;
  return [values, change, hrefOf];
}

function changed(
  before: URLSearchParams,
  changes: Readonly<Record<string, string | undefined>>,
  defaults: Readonly<Record<string, string>>,
): URLSearchParams {
  const after = new URLSearchParams(before);
  for (const [name, value = ''] of Object.entries(changes)) {
    if (value === '' || value === defaults[name]) after.delete(name);
    else after.set(name, value);
  }
  return after;
}

function goBack(): void {
  isGoingBack = true;
  window.addEventListener(
    'popstate',
    () => {
      isGoingBack = false;
    },
    { once: true },
  );
  history.back();
}

/** The page of a list in the address, from 1. */
export function pageOf(value: string): number {
  return /^[1-9]\d{0,8}$/.test(value) ? Number(value) : 1;
}
