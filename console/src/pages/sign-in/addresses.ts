/** The addresses of the pages for whoever is not signed in, and where somebody was going before they came to one. */

/** Below `/console`. Everywhere else strangers find the sign-in itself, and what they asked for behind it. */
export const SIGN_IN_ADDRESSES = ['/login', '/register', '/forgot', '/reset'] as const;

const KEPT = 'turnpike.asked';

/** True of those. */
export function isSignInAddress(path: string): boolean {
  return (SIGN_IN_ADDRESSES as readonly string[]).includes(path);
}

/** Keeps what was asked for: a sign-in elsewhere, or another page of these, leads away from it. */
export function keepAsked(path: string, search: string): void {
  if (!isSignInAddress(path)) sessionStorage.setItem(KEPT, search === '' ? path : `${path}?${search}`);
}

/** What was kept, once. */
export function takeAsked(): string | undefined {
  const kept = sessionStorage.getItem(KEPT);
  sessionStorage.removeItem(KEPT);
  return kept?.startsWith('/') === true ? kept : undefined;
}
