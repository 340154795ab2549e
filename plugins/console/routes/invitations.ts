/** Invitations, for administrators. */
import { type Invitation, Invitations } from '../../../core/contracts/invitations.ts';
import { errors } from '../errors.ts';
import { pageAnswer, pageOf, pageSchema, pageSearch } from '../pages.ts';
import { createNames, type Names } from '../records/names.ts';
import { type ApiRoute, idOf, type Tools, tagged } from '../route.ts';
import { bodyOf, integer, nothing, object, record, text, unixSeconds } from '../schemas.ts';
import { DAY_MS, secondsOf } from '../units.ts';

const route = tagged('Users');

const none = 'Unix seconds; 0: not.';
const invitationSchema = record('Invitation', {
  id: integer,
  status: { enum: ['open', 'used', 'expired', 'revoked'] },
  made_by: integer,
  made_by_name: text,
  created_at: unixSeconds,
  expires_at: unixSeconds,
  used_by: { ...integer, description: 'The account that was created with it; 0: none.' },
  used_by_name: text,
  used_at: { ...integer, description: none },
  revoked_at: { ...integer, description: none },
});

export function invitationRoutes({ host, need, audited }: Tools): readonly ApiRoute[] {
  return [
    route('admin', 'POST', '/api/user/invitation', {
      verified: true,
      summary: 'Creates an invitation for one new account.',
      body: bodyOf([], {
        expires_days: { type: 'integer', minimum: 1, maximum: 365, default: 7 },
      }),
      answer: object({
        id: integer,
        code: { description: 'Returned once.', type: 'string' },
        expires_at: unixSeconds,
      }),
      async handle(request) {
        const { expires_days: days } = request.body;
        // It belongs to no account, so it stays valid if its creator's password changes.
        const { code, invitation } = await need(Invitations).issue(request.account.id, days * DAY_MS, (id) =>
          audited(request, 'invitation.create', `invitation ${id}`, { days }),
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
        return pageAnswer(page, total, await Promise.all(items.map((one) => shown(one, names, nowMs))));
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

async function shown(invitation: Invitation, names: Names, nowMs: number) {
  const { id, madeBy, createdMs, expiresMs, usedBy, usedMs, revokedMs } = invitation;
  return {
    id,
    status: statusOf(invitation, nowMs),
    made_by: madeBy,
    made_by_name: (await names.person(madeBy))?.name ?? '',
    created_at: secondsOf(createdMs),
    expires_at: secondsOf(expiresMs),
    used_by: usedBy ?? 0,
    used_by_name: usedBy === undefined ? '' : ((await names.person(usedBy))?.name ?? ''),
    used_at: secondsOf(usedMs),
    revoked_at: secondsOf(revokedMs),
  };
}

function statusOf({ usedMs, revokedMs, expiresMs }: Invitation, nowMs: number): string {
  if (usedMs !== undefined) return 'used';
  if (revokedMs !== undefined) return 'revoked';
  return expiresMs > nowMs ? 'open' : 'expired';
}
