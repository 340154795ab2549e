/** Sign-in with a password, its second step, and sign-out. */

import { Accounts } from '../../../../core/contracts/accounts.ts';
import { Sessions } from '../../../../core/contracts/sessions.ts';
import type { Answer } from '../../../../core/plugin.ts';
import { errors } from '../../errors.ts';
import { done } from '../../format/envelope.ts';
import { bodyOf, captcha, integer, nothing, queryOf, text, unixSeconds } from '../../format/schemas.ts';
import { type ApiRoute, type ConsoleRequest, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Sign-in');

/** The response after a sign-in. */
export const signedIn = {
  title: 'SignedIn',
  description: 'The signed-in user.',
  type: 'object',
  required: ['id', 'username', 'display_name', 'role', 'status', 'group'],
  properties: {
    id: integer,
    username: text,
    display_name: text,
    role: { ...integer, description: '1 member, 10 administrator, 100 root.' },
    status: integer,
    group: text,
  },
} as const;

/** The same, or a request for the second factor. */
export const halfSignedIn = {
  title: 'SignInResult',
  anyOf: [
    signedIn,
    {
      title: 'SecondStepRequired',
      description: 'A second factor is required: continue with POST /api/user/login/2fa.',
      type: 'object',
      required: ['require_2fa', 'flow_token', 'expires_at'],
      properties: { require_2fa: { const: true }, flow_token: text, expires_at: unixSeconds },
    },
  ],
} as const;

const credentials = bodyOf(['username', 'password'], {
  username: { description: 'The user name or email address.', type: 'string', minLength: 1, maxLength: 254 },
  password: { type: 'string', minLength: 1, maxLength: 1_024 },
});

const secondStep = bodyOf(['code'], {
  code: {
    description: 'A code of the authenticator, or a backup code.',
    type: 'string',
    minLength: 1,
    maxLength: 64,
  },
  flow_token: { description: 'From the first step; default: the cookie.', type: 'string', maxLength: 64 },
});

export function signInRoutes({ host, cookies, guesses, signIn }: Tools): readonly ApiRoute[] {
  const accounts = host.use(Accounts);
  const sessions = host.use(Sessions);

  /** Ends the session of the cookie, which guards did not check if the request has an access token. */
  async function signOut({ headers }: ConsoleRequest): Promise<Answer> {
    const secret = cookies.read(headers, 'session');
    const session = secret === undefined ? undefined : await sessions.find(secret);
    if (session !== undefined) await sessions.end(session.account.id, session.session.id);
    return done(null, { cookies: [cookies.clear('session'), cookies.clear('flow')] });
  }

  return [
    route('visitor', 'POST', '/api/user/login', {
      errors: ['wrong_credentials', 'account_disabled'],
      summary: 'Signs in with a password.',
      search: queryOf(captcha),
      body: credentials,
      answer: halfSignedIn,
      async handle(request) {
        const { username, password } = request.body;
        const { ip, headers } = request;
        const account = await guesses.compare({ name: username, ip, headers }, (comer) =>
          accounts.checkPassword(username, password, comer),
        );
        if (account !== undefined) return signIn.complete(request, account, 'password');
        const named = (await accounts.findByEmail(username)) ?? (await accounts.findByName(username));
        await signIn.failed(request, named, 'password');
        throw errors.wrong_credentials();
      },
    }),
    route('visitor', 'POST', '/api/user/login/2fa', {
      // A ticket allows five codes, and an account's codes are locked after as many wrong ones.
      errors: ['sign_in_expired', 'wrong_code', 'codes_locked', 'account_disabled'],
      summary: 'Completes a sign-in with a second factor.',
      body: secondStep,
      answer: signedIn,
      handle: (request) => signIn.second(request, request.body.code, request.body.flow_token),
    }),
    route('visitor', 'GET', '/api/user/logout', {
      changes: true,
      summary: 'Signs out.',
      answer: nothing,
      handle: signOut,
    }),
    route('visitor', 'POST', '/api/user/auth/logout', {
      summary: 'Signs out.',
      answer: nothing,
      handle: signOut,
    }),
    route('visitor', 'POST', '/api/user/logout', {
      summary: 'Signs out; for older clients.',
      answer: nothing,
      handle: signOut,
    }),
  ];
}
