/** Invitations, for administrators: codes for any visitor, and emails to invited users. */

import { Departments } from '../../../../core/contracts/departments.ts';
import { type Invitation, Invitations } from '../../../../core/contracts/invitations.ts';
import { languageOf } from '../../access/emails.ts';
import { roleNumber } from '../../access/guards.ts';
import { MOST_ADDRESSES, MOST_DAYS, shownInvited } from '../../access/invite.ts';
import { errors } from '../../errors.ts';
import { pageAnswer, pageOf, pageSchema, pageSearch } from '../../format/paging.ts';
import {
  bodyOf,
  EMAIL_PATTERN,
  idNumber,
  integer,
  nothing,
  object,
  record,
  text,
  unixSeconds,
} from '../../format/schemas.ts';
import { shownAs } from '../../format/shown.ts';
import { DAY_MS, MOST_UNITS, microOf, secondsOf, unitsOf } from '../../format/units.ts';
import { createNames, type Names } from '../../records/people/names.ts';
import { roleOf } from '../../records/people/user.ts';
import { type ApiRoute, idOf, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Users');

const none = 'Unix seconds; 0: not.';
const days = { type: 'integer', minimum: 1, maximum: MOST_DAYS } as const;
const invitationSchema = record('Invitation', {
  id: integer,
  status: { enum: ['open', 'used', 'expired', 'revoked'] },
  made_by: integer,
  made_by_name: text,
  created_at: unixSeconds,
  expires_at: unixSeconds,
  email: { ...text, description: 'The address of the invited user; empty: a code for any visitor.' },
  role: { enum: [1, 10], description: 'The role of the new account: 1 member, 10 administrator.' },
  department_id: { ...integer, description: 'The department of the new account; 0: none.' },
  department_name: text,
  quota: { type: ['integer', 'null'], description: 'Its first balance, quota units; null: the welcome balance.' },
  plan: { ...text, description: 'The plan that it gets; empty: none.' },
  sent_at: { ...integer, description: 'When the mail server accepted the email. Unix seconds; 0: not.' },
  used_by: { ...integer, description: 'The account that was created with it; 0: none.' },
  used_by_name: text,
  used_at: { ...integer, description: none },
  revoked_at: { ...integer, description: none },
});

const invitedSchema = record('Invited', {
  email: text,
  outcome: {
    enum: ['email', 'link', 'exists'],
    description:
      '`email`: an email is on its way. `link`: no mail server is configured; pass `link` on yourself. `exists`: an account has this address, and nothing was done.',
  },
  id: { ...integer, description: 'The invitation; 0 if an account exists.' },
  link: { ...text, description: 'Returned once, and only if no mail server is configured.' },
  expires_at: { ...integer, description: 'Unix seconds; 0 if an account exists.' },
});

export function invitationRoutes({ host, site, inviter, need, audited }: Tools): readonly ApiRoute[] {
  return [
    route('admin', 'POST', '/api/user/invitations', {
      verified: true,
      errors: ['role_insufficient', 'department_not_found', 'invalid_email', 'invalid_request_error', 'not_available'],
      summary:
        'Invites email addresses: each gets a link for one new account. Replaces an open invitation for the same address.',
      body: bodyOf(['emails'], {
        emails: {
          type: 'array',
          minItems: 1,
          maxItems: MOST_ADDRESSES,
          items: { type: 'string', maxLength: 254, pattern: EMAIL_PATTERN },
        },
        role: { description: '1 member, 10 administrator; always below yours.', enum: [1, 10], default: 1 },
        department_id: { description: 'The department of the new accounts.', ...idNumber },
        quota: {
          description: 'Their first balance in quota units. Default: the welcome balance.',
          type: 'integer',
          minimum: 0,
          maximum: MOST_UNITS,
        },
        plan: { description: 'A plan that they get.', type: 'string', minLength: 1, maxLength: 64 },
        expires_days: { description: 'Default: `console.invitations.days` of gateway.yaml.', ...days },
      }),
      answer: { type: 'array', items: invitedSchema },
      async handle(request) {
        const { emails, role, department_id: departmentId, quota, plan, expires_days: validDays } = request.body;
        const invited = await inviter.invite({
          by: request.account,
          language: await languageOf(host, request),
          emails,
          preset: {
            role: roleOf(role) === 'admin' ? 'admin' : 'member',
            ...{ departmentId, balance: quota === undefined ? undefined : microOf(quota), plan },
          },
          forMs: validDays === undefined ? site.invitations.forMs : validDays * DAY_MS,
          noted: (id, facts) => audited(request, 'invitation.create', `invitation ${id}`, facts),
        });
        return invited.map(shownInvited);
      },
    }),
    route('admin', 'POST', '/api/user/invitations/:id/resend', {
      verified: true,
      errors: [
        'invitation_not_found',
        'role_insufficient',
        'department_not_found',
        'invalid_request_error',
        'not_available',
        'email_taken',
      ],
      summary: 'Sends an invitation again, with a new link and expiry; the old link becomes invalid.',
      answer: invitedSchema,
      async handle(request) {
        const id = idOf(request.params.id);
        const noted = audited(request, 'invitation.resend', `invitation ${id}`);
        return shownInvited(await inviter.resend(id, request.account, await languageOf(host, request), noted));
      },
    }),
    route('admin', 'POST', '/api/user/invitation', {
      verified: true,
      summary: 'Creates an invitation for one new account.',
      body: bodyOf([], {
        expires_days: { description: 'Default: `console.invitations.days` of gateway.yaml.', ...days },
      }),
      answer: object({
        id: integer,
        code: { description: 'Returned once.', type: 'string' },
        expires_at: unixSeconds,
      }),
      async handle(request) {
        const { expires_days: validDays } = request.body;
        const forMs = validDays === undefined ? site.invitations.forMs : validDays * DAY_MS;
        // It belongs to no account, so it stays valid if its creator's password changes.
        const { code, invitation } = await need(Invitations).issue({ madeBy: request.account.id, forMs }, (id) =>
          audited(request, 'invitation.create', `invitation ${id}`, { days: forMs / DAY_MS }),
        );
        return { id: invitation.id, code, expires_at: secondsOf(invitation.expiresMs) };
      },
    }),
    route('admin', 'GET', '/api/user/invitations', {
      summary: 'Lists the invitations of the last year, newest first, without their codes.',
      search: pageSearch({}),
      answer: pageSchema(invitationSchema),
      async handle({ query }) {
        const page = pageOf(query);
        const { total, items } = await need(Invitations).list({ offset: page.offset, limit: page.pageSize });
        const names = createNames(host);
        const nowMs = host.clock.now();
        return pageAnswer(page, total, await Promise.all(items.map((one) => shown(host, one, names, nowMs))));
      },
    }),
    route('admin', 'DELETE', '/api/user/invitations/:id', {
      errors: ['invitation_not_found'],
      summary: 'Revokes an unused invitation.',
      answer: nothing,
      async handle(request) {
        const id = idOf(request.params.id);
        if (!(await need(Invitations).revoke(id, audited(request, 'invitation.revoke', `invitation ${id}`)))) {
          throw errors.invitation_not_found();
        }
        return null;
      },
    }),
  ];
}

async function shown(host: Tools['host'], invitation: Invitation, names: Names, nowMs: number) {
  const { madeBy, preset, usedBy } = invitation;
  const { role, departmentId, balance } = preset;
  return shownAs(invitationSchema, {
    ...invitation,
    ...preset,
    status: statusOf(invitation, nowMs),
    role: roleNumber(role),
    madeByName: (await names.person(madeBy))?.name,
    departmentName: departmentId === undefined ? undefined : host.find(Departments)?.get(departmentId)?.name,
    quota: balance === undefined ? undefined : unitsOf(balance),
    usedByName: usedBy === undefined ? undefined : (await names.person(usedBy))?.name,
  });
}

function statusOf({ usedMs, revokedMs, expiresMs }: Invitation, nowMs: number): string {
  if (usedMs !== undefined) return 'used';
  if (revokedMs !== undefined) return 'revoked';
  return expiresMs > nowMs ? 'open' : 'expired';
}
