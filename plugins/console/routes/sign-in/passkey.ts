/** Passkeys: sign-in, adding and removing, verification. */

import { coreErrors } from '../../../../core/contracts/errors.ts';
import { type PasskeyStart, SecondFactors } from '../../../../core/contracts/second-factors.ts';
import type { Answer, JsonObject } from '../../../../core/plugin.ts';
import type { Cookies } from '../../access/cookies.ts';
import { sessionOf } from '../../access/guards.ts';
import { verifiedAnswer } from '../../access/verification.ts';
import { done } from '../../format/envelope.ts';
import {
  type Accepted,
  bodyOf,
  boolean,
  nothing,
  notLookedAt,
  partly,
  record,
  text,
  unixSeconds,
  withRules,
} from '../../format/schemas.ts';
import { secondsOf } from '../../format/units.ts';
import { type ApiRoute, type ConsoleRequest, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';
import { signedIn } from './sign-in.ts';

const route = tagged('Passkeys');

/** The response that begins a WebAuthn ceremony. */
export const ceremonyAnswer = record('PasskeyCeremony', {
  options: {
    description: 'The WebAuthn public key options as JSON, also in `publicKey` for clients that read them there.',
    type: 'object',
    required: ['publicKey'],
    properties: { publicKey: { type: 'object' } },
    additionalProperties: true,
  },
  flow_token: { description: 'To be sent with the credential; default: the cookie.', type: 'string' },
  expires_at: unixSeconds,
});

/** Begins a ceremony; its ticket is also in a cookie, for clients that send only the credential. */
export function ceremony(
  cookies: Cookies,
  { options, ticket, expiresMs }: PasskeyStart,
  nowMs: number,
  more: JsonObject = {},
): Answer {
  const publicKey = options as JsonObject;
  return done(
    { ...more, options: { ...publicKey, publicKey }, flow_token: ticket, expires_at: secondsOf(expiresMs) },
    { cookies: [cookies.set('flow', ticket, expiresMs - nowMs)] },
  );
}

/** The credential, in its member or as the whole body. */
const finishBody = {
  title: 'PasskeyCredential',
  ...bodyOf([], {
    flow_token: { description: 'From `begin`; default: the cookie.', type: 'string', maxLength: 64 },
    credential: {
      description: "The browser's result as JSON; its members may also be at the top level.",
      type: 'object',
    },
    id: text,
    rawId: text,
    type: text,
    response: { type: 'object' },
    ...notLookedAt('authenticatorAttachment', 'clientExtensionResults'),
  }),
};
type FinishBody = Accepted<typeof finishBody>;
/** The form that is described: the other one is that of older clients. */
const describedFinish = withRules(finishBody, {}, ['credential']);

const PATH = '/api/user/passkey';

export function passkeyRoutes({ host, cookies, signIn, verification, need, audited }: Tools): readonly ApiRoute[] {
  const begun = (start: PasskeyStart): Answer => ceremony(cookies, start, host.clock.now());

  function finishing({ body, headers }: ConsoleRequest<FinishBody>): { ticket: string; credential: JsonObject } {
    const { flow_token: token, credential, ...bare } = body;
    if (credential === undefined && bare.id === undefined) {
      throw coreErrors
        .invalid_request_error('`credential` is missing: send the result of the browser.')
        .with({ param: 'credential' });
    }
    return { ticket: token ?? cookies.read(headers, 'flow') ?? '', credential: credential ?? bare };
  }

  return [
    route('visitor', 'POST', `${PATH}/login/begin`, {
      summary: 'Begins a sign-in with a passkey, without a user name.',
      answer: ceremonyAnswer,
      handle: async () => begun(await need(SecondFactors).beginPasskeyLogin()),
    }),
    route('visitor', 'POST', `${PATH}/login/finish`, {
      errors: ['passkey_refused', 'account_disabled'],
      summary: 'Signs in with a passkey; there is no second step.',
      body: finishBody,
      request: describedFinish,
      answer: signedIn,
      async handle(request) {
        const { ticket, credential } = finishing(request);
        const account = await need(SecondFactors).finishPasskeyLogin(ticket, credential);
        return signIn.complete(request, account, 'passkey');
      },
    }),
    route('member', 'GET', PATH, {
      sessionOnly: true,
      summary: 'Returns whether you have a passkey, and when it was last used.',
      answer: partly(['enabled'], {
        enabled: boolean,
        last_used_at: { description: 'RFC 3339; null: never.', type: ['string', 'null'] },
        created_at: { description: 'RFC 3339.', type: 'string' },
      }),
      async handle({ account }) {
        const { passkey } = await need(SecondFactors).status(account.id);
        if (passkey === undefined) return { enabled: false };
        const { createdMs, lastUsedMs } = passkey;
        return {
          enabled: true,
          last_used_at: lastUsedMs === undefined ? null : new Date(lastUsedMs).toISOString(),
          created_at: new Date(createdMs).toISOString(),
        };
      },
    }),
    route('member', 'POST', `${PATH}/register/begin`, {
      sessionOnly: true,
      verified: 'or-recent',
      errors: ['passkey_exists', 'session_wanted'],
      summary: 'Begins to add a passkey.',
      answer: ceremonyAnswer,
      async handle(request) {
        const factors = need(SecondFactors);
        return begun(await factors.beginPasskeyRegistration(request.account, sessionOf(request).id));
      },
    }),
    route('member', 'POST', `${PATH}/register/finish`, {
      sessionOnly: true,
      verified: 'or-recent',
      errors: ['passkey_refused', 'passkey_exists', 'passkey_taken', 'session_wanted'],
      summary: 'Adds the passkey; ends all other sessions.',
      body: finishBody,
      request: describedFinish,
      answer: nothing,
      async handle(request) {
        const factors = need(SecondFactors);
        const { ticket, credential } = finishing(request);
        const { account } = request;
        const along = audited(request, 'passkey.add');
        await factors.finishPasskeyRegistration(account, sessionOf(request).id, ticket, credential, along);
        return done(null, { message: 'The passkey was added.', cookies: [cookies.clear('flow')] });
      },
    }),
    route('member', 'DELETE', PATH, {
      sessionOnly: true,
      verified: true,
      errors: ['no_passkey', 'session_wanted'],
      summary: 'Removes the passkey; ends all other sessions.',
      answer: nothing,
      async handle(request) {
        const along = audited(request, 'passkey.remove');
        await need(SecondFactors).removePasskey(request.account, sessionOf(request).id, along);
        return done(null, { message: 'The passkey was removed.' });
      },
    }),
    route('member', 'POST', `${PATH}/verify/begin`, {
      sessionOnly: true,
      errors: ['session_wanted', 'no_passkey'],
      summary: 'Begins a verification with the passkey.',
      answer: ceremonyAnswer,
      handle: async (request) =>
        begun(await need(SecondFactors).beginPasskeyCheck(request.account, sessionOf(request).id)),
    }),
    route('member', 'POST', `${PATH}/verify/finish`, {
      sessionOnly: true,
      errors: ['passkey_refused', 'session_wanted'],
      summary: 'Completes a verification: this session may run sensitive operations for five minutes.',
      body: finishBody,
      request: describedFinish,
      answer: verifiedAnswer,
      async handle(request) {
        const { ticket, credential } = finishing(request);
        await need(SecondFactors).finishPasskeyCheck(request.account, sessionOf(request).id, ticket, credential);
        return verification.mark(request, 'passkey');
      },
    }),
  ];
}
