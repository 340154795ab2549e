/** New accounts: who may make one, with an invitation or a proven e-mail address where that is asked for. */
import { Accounts, type NewAccount } from '../../../core/contracts/accounts.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import { Invitations } from '../../../core/contracts/invitations.ts';
import { Tickets } from '../../../core/contracts/sessions.ts';
import { refuse, type Step, schema } from '../../../core/plugin.ts';
import { inTheirWords } from '../envelope.ts';
import { errors } from '../errors.ts';
import { PERSON_WORDS } from '../records/person.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { nothing } from '../schemas.ts';
import { emailProofOf } from './email.ts';

interface Registration {
  readonly username: string;
  readonly password: string;
  readonly password2?: string;
  readonly email?: string;
  readonly verification_code?: string;
  readonly invite_code?: string;
  readonly aff_code?: string;
}

const registration = schema<Registration>({
  type: 'object',
  additionalProperties: false,
  required: ['username', 'password'],
  properties: {
    username: { type: 'string', maxLength: 200 },
    password: { description: '8 to 256 characters.', type: 'string', maxLength: 1_024 },
    password2: { description: 'The same once more, or left out.', type: 'string', maxLength: 1_024 },
    email: { description: 'Needs `verification_code`.', type: 'string', maxLength: 254 },
    verification_code: {
      description: 'Of the letter that GET /api/verification sends.',
      type: 'string',
      maxLength: 64,
    },
    invite_code: { description: 'An invitation, where one is wanted.', type: 'string', maxLength: 64 },
    aff_code: { description: 'The same as invite_code.', type: 'string', maxLength: 64 },
  },
});

/** The rows. */
export function registrationRoutes({ host, site, limiter, audited }: Tools): readonly ApiRoute[] {
  const accounts = host.use(Accounts);
  const tickets = host.use(Tickets);

  /** The steps that use the invitation up for an account. */
  async function invited(code: string): Promise<(accountId: number) => readonly Step[]> {
    const use = await host.use(Invitations).use(code);
    return use ?? refuse(errors.invitation_wanted());
  }

  /** The steps that use the proof up. */
  async function proven(email: string, code: string): Promise<readonly Step[]> {
    const secret = emailProofOf(email, code);
    await limiter.take('codes', `email-proof ${email.toLowerCase()}`);
    const ticket = await tickets.look('email-proof', secret);
    // One that somebody asked for who is signed in is for their account.
    if (ticket === undefined || ticket.accountId !== undefined) {
      throw coreErrors
        .wrong_code('This code is wrong or too old. Ask for another: GET /api/verification.')
        .with({ param: 'verification_code' });
    }
    return tickets.takeSteps('email-proof', secret);
  }

  return [
    route({
      method: 'POST',
      path: '/api/user/register',
      who: 'visitor',
      limit: 'sign-in',
      errors: [
        'registration_closed',
        'invitation_wanted',
        'email_wanted',
        'wrong_code',
        'invalid_name',
        'invalid_email',
        'invalid_password',
        'common_password',
        'name_taken',
        'email_taken',
        'ticket_used',
      ],
      summary: 'Makes an account.',
      tag: 'Sign-in',
      body: registration,
      answer: nothing,
      async handle({ body, ip }) {
        const { username, password, password2 = '', invite_code, aff_code, verification_code = '' } = body;
        if (password2 !== '' && password2 !== password) {
          throw coreErrors.invalid_request_error('password2 is not the same as password.').with({ param: 'password2' });
        }
        const email = body.email?.trim() ?? '';
        if (site.registration === 'closed') {
          throw errors.registration_closed('Accounts are made by the administrators of this gateway.');
        }
        if (site.emailProof && email === '') {
          throw errors.email_wanted('A new account needs an e-mail address.').with({ param: 'email' });
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
