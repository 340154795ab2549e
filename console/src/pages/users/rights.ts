/** Whom an administrator may change; the gateway sees to it, the page says it before. */
import type { UserDetail } from '../../api/operations.ts';
import { isRoot, type Self } from '../../shell/self.ts';
import type { TEXT } from './text.ts';

/** An account, with how it can sign in. */
export type User = UserDetail;
/** The roles by their numbers. */
const ADMIN = 10;
export const ROOT = 100;

/** Why somebody may not change an account at all; undefined: they may. */
export function whyNot(self: Self | undefined, user: User, text: (typeof TEXT)['en']): string | undefined {
  if (user.DeletedAt !== null) return text.deletedAbout;
  return isRoot(self) || user.role < ADMIN ? undefined : text.onlyRoot;
}

/** Operations whose answers tell of an account. */
export const USER_CHANGES = [
  'GET /api/user/',
  'GET /api/user/search',
  'GET /api/user/{id}',
  'GET /api/user/{id}/sessions',
] as const;
