/** `drive` with accounts, second factors and the audit: people with sessions, and authenticators for them. */

import { generateSync } from 'otplib';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Audit } from '../../../core/contracts/audit.ts';
import type { Account, Session } from '../../../core/contracts/identity.ts';
import { SecondFactors } from '../../../core/contracts/second-factors.ts';
import { Sessions } from '../../../core/contracts/sessions.ts';
import { Site } from '../../../core/contracts/site.ts';
import accounts from '../../../plugins/accounts/index.ts';
import audit from '../../../plugins/audit/index.ts';
import secondFactors from '../../../plugins/second-factors/index.ts';
import { type Driven, drive } from '../../kit/gateway/drive.ts';

/** What the console would say of itself. */
export const SITE: Site = {
  origin: 'https://console.example',
  root: 'https://console.example',
  secure: true,
  name: 'Toll Road',
  session: { idleMs: 86_400_000, longestMs: 30 * 86_400_000 },
  invitations: { forMs: 604_800_000 },
  accessToken: { longestMs: 90 * 86_400_000 },
  registration: 'closed',
  emailProof: false,
  local: false,
  passkeys: {
    possible: true,
    rpId: 'console.example',
    origins: ['https://console.example'],
  },
  oauth: {},
};

/** A host, and what tests of second factors ask it for. */
export interface FactorsHost extends Driven {
  readonly factors: SecondFactors;
  /** An account of that name; it has no password, which takes long to hash. */
  person(name: string): Promise<Account>;
  /** Signs somebody in. */
  session(account: Account): Promise<{ readonly secret: string; readonly session: Session }>;
  /** What an authenticator shows now, or so many steps from now. */
  code(secret: string, steps?: number): string;
  /** The actions in the audit log, oldest first. */
  actions(): Promise<readonly string[]>;
}

/** Makes one. */
export async function factorsHost(): Promise<FactorsHost> {
  const host = await drive([accounts, secondFactors, audit], { services: () => [[Site, SITE]] });
  return {
    ...host,
    store: host.store,
    factors: host.use(SecondFactors),
    person: (name) => host.use(Accounts).create({ name, role: 'member' }),
    session: (account) =>
      host.use(Sessions).open({ accountId: account.id, method: 'password', ip: '192.0.2.1', userAgent: 'a test' }),
    code: (secret, steps = 0) => generateSync({ secret, epoch: Math.floor(host.clock.now() / 1_000) + steps * 30 }),
    actions: async () => (await host.use(Audit).page({ limit: 100 })).map(({ action }) => action).reverse(),
  };
}
