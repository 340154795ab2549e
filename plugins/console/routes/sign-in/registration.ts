/** Registration: who may create an account; with an invitation or a verified email address if required. And the invitation that a link has. */

import { Accounts, type NewAccount } from '../../../../core/contracts/accounts.ts';
import { coreErrors } from '../../../../core/contracts/errors.ts';
import { Invitations } from '../../../../core/contracts/invitations.ts';
import { Tickets } from '../../../../core/contracts/sessions.ts';
import { refuse, type Step } from '../../../../core/plugin.ts';
import { roleNumber } from '../../access/guards.ts';
import { errors } from '../../errors.ts';
import { inTheirWords } from '../../format/envelope.ts';
import {
  bodyOf,
  captcha,
  nameRules,
  nothing,
  object,
  passwordRules,
  queryOf,
  text,
  unixSeconds,
  withRules,
} from '../../format/schemas.ts';
import { secondsOf } from '../../format/units.ts';
import { PERSON_ERRORS, PERSON_WORDS } from '../../records/people/person.ts';
import { type ApiRoute, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';
import { emailProofOf } from '../account/email.ts';
import { createDoor } from './accept-invitation.ts';

const route = tagged('Sign-in');

const registration = bodyOf(['username', 'password'], {
  username: { type: 'string', maxLength: 200 },
  password: { type: 'string', maxLength: 1_024 },
  password2: { description: 'Repeats the password, or omitted.', type: 'string', maxLength: 1_024 },
  email: {
    description:
      'Requires `verification_code`. Omitted with an invitation that has an address: the account gets that one.',
    type: 'string',
    maxLength: 254,
  },
  verification_code: {
    description: 'The code that GET /api/verification sends.',
    type: 'string',
    maxLength: 64,
  },
  invite_code: {
    description: 'An invitation: required for `registration: invite`; one with an address is always accepted.',
    type: 'string',
    maxLength: 64,
  },
  aff_code: { description: 'Same as invite_code.', type: 'string', maxLength: 64 },
});

export function registrationRoutes(tools: Tools): readonly ApiRoute[] {
  const { host, site, limiter, audited } = tools;
  const door = createDoor(tools);
  const accounts = host.use(Accounts);
  const tickets = host.use(Tickets);

  /** The steps that use up the verification code. */
  async function proven(email: string, code: string): Promise<readonly Step[]> {
    const secret = emailProofOf(email, code);
    await limiter.take('codes', `email-proof ${email.toLowerCase()}`);
    const ticket = await tickets.look('email-proof', secret);
    // A code that a signed-in user requested is for their own account.
    if (ticket === undefined || ticket.accountId !== undefined) {
      throw coreErrors
        .wrong_code('This code is incorrect or has expired. Request another one: GET /api/verification.')
        .with({ param: 'verification_code' });
    }
    return tickets.takeSteps('email-proof', secret);
  }

  return [
    route('visitor', 'GET', '/api/invitation', {
      errors: ['invitation_wanted'],
      summary: 'Returns an open invitation, for the page that its link opens.',
      search: queryOf({ code: { type: 'string', minLength: 1, maxLength: 64 } }, ['code']),
      answer: object({
        email: { ...text, description: 'The address of the invited user; empty: the invitation is for any visitor.' },
        role: { enum: [1, 10], description: '1 member, 10 administrator.' },
        invited_by: text,
        expires_at: { ...unixSeconds, description: 'Unix seconds; 0: unknown.' },
      }),
      async handle({ query }) {
        const valid = (await host.use(Invitations).find(query.code)) ?? refuse(errors.invitation_wanted());
        const { invitation } = valid;
        const by = invitation && (await accounts.find(invitation.madeBy));
        return {
          email: invitation?.email ?? '',
          role: roleNumber(invitation?.preset.role ?? 'member'),
          invited_by: by?.name ?? '',
          expires_at: secondsOf(invitation?.expiresMs),
        };
      },
    }),
    route('visitor', 'POST', '/api/user/register', {
      search: queryOf(captcha),
      limit: 'sign-in',
      errors: [
        'registration_closed',
        'invitation_wanted',
        'invitation_outdated',
        'email_wanted',
        'wrong_code',
        ...PERSON_ERRORS,
        'ticket_used',
      ],
      summary: 'Creates an account.',
      body: registration,
      request: withRules(registration, { username: nameRules, password: passwordRules }),
      answer: nothing,
      async handle({ body, ip }) {
        const { username, password, password2 = '', invite_code, aff_code, verification_code = '' } = body;
        if (password2 !== '' && password2 !== password) {
          throw coreErrors.invalid_request_error('password2 is not the same as password.').with({ param: 'password2' });
        }
        const email = body.email?.trim() ?? '';
        const admission = await door.admit(invite_code ?? aff_code ?? '');
        // An administrator chose the address of an invitation, and its email reached the user.
        const proof = email === '' || admission?.email !== undefined ? [] : await proven(email, verification_code);
        if (site.emailProof && email === '' && admission?.email === undefined) {
          throw errors.email_wanted('A new account needs an email address.').with({ param: 'email' });
        }
        const made: NewAccount = {
          ...{ name: username, role: 'member', password, ...(email !== '' && { email }) },
          ...admission?.account,
        };
        const { id } = await inTheirWords(
          PERSON_WORDS,
          accounts.create(made, async (id) => [
            ...((await admission?.steps(id)) ?? []),
            ...proof,
            ...audited(
              { actor: { accountId: id, name: username, ip } },
              'user.register',
              `user ${id}`,
              admission?.facts,
            ),
          ]),
        );
        await admission?.created(id);
        return null;
      },
    }),
  ];
}
