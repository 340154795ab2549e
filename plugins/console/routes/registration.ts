/** Registration: who may create an account; with an invitation or a verified email address if required. */
import { Accounts, type NewAccount } from '../../../core/contracts/accounts.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import { Invitations } from '../../../core/contracts/invitations.ts';
import { Tickets } from '../../../core/contracts/sessions.ts';
import { refuse, type Step } from '../../../core/plugin.ts';
import { inTheirWords } from '../envelope.ts';
import { errors } from '../errors.ts';
import { PERSON_ERRORS, PERSON_WORDS } from '../records/person.ts';
import { type ApiRoute, type Tools, tagged } from '../route.ts';
import { bodyOf, nothing } from '../schemas.ts';
import { emailProofOf } from './email.ts';

const route = tagged('Sign-in');

const registration = bodyOf(['username', 'password'], {
  username: { type: 'string', maxLength: 200 },
  password: { description: '8 to 256 characters.', type: 'string', maxLength: 1_024 },
  password2: { description: 'Repeats the password, or omitted.', type: 'string', maxLength: 1_024 },
  email: { description: 'Requires `verification_code`.', type: 'string', maxLength: 254 },
  verification_code: {
    description: 'The code that GET /api/verification sends.',
    type: 'string',
    maxLength: 64,
  },
  invite_code: { description: 'An invitation, if one is required.', type: 'string', maxLength: 64 },
  aff_code: { description: 'Same as invite_code.', type: 'string', maxLength: 64 },
});

export function registrationRoutes({ host, site, limiter, audited }: Tools): readonly ApiRoute[] {
  const accounts = host.use(Accounts);
  const tickets = host.use(Tickets);

  /** The steps that mark the invitation as used by the new account. */
  async function invited(code: string): Promise<(accountId: number) => readonly Step[]> {
    const use = await host.use(Invitations).use(code);
    return use ?? refuse(errors.invitation_wanted());
  }

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
    route('visitor', 'POST', '/api/user/register', {
      limit: 'sign-in',
      errors: [
        'registration_closed',
        'invitation_wanted',
        'email_wanted',
        'wrong_code',
        ...PERSON_ERRORS,
        'ticket_used',
      ],
      summary: 'Creates an account.',
      body: registration,
      answer: nothing,
      async handle({ body, ip }) {
        const { username, password, password2 = '', invite_code, aff_code, verification_code = '' } = body;
        if (password2 !== '' && password2 !== password) {
          throw coreErrors.invalid_request_error('password2 is not the same as password.').with({ param: 'password2' });
        }
        const email = body.email?.trim() ?? '';
        if (site.registration === 'closed') {
          throw errors.registration_closed('Registration is closed: only administrators create accounts.');
        }
        if (site.emailProof && email === '') {
          throw errors.email_wanted('A new account needs an email address.').with({ param: 'email' });
        }
        const invitation = site.registration === 'invite' ? await invited(invite_code ?? aff_code ?? '') : undefined;
        const proof = email === '' ? [] : await proven(email, verification_code);
        const made: NewAccount = { name: username, role: 'member', password, ...(email !== '' && { email }) };
        await inTheirWords(
          PERSON_WORDS,
          accounts.create(made, (id) => [
            ...(invitation?.(id) ?? []),
            ...proof,
            ...audited({ actor: { accountId: id, name: username, ip } }, 'user.register', `user ${id}`),
          ]),
        );
        return null;
      },
    }),
  ];
}
