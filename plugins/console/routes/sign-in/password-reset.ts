/** Password reset: sends an email with a link, and sets the new password. */

import { Accounts } from '../../../../core/contracts/accounts.ts';
import { Mail, mailLanguage } from '../../../../core/contracts/mail.ts';
import { Tickets } from '../../../../core/contracts/sessions.ts';
import { GatewayError } from '../../../../core/plugin.ts';
import { randomBase62 } from '../../../../core/sdk.ts';
import { EMAILS } from '../../access/emails.ts';
import { errors } from '../../errors.ts';
import { inTheirWords } from '../../format/envelope.ts';
import { bodyOf, captcha, nothing, passwordRules, queryOf, withRules } from '../../format/schemas.ts';
import { PERSON_WORDS } from '../../records/people/person.ts';
import { type ApiRoute, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Sign-in');

const GOOD_FOR_MS = 15 * 60_000;
const GENERATED_LENGTH = 20;

const omitted = 'Omitted: a random one is created and returned.';
const resetBody = bodyOf(['email', 'token'], {
  email: {
    description: 'The email address of the user; if the account has none, the user name.',
    type: 'string',
    maxLength: 254,
  },
  token: { type: 'string', minLength: 1, maxLength: 64 },
  password: { type: 'string', maxLength: 1_024 },
});

export function passwordResetRoutes({ host, site, limiter, need, audited }: Tools): readonly ApiRoute[] {
  const accounts = host.use(Accounts);
  const tickets = host.use(Tickets);

  async function sendLink(mail: Mail, email: string, accepted?: string): Promise<void> {
    const account = await accounts.findByEmail(email);
    const person = account?.enabled === true ? await accounts.person(account.id) : undefined;
    if (person?.email === undefined) return;
    const token = await tickets.issue('password-reset', { accountId: person.id, forMs: GOOD_FOR_MS });
    // The link does not depend on the request, whose host a client may choose. Its parameter is called `code`, because the log, to which
    // emails are written without a mail server, masks tokens.
    const link = `${site.root}/console/reset?email=${encodeURIComponent(person.email)}&code=${token}`;
    await mail.send({
      to: person.email,
      ...EMAILS[mailLanguage(person.settings, accepted)].passwordReset(site, { account: person.name, link }),
    });
  }

  return [
    route('visitor', 'GET', '/api/reset_password', {
      changes: true,
      limit: 'mail',
      summary: 'Sends an email with a link to reset the password, if an account has this address.',
      search: queryOf({ email: { type: 'string', maxLength: 254 }, ...captcha }, ['email']),
      answer: nothing,
      async handle({ query, headers }) {
        const mail = need(Mail);
        const email = query.email.trim();
        await limiter.take('mail', `reset ${email.toLowerCase()}`);
        // Runs in the background, because its duration would reveal whether an account has the address.
        void sendLink(mail, email, headers['accept-language']).catch((error: unknown) =>
          host.log.warn('could not send a password reset email', { error }),
        );
        return null;
      },
    }),
    route('visitor', 'POST', '/api/user/reset', {
      limit: 'sign-in',
      errors: ['reset_refused', 'invalid_password', 'common_password'],
      summary: 'Sets a new password with the link in the email. Ends all sessions; does not sign in.',
      body: resetBody,
      request: withRules(resetBody, {
        password: { ...passwordRules, description: `${passwordRules.description} ${omitted}` },
      }),
      answer: { description: 'The created password; null if the request had one.', type: ['string', 'null'] },
      async handle({ body, ip }) {
        const ticket = await tickets.look('password-reset', body.token);
        const named = [await accounts.findByEmail(body.email), await accounts.findByName(body.email)];
        const account = named.find((each) => each?.id === ticket?.accountId);
        if (ticket?.accountId === undefined || account?.enabled !== true) throw errors.reset_refused();
        const password = body.password ?? randomBase62(GENERATED_LENGTH);
        const actor = { accountId: account.id, name: account.name, ip };
        const set = accounts.setPassword(account.id, password, [
          ...tickets.takeSteps('password-reset', body.token),
          ...audited({ actor }, 'user.password-reset', `user ${account.id}`),
        ]);
        await inTheirWords(PERSON_WORDS, set).catch((error: unknown) => {
          // Another request has used it: the answer is the same as a moment later.
          throw error instanceof GatewayError && error.code === 'ticket_used' ? errors.reset_refused() : error;
        });
        return body.password === undefined ? password : null;
      },
    }),
  ];
}
