/** Accounts that users create themselves, with an invitation or without. */

import { Accounts } from '../../../../core/contracts/accounts.ts';
import { Departments } from '../../../../core/contracts/departments.ts';
import { type Invitation, Invitations, type ValidInvitation } from '../../../../core/contracts/invitations.ts';
import { Subscriptions } from '../../../../core/contracts/subscriptions.ts';
import { outranks } from '../../access/guards.ts';
import type { Admission } from '../../access/invite.ts';
import { errors } from '../../errors.ts';
import type { Tools } from '../../tools.ts';

/** Decides who may create an account. */
export function createDoor({ host, site, need }: Pick<Tools, 'host' | 'site' | 'need'>) {
  const invitations = host.use(Invitations);
  const accounts = host.use(Accounts);

  /** Refuses (409) what the inviting administrator could not promise today. */
  async function checkPromise({ madeBy, preset }: Invitation): Promise<void> {
    const { role, departmentId, plan } = preset;
    const by = await accounts.find(madeBy);
    const isAllowed = by?.enabled === true && by.role !== 'member' && outranks(by.role, role);
    const isThere = departmentId === undefined || host.find(Departments)?.get(departmentId) !== undefined;
    const isSold = plan === undefined || host.find(Subscriptions)?.plan(plan) !== undefined;
    if (!isAllowed || !isThere || !isSold) throw errors.invitation_outdated();
  }

  async function personal(valid: ValidInvitation, invitation: Invitation): Promise<Admission> {
    await checkPromise(invitation);
    const { id, email, preset } = invitation;
    const { role, departmentId, balance, plan } = preset;
    return {
      email,
      account: { role, email, ...(balance !== undefined && { opening: balance }) },
      facts: { invitation: id },
      async steps(accountId) {
        const ref = `invitation:${id}`;
        return [
          ...valid.steps(accountId),
          ...(departmentId === undefined ? [] : need(Departments).placeSteps(accountId, departmentId)),
          ...(plan === undefined ? [] : await need(Subscriptions).grantSteps(accountId, plan, ref, ref)),
        ];
      },
      async created(accountId) {
        if (plan !== undefined) need(Subscriptions).changed(accountId);
        if (departmentId !== undefined) await need(Departments).changed();
      },
    };
  }

  return {
    /**
     * Whether a visitor with this code (empty: none) may create an account; undefined: without an invitation. An invitation with an address is
     * accepted whatever `console.registration` is. Refuses (403) otherwise; (409) an invitation that cannot be kept any more.
     */
    async admit(code: string): Promise<Admission | undefined> {
      const valid = code === '' ? undefined : await invitations.find(code);
      if (valid?.invitation?.email !== undefined) return personal(valid, valid.invitation);
      if (site.registration === 'open') return undefined;
      if (code !== '' && valid === undefined) throw errors.invitation_wanted();
      if (site.registration === 'closed') {
        throw errors.registration_closed('Registration is closed: only administrators create accounts.');
      }
      if (valid === undefined) throw errors.invitation_wanted();
      return {
        email: undefined,
        account: { role: 'member' },
        facts: {},
        steps: async (accountId) => valid.steps(accountId),
        created: async () => undefined,
      };
    },
  };
}
