/** Addresses of the sign-in pages, and the page that the user requested before signing in. */

/** Below `/console`. At every other address, signed-out users see the sign-in. */
export const SIGN_IN_ADDRESSES = ['/login', '/register', '/forgot', '/reset'] as const;

const KEPT = 'turnpike.asked';

/** True for a sign-in page. */
export function isSignInAddress(path: string): boolean {
  return (SIGN_IN_ADDRESSES as readonly string[]).includes(path);
}

/** Stores the requested page, because an OAuth sign-in or another sign-in page leaves it. */
export function storeRequestedPage(path: string, search: string): void {
  if (!isSignInAddress(path)) sessionStorage.setItem(KEPT, search === '' ? path : `${path}?${search}`);
}

/** Returns the stored page and removes it. */
export function takeRequestedPage(): string | undefined {
  const stored = sessionStorage.getItem(KEPT);
  sessionStorage.removeItem(KEPT);
  return stored?.startsWith('/') === true ? stored : undefined;
}
