/** E-mail addresses: proving one, and making it one's own. */
import { randomInt } from 'node:crypto';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import { type Letter, Mail } from '../../../core/contracts/mail.ts';
import { Tickets } from '../../../core/contracts/sessions.ts';
import { schema } from '../../../core/plugin.ts';
import { errors } from '../errors.ts';
import { differences } from '../records/person.ts';
import { type ApiRoute, type ConsoleRequest, route, type Tools } from '../route.ts';
import { EMAIL_PATTERN, nothing } from '../schemas.ts';
import { personWith } from '../subordinate.ts';

const CODE_MS = 600_000;
const CODE_DIGITS = 8;

const address = { type: 'string', maxLength: 254, pattern: EMAIL_PATTERN } as const;

interface Proof {
  readonly email: string;
  readonly code: string;
}

/** In a query nothing has to be there by the schema: what is missing is said by name. */
const proof = {
  type: 'object',
  required: ['email', 'code'],
  properties: { email: address, code: { description: 'As the letter has it.', type: 'string', maxLength: 64 } },
} as const;

/** What the ticket of a code is found by: the address, in whatever case, and the code of the letter. */
export function emailProofOf(email: string, code: string): string {
  return `${email.toLowerCase()}:${code.trim()}`;
}

/** The rows. */
export function emailRoutes({ host, site, limiter, need, audited }: Tools): readonly ApiRoute[] {
  const accounts = host.use(Accounts);
  const tickets = host.use(Tickets);

  /** Nobody waits for it: neither how long this takes nor what it answers tells who has the address. */
  function post(letter: Letter): void {
    need(Mail)
      .send(letter)
      .catch(() => {});
  }

  async function bind(request: ConsoleRequest, { email, code }: Proof): Promise<null> {
    const { account } = request;
    await limiter.take('codes', `email ${account.id}`);
    const ticket = await tickets.take('email-proof', emailProofOf(email, code));
    // Asked for by somebody else, it would make their address this one's.
    if (ticket === undefined || ticket.accountId !== account.id)
      throw coreErrors.wrong_code('This code is wrong, was used, or is older than ten minutes.');
    const before = await personWith(host, account.id);
    const facts = differences(before, { email });
    await accounts.change(account.id, { email }, audited(request, 'user.change', `user ${account.id}`, facts));
    if (before.email !== undefined && before.email.toLowerCase() !== email.toLowerCase()) {
      const { name, origin } = site;
      post({
        to: before.email,
        subject: `${name}: the e-mail address of your account was changed`,
        text: `Hello ${account.name},\n\nthe e-mail address of your account at ${origin} is another one now.\n\nIf it was not you who changed it, tell whoever runs ${name}.\n`,
      });
    }
    return null;
  }

  const binding = {
    path: '/api/oauth/email/bind',
    errors: ['email_taken', 'wrong_code'],
    who: 'member',
    sessionOnly: true,
    // A new password can be had at it.
    verified: 'or-recent',
    tag: 'Account',
    answer: nothing,
  } as const;

  return [
    route({
      method: 'GET',
      path: '/api/verification',
      who: 'visitor',
      // The code is for whoever is signed in, and the letter goes to whom somebody else may have named.
      changes: true,
      limit: 'mail',
      summary:
        'Sends a code to an e-mail address, which proves it: for a new account, or for the one that is signed in.',
      tag: 'Account',
      search: schema<{ readonly email: string }>({
        type: 'object',
        required: ['email'],
        properties: { email: address },
      }),
      answer: nothing,
      async handle({ asked: { email }, visitor }) {
        const { name, origin } = site;
        need(Mail);
        // However many ask, one mailbox is not filled.
        await limiter.take('mail', `to ${email.toLowerCase()}`);
        const code = `${randomInt(10 ** CODE_DIGITS)}`.padStart(CODE_DIGITS, '0');
        await tickets.issue('email-proof', {
          accountId: visitor?.id,
          secret: emailProofOf(email, code),
          forMs: CODE_MS,
        });
        post({
          to: email,
          // Without the code: what could not be sent is logged by it.
          subject: `${name}: a code for your e-mail address`,
          text: `Somebody at ${origin}, hopefully you, wants to use this e-mail address.\n\nThe code is ${code}. It is good for ten minutes, once.\n\nIf it was not you, nothing has to be done: without the code nothing happens.\n`,
        });
        return null;
      },
    }),
    route({
      ...binding,
      method: 'GET',
      changes: true,
      summary: 'Makes an e-mail address that is proven that of the account.',
      search: schema<Proof>(proof),
      handle(request) {
        // So come addresses that somebody typed, but links in letters as well.
        if (request.headers['sec-fetch-site'] === 'none')
          throw errors.cross_site('A link must not do this: enter the code in the console.');
        return bind(request, request.asked);
      },
    }),
    route({
      ...binding,
      method: 'POST',
      summary: 'Makes an e-mail address that is proven that of the account.',
      body: schema<Proof>({ ...proof, additionalProperties: false }),
      handle: (request) => bind(request, request.body),
    }),
  ];
}
