/** Filters, pages and what is open live in the address: a link shows what its sender saw, and Back undoes one step. */
import { useMemo } from 'react';
import { useSearchParams } from 'wouter';

/** Typed letter by letter: no step of its own. */
const TYPED: ReadonlySet<string> = new Set(['q', 'find', 'actor']);
/** What else such a change sets. */
const RESET = 'page';

/** Whether a change is a step that Back undoes. `replace`: it corrects the address, and was not opened by a person. */
export type Step = 'push' | 'replace';

let isGoingBack = false;

/**
 * What the address says, by these names; what it does not say is as given here. Setting '' or the default removes a name. A change
 * that leads to where the person came from is Back: a drawer that is opened and closed leaves no two entries behind. The third part
 * is the address of a change, for links.
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: the defaults are written down where this is called and stay
  const values = useMemo(
    () => Object.fromEntries(Object.entries(defaults).map(([name, usual]) => [name, search.get(name) ?? usual])),
    [key],
  ) as { readonly [K in keyof T]: string };
  const change = (asked: Partial<Record<keyof T, string>>, step: Step = 'push'): void => {
    // The address is the old one until the browser has gone back.
    if (isGoingBack) {
      window.addEventListener('popstate', () => change(asked, step), { once: true });
      return;
    }
    const before = new URLSearchParams(location.search);
    const after = changed(before, asked, defaults);
    const names = Object.keys(asked).filter((name) => before.get(name) !== after.get(name));
    if (names.length === 0) return;
    const { from } = (history.state ?? {}) as { readonly from?: string };
    const typed = names.filter((name) => name !== RESET);
    const isTyped = typed.length > 0 && typed.every((name) => TYPED.has(name));
    if (step === 'replace' || isTyped) setSearch(after, { replace: true, state: history.state });
    else if (from === after.toString()) goBack();
    else setSearch(after, { state: { from: before.toString() } });
  };
  const hrefOf = (asked: Partial<Record<keyof T, string>>): string =>
    `${location.pathname}?${changed(search, asked, defaults)}`;
  return [values, change, hrefOf];
}

function changed(
  before: URLSearchParams,
  asked: Readonly<Record<string, string | undefined>>,
  defaults: Readonly<Record<string, string>>,
): URLSearchParams {
  const after = new URLSearchParams(before);
  for (const [name, value = ''] of Object.entries(asked)) {
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

/** The page of a list that an address says, from 1. */
export function pageOf(said: string): number {
  return /^[1-9]\d{0,8}$/.test(said) ? Number(said) : 1;
}
