/** Invitations by email: sending them, and what the account that accepts one gets. */

import { Accounts, type NewAccount } from '../../../core/contracts/accounts.ts';
import { Departments } from '../../../core/contracts/departments.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import type { Account } from '../../../core/contracts/identity.ts';
import {
  type Invitation,
  type InvitationPreset,
  Invitations,
  type IssuedInvitation,
} from '../../../core/contracts/invitations.ts';
import { Ledger } from '../../../core/contracts/ledger.ts';
import { type Letter, Mail, type MailLanguage } from '../../../core/contracts/mail.ts';
import type { Site } from '../../../core/contracts/site.ts';
import { Subscriptions } from '../../../core/contracts/subscriptions.ts';
import type { Host, JsonObject, Step } from '../../../core/plugin.ts';
import { errors } from '../errors.ts';
import { exactUnits, secondsOf } from '../format/units.ts';
import { EMAILS } from './emails.ts';
import { outranks } from './guards.ts';

/** The most addresses at a time, and the longest lifetime of an invitation in days. */
export const MOST_ADDRESSES = 100;
export const MOST_DAYS = 365;

/** What happened to one address. */
export interface Invited {
  readonly email: string;
  /** `email`: an email is on its way. `link`: no mail server is configured, so `link` must be passed on. `exists`: an account has the address. */
  readonly outcome: 'email' | 'link' | 'exists';
  /** Undefined if it exists. */
  readonly invitation: Invitation | undefined;
  /** Empty unless the outcome is `link`. */
  readonly link: string;
  /** Resolves when the mail server has accepted the email, or has not: false. */
  readonly sent: Promise<boolean>;
}

/** What several addresses are invited to. */
export interface Inviting {
  /** The administrator; at the machine, root. */
  readonly by: Pick<Account, 'id' | 'name' | 'role'>;
  /** That of the administrator: nothing is known about the invited users. */
  readonly language: MailLanguage;
  readonly emails: readonly string[];
  readonly preset: InvitationPreset;
  readonly forMs: number;
  /** The audit entry of one invitation. */
  noted(id: number, facts: JsonObject): readonly Step[];
}

/** Invites addresses. */
export function createInviter(host: Host, site: Site) {
  const invitations = host.use(Invitations);
  const accounts = host.use(Accounts);

  function check(role: Account['role'], preset: InvitationPreset): void {
    if (!outranks(role, preset.role)) throw errors.role_insufficient('Only root can invite administrators.');
    const { departmentId, plan } = preset;
    if (departmentId !== undefined && host.find(Departments)?.get(departmentId) === undefined) {
      throw coreErrors.department_not_found(departmentId).with({ param: 'department_id' });
    }
    if (plan !== undefined && host.find(Subscriptions)?.plan(plan) === undefined) {
      throw coreErrors.invalid_request_error(`There is no plan "${plan}".`).with({ param: 'plan' });
    }
    if (preset.balance !== undefined && host.find(Ledger) === undefined) {
      throw coreErrors.not_available('This gateway keeps no balances: the plugin quota is not in the pipeline.');
    }
  }

  function deliver(
    email: string,
    { code, invitation }: IssuedInvitation,
    { name }: Inviting['by'],
    language: MailLanguage,
  ): Invited {
    // The link does not depend on the request, whose host a client may choose.
    const link = `${site.root}/console/register?invite=${code}`;
    const mail = host.find(Mail);
    if (mail?.delivers !== true) {
      return { email, outcome: 'link', invitation, link, sent: Promise.resolve(false) };
    }
    const { id, expiresMs } = invitation;
    const letter = { to: email, ...EMAILS[language].invitation(site, { from: name, link, expiresMs }) };
    return { email, outcome: 'email', invitation, link: '', sent: send(mail, letter, code, id) };
  }

  async function send(mail: Mail, letter: Letter, code: string, id: number): Promise<boolean> {
    try {
      await mail.send({ ...letter, isQuiet: true });
      await invitations.sent(code);
      return true;
    } catch (error) {
      // The list shows that it was not sent.
      host.log.warn('the email of an invitation was not sent', { invitation: id, error });
      return false;
    }
  }

  return {
    /** Refuses, before anything is sent, a role that is not below that of the administrator (403), and (400, 404) an unknown plan or department. */
    async invite({ by, language, emails, preset, forMs, noted }: Inviting): Promise<readonly Invited[]> {
      check(by.role, preset);
      const invited: Invited[] = [];
      for (const email of new Map(emails.map((each) => [each.toLowerCase(), each])).values()) {
        if ((await accounts.findByEmail(email)) !== undefined) {
          invited.push({ email, outcome: 'exists', invitation: undefined, link: '', sent: Promise.resolve(false) });
          continue;
        }
        const issued = await invitations.issue({ madeBy: by.id, forMs, email, preset }, (id) =>
          noted(id, { email, ...factsOf(preset) }),
        );
        invited.push(deliver(email, issued, by, language));
      }
      return invited;
    },

    /** Sends an invitation again, with a new link; the old one becomes invalid. Refuses (404) one that is used, revoked, or without an address. */
    async resend(id: number, by: Inviting['by'], language: MailLanguage, noted: readonly Step[]): Promise<Invited> {
      const invitation = await invitations.get(id);
      if (invitation?.email === undefined || (invitation.usedMs ?? invitation.revokedMs) !== undefined) {
        throw errors.invitation_not_found();
      }
      check(by.role, invitation.preset);
      if ((await accounts.findByEmail(invitation.email)) !== undefined) throw coreErrors.email_taken();
      const issued = await invitations.renew(id, { madeBy: by.id, forMs: site.invitations.forMs }, noted);
      if (issued === undefined) throw errors.invitation_not_found();
      return deliver(invitation.email, issued, by, language);
    },
  };
}

export type Inviter = ReturnType<typeof createInviter>;

function factsOf({ role, departmentId, balance, plan }: InvitationPreset): JsonObject {
  return {
    role,
    ...(departmentId !== undefined && { department: departmentId }),
    ...(balance !== undefined && { quota: exactUnits(balance) }),
    ...(plan !== undefined && { plan }),
  };
}

/** What a code allows: an account with these fields, which is created in one list with these steps. */
export interface Admission {
  /** The address of the invited user; undefined: the code is for any visitor. */
  readonly email: string | undefined;
  readonly account: Pick<NewAccount, 'role' | 'email' | 'opening'>;
  /** For the audit log. */
  readonly facts: JsonObject;
  steps(accountId: number): Promise<readonly Step[]>;
  /** Call it after the account was created. */
  created(accountId: number): Promise<void>;
}

/** What became of an address, as `/api` and the command line show it. */
export const shownInvited = ({ email, outcome, invitation, link }: Invited) => ({
  ...{ email, outcome, id: invitation?.id ?? 0, link },
  expires_at: secondsOf(invitation?.expiresMs),
});
