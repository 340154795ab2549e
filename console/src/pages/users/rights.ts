/** Which accounts an administrator may change. The gateway enforces the rules; the page shows them in advance. */
import { isRoot, type Self } from '../../api/hooks.ts';
import type { UserDetail } from '../../api/operations.ts';
import type { useText } from './text.ts';

/** An account with its sign-in methods. */
export type User = UserDetail;
/** The roles by their numbers. */
const ADMIN = 10;
export const ROOT = 100;

/** Why the viewer may not change an account; undefined: they may. */
export function changeForbidden(
  self: Self | undefined,
  user: User,
  text: ReturnType<typeof useText>,
): string | undefined {
  if (user.DeletedAt !== null) return text.deletedAbout;
  return isRoot(self) || user.role < ADMIN ? undefined : text.onlyRoot;
}

/** Operations whose cached answers contain accounts. */
export const USER_CHANGES = [
  'GET /api/user/',
  'GET /api/user/search',
  'GET /api/user/{id}',
  'GET /api/user/{id}/sessions',
] as const;
