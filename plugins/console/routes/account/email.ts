/** Email addresses: verifies them and sets the account's address. */

import { randomInt } from 'node:crypto';
import { Accounts } from '../../../../core/contracts/accounts.ts';
import { coreErrors } from '../../../../core/contracts/errors.ts';
import { type Letter, Mail, mailLanguage } from '../../../../core/contracts/mail.ts';
import { Tickets } from '../../../../core/contracts/sessions.ts';
import { schema } from '../../../../core/plugin.ts';
import { EMAILS, languageOf } from '../../access/emails.ts';
import { personWith } from '../../access/subordinate.ts';
import { errors } from '../../errors.ts';
import { captcha, EMAIL_PATTERN, type Members, nothing, object, queryOf, text } from '../../format/schemas.ts';
import { differences } from '../../records/people/person.ts';
import { type ApiRoute, type ConsoleRequest, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Account');

const CODE_MS = 600_000;
const CODE_DIGITS = 8;

const address = { type: 'string', maxLength: 254, pattern: EMAIL_PATTERN } as const;

/** No member is required by the schema of a query, so that the error names the missing one. */
const proof = object({
  email: address,
  code: { ...text, description: 'The code in the email.', maxLength: 64 },
});

type Proof = Members<typeof proof.properties, 'email' | 'code'>;

/** The secret of a code's ticket: the address, in lower case, and the code. */
export function emailProofOf(email: string, code: string): string {
  return `${email.toLowerCase()}:${code.trim()}`;
}

export function emailRoutes({ host, site, limiter, need, audited }: Tools): readonly ApiRoute[] {
  const accounts = host.use(Accounts);
  const tickets = host.use(Tickets);

  /** Runs in the background: neither its duration nor its result reveals whether an account has the address. */
  function post(letter: Letter): void {
    need(Mail)
      .send(letter)
      .catch(() => {});
  }

  async function bind(request: ConsoleRequest, { email, code }: Proof): Promise<null> {
    const { account } = request;
    await limiter.take('codes', `email ${account.id}`);
    const ticket = await tickets.take('email-proof', emailProofOf(email, code));
    // A code that another account requested must not link the address to this one.
    if (ticket === undefined || ticket.accountId !== account.id)
      throw coreErrors.wrong_code('This code is incorrect, was used, or is older than ten minutes.');
    const before = await personWith(host, account.id);
    const facts = differences(before, { email });
    await accounts.change(account.id, { email }, audited(request, 'user.change', `user ${account.id}`, facts));
    if (before.email !== undefined && before.email.toLowerCase() !== email.toLowerCase()) {
      post({
        to: before.email,
        ...EMAILS[mailLanguage(before.settings, request.headers['accept-language'])].addressChanged(site, account.name),
      });
    }
    return null;
  }

  const binding = {
    errors: ['email_taken', 'wrong_code'],
    sessionOnly: true,
    // The email address can be used to reset the password.
    verified: 'or-recent',
    answer: nothing,
  } as const;

  return [
    route('visitor', 'GET', '/api/verification', {
      // The code is for the signed-in user; the receiver of the email is an address that anyone may have typed.
      changes: true,
      limit: 'mail',
      summary: 'Sends a code that verifies an email address, for registration or for the signed-in user.',
      search: queryOf({ email: address, ...captcha }, ['email']),
      answer: nothing,
      async handle({ query: { email }, visitor, headers }) {
        need(Mail);
        // Limited per address, so that many clients cannot flood one mailbox.
        await limiter.take('mail', `to ${email.toLowerCase()}`);
        const code = `${randomInt(10 ** CODE_DIGITS)}`.padStart(CODE_DIGITS, '0');
        await tickets.issue('email-proof', {
          accountId: visitor?.id,
          secret: emailProofOf(email, code),
          forMs: CODE_MS,
        });
        const language = await languageOf(host, { visitor, headers });
        post({
          to: email,
          ...EMAILS[language].addressCode(site, code),
        });
        return null;
      },
    }),
    route('member', 'GET', '/api/oauth/email/bind', {
      ...binding,
      changes: true,
      summary: 'Sets the email address of your account to a verified one.',
      search: schema<Proof>(proof),
      handle(request) {
        // Addresses are typed into the browser, but links in emails also call this route.
        if (request.headers['sec-fetch-site'] === 'none')
          throw errors.cross_site('A link must not do this: enter the code in the console.');
        return bind(request, request.query);
      },
    }),
    route('member', 'POST', '/api/oauth/email/bind', {
      ...binding,
      summary: 'Sets the email address of your account to a verified one.',
      body: schema<Proof>({ ...proof, additionalProperties: false }),
      handle: (request) => bind(request, request.body),
    }),
  ];
}
