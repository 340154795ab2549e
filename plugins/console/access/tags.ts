/** The tags of /api, and the group of operations of each. */
import type { ScopeGroup } from '../../../core/contracts/identity.ts';

/** The tags of the routes, with their groups. Without a group, a service token is refused (403 `person_wanted`). */
export const GROUPS = {
  Keys: 'keys',
  Users: 'users',
  Departments: 'departments',
  Logs: 'usage',
  Usage: 'usage',
  Team: 'usage',
  Payments: 'payments',
  'Redemption codes': 'payments',
  Subscriptions: 'payments',
  'Top-up': 'payments',
  Models: 'models',
  Vendors: 'models',
  System: 'system',
  Alerts: 'system',
  Audit: 'audit',
  Configuration: 'config',
  Account: undefined,
  Passkeys: undefined,
  Playground: undefined,
  'Service tokens': undefined,
  Sessions: undefined,
  'Sign-in': undefined,
  Status: undefined,
  'Two-factor sign-in': undefined,
  Verification: undefined,
} as const satisfies Readonly<Record<string, ScopeGroup | undefined>>;

/** A group of routes in the OpenAPI document. */
export type Tag = keyof typeof GROUPS;
