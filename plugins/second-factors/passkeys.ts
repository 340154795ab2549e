/** Passkeys: one per account, discoverable without a user name; WebAuthn ceremonies. */
import { randomBytes } from 'node:crypto';
import type { AuthenticationResponseJSON, AuthenticatorTransport } from '@simplewebauthn/server';
import { Accounts } from '../../core/contracts/accounts.ts';
import { Audit } from '../../core/contracts/audit.ts';
import { coreErrors, notWritten } from '../../core/contracts/errors.ts';
import type { AdoptedPasskey, FactorStatus, PasskeyStart, SecondFactors } from '../../core/contracts/second-factors.ts';
import { type TicketPurpose, Tickets } from '../../core/contracts/sessions.ts';
import { Site } from '../../core/contracts/site.ts';
import { type Host, type Json, refuse, type Step } from '../../core/plugin.ts';
import { readAssertion, readAttestation } from './credential.ts';
import type { Endings } from './endings.ts';
import { errors } from './errors.ts';

/** Loaded with the first ceremony: loading takes as long as all of our own modules. */
const webAuthn = () => import('@simplewebauthn/server');

/** The timeout of a ceremony. */
const CEREMONY_MS = 5 * 60_000;
const HANDLE_BYTES = 32;
/** Reasons quote the browser's data, so they are cut. */
const LONGEST_REASON = 300;
const NO_ANSWER = 'it is not an authenticator response';

interface PasskeyRow {
  readonly account_id: number;
  readonly credential_id: string;
  readonly public_key: Uint8Array;
  readonly counter: number;
  readonly transports: string;
  readonly created_ms: number;
  readonly last_used_ms: number | null;
  readonly handle: string;
}

const SELECT = `SELECT account_id, credential_id, public_key, counter, transports, created_ms, last_used_ms, handle
  FROM passkey JOIN passkey_user USING (account_id)`;

/** The service's methods about passkeys. */
export interface Passkeys
  extends Pick<
    SecondFactors,
    | 'beginPasskeyLogin'
    | 'finishPasskeyLogin'
    | 'beginPasskeyRegistration'
    | 'finishPasskeyRegistration'
    | 'beginPasskeyCheck'
    | 'finishPasskeyCheck'
    | 'removePasskey'
  > {
  status(accountId: number): Promise<FactorStatus['passkey']>;
  /** The step that removes the passkey. */
  removeStep(accountId: number): Step;
  /** The steps that give an account the passkey of another program, or why it could not be used here. */
  adoptSteps(accountId: number, passkey: AdoptedPasskey): Promise<readonly Step[] | string>;
}

export function createPasskeys(host: Host, endings: Endings): Passkeys {
  const { store, clock } = host;
  const tickets = host.use(Tickets);
  const accounts = host.use(Accounts);

  function site(): Site {
    const origin =
      host.find(Site) ?? refuse(coreErrors.not_available('Passkeys require the console, which is not enabled.'));
    if (origin.passkeys.possible) return origin;
    throw coreErrors.not_available('Passkeys require a host name in console.url, not an IP address.');
  }

  const passkeyOf = (accountId: number): Promise<PasskeyRow | undefined> =>
    store.one<PasskeyRow>(`${SELECT} WHERE account_id = ?`, accountId);

  /**
   * The account's WebAuthn user handle: random, so that it reveals nothing; constant, so that authenticators keep one passkey per account.
   */
  async function handleOf(accountId: number): Promise<string> {
    await store.run(
      'INSERT INTO passkey_user (account_id, handle) VALUES (?, ?) ON CONFLICT DO NOTHING',
      accountId,
      randomBytes(HANDLE_BYTES).toString('base64url'),
    );
    const row = await store.one<{ handle: string }>('SELECT handle FROM passkey_user WHERE account_id = ?', accountId);
    if (row === undefined) throw new Error(`account ${accountId} has no handle for passkeys`);
    return row.handle;
  }

  async function begun(
    purpose: TicketPurpose,
    options: { readonly challenge: string },
    whose: { readonly accountId?: number; readonly session?: number } = {},
  ): Promise<PasskeyStart> {
    const { accountId, session } = whose;
    const data = { challenge: options.challenge, ...(session !== undefined && { session }) };
    const ticket = await tickets.issue(purpose, { accountId, data, forMs: CEREMONY_MS });
    return { options: options as unknown as Json, ticket, expiresMs: clock.now() + CEREMONY_MS };
  }

  async function authenticationOptions(allowCredentials?: { id: string; transports: AuthenticatorTransport[] }[]) {
    const { generateAuthenticationOptions } = await webAuthn();
    return generateAuthenticationOptions({
      rpID: site().passkeys.rpId,
      timeout: CEREMONY_MS,
      userVerification: 'required',
      ...(allowCredentials !== undefined && { allowCredentials }),
    });
  }

  /** The challenge of a ticket, which is valid for one ceremony of one account in one session. */
  async function challengeOf(
    purpose: TicketPurpose,
    ticket: string,
    whose: { readonly accountId?: number; readonly session?: number } = {},
  ): Promise<string> {
    const taken = await tickets.take(purpose, ticket);
    if (taken === undefined) refused('its ticket was used before, has expired, or is for another action');
    if (taken.accountId !== whose.accountId || taken.data.session !== whose.session)
      refused('its ticket belongs to another session');
    const { challenge } = taken.data;
    return typeof challenge === 'string' ? challenge : refused('its ticket has no challenge');
  }

  /** The expected challenge and origin of the browser's response. */
  function expected(expectedChallenge: string) {
    const { origins, rpId } = site().passkeys;
    return { expectedChallenge, expectedOrigin: [...origins], expectedRPID: rpId, requireUserVerification: true };
  }

  /** Verifies that a response is from a passkey, for our challenge, from our origin, with user verification; then records its use. */
  async function prove(passkey: PasskeyRow, challenge: string, response: AuthenticationResponseJSON): Promise<void> {
    const { verifyAuthenticationResponse } = await webAuthn();
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      ...expected(challenge),
      // The counter is compared in the store, so that of two concurrent responses only one succeeds.
      credential: { id: passkey.credential_id, publicKey: new Uint8Array(passkey.public_key), counter: 0 },
    }).catch(refusedBy);
    if (!verified) refused('its signature is wrong');
    const { newCounter, credentialBackedUp } = authenticationInfo;
    const changed = await store.run(
      `UPDATE passkey SET counter = ?, backed_up = ?, last_used_ms = ?
        WHERE account_id = ? AND credential_id = ? AND (counter < ? OR (counter = 0 AND counter = ?))`,
      newCounter,
      credentialBackedUp ? 1 : 0,
      clock.now(),
      passkey.account_id,
      passkey.credential_id,
      newCounter,
      newCounter,
    );
    if (changed === 0) await noteCopy(passkey, newCounter);
  }

  /** The signature is right but the counter is not: the passkey may have been copied. */
  async function noteCopy(passkey: PasskeyRow, counter: number): Promise<never> {
    const accountId = passkey.account_id;
    const name = (await accounts.find(accountId))?.name ?? '';
    await host.find(Audit)?.note({
      actor: { accountId, name, ip: '' },
      action: 'passkey.counter',
      object: `user ${accountId}`,
      facts: { known: passkey.counter, told: counter },
    });
    return refused('its counter went back: it may have been copied');
  }

  /** The reason is logged, and not sent to the client. */
  function refused(reason: string): never {
    host.log.info('a passkey was refused', { reason: reason.slice(0, LONGEST_REASON) });
    throw errors.passkey_refused();
  }
  const refusedBy = (error: unknown): never => refused(error instanceof Error ? error.message : String(error));

  return {
    async status(accountId) {
      const passkey = await passkeyOf(accountId);
      return passkey && { createdMs: passkey.created_ms, lastUsedMs: passkey.last_used_ms ?? undefined };
    },

    beginPasskeyLogin: async () => begun('passkey-login', await authenticationOptions()),

    async finishPasskeyLogin(ticket, credential) {
      const challenge = await challengeOf('passkey-login', ticket);
      const answer = readAssertion(credential) ?? refused(NO_ANSWER);
      const passkey = await store.one<PasskeyRow>(`${SELECT} WHERE credential_id = ?`, answer.id);
      if (passkey === undefined || passkey.handle !== answer.response.userHandle)
        return refused('no account has this passkey');
      await prove(passkey, challenge, answer);
      const account = await accounts.find(passkey.account_id);
      return account?.enabled === true ? account : refused('its account is disabled');
    },

    async beginPasskeyRegistration({ id, name }, session) {
      if ((await passkeyOf(id)) !== undefined) existsAlready();
      const { passkeys, name: siteName } = site();
      const { generateRegistrationOptions } = await webAuthn();
      const options = await generateRegistrationOptions({
        rpName: siteName,
        rpID: passkeys.rpId,
        userName: name,
        userDisplayName: name,
        userID: new Uint8Array(Buffer.from(await handleOf(id), 'base64url')),
        timeout: CEREMONY_MS,
        attestationType: 'none',
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
      return begun('passkey-register', options, { accountId: id, session });
    },

    async finishPasskeyRegistration({ id }, session, ticket, credential, along = []) {
      const challenge = await challengeOf('passkey-register', ticket, { accountId: id, session });
      const { verifyRegistrationResponse } = await webAuthn();
      const { registrationInfo } = await verifyRegistrationResponse({
        response: readAttestation(credential) ?? refused(NO_ANSWER),
        ...expected(challenge),
      }).catch(refusedBy);
      if (registrationInfo === undefined) return refused('its attestation is wrong');
      const made = registrationInfo.credential;
      const failed = await store.atomic([
        {
          sql: `INSERT INTO passkey (account_id, credential_id, public_key, counter, transports, backed_up, created_ms)
            VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
          params: [
            id,
            made.id,
            made.publicKey,
            made.counter,
            JSON.stringify(made.transports ?? []),
            registrationInfo.credentialBackedUp ? 1 : 0,
            clock.now(),
          ],
          must: 'new',
        },
        ...endings(id, session),
        ...along,
      ]);
      if (failed === undefined) return;
      if (failed !== 'new') throw notWritten(failed);
      if ((await passkeyOf(id)) !== undefined) existsAlready();
      throw errors.passkey_taken();
    },

    async beginPasskeyCheck({ id }, session) {
      const passkey = (await passkeyOf(id)) ?? noPasskey();
      const transports = JSON.parse(passkey.transports) as AuthenticatorTransport[];
      const options = await authenticationOptions([{ id: passkey.credential_id, transports }]);
      return begun('passkey-verify', options, { accountId: id, session });
    },

    async finishPasskeyCheck({ id }, session, ticket, credential) {
      const challenge = await challengeOf('passkey-verify', ticket, { accountId: id, session });
      const answer = readAssertion(credential) ?? refused(NO_ANSWER);
      const passkey = await passkeyOf(id);
      if (passkey?.credential_id !== answer.id) return refused('it is not the passkey of this account');
      const { userHandle = passkey.handle } = answer.response;
      if (userHandle !== passkey.handle) refused('it belongs to another account');
      await prove(passkey, challenge, answer);
    },

    async removePasskey({ id }, session, along = []) {
      const failed = await store.atomic([removeStep(id), ...endings(id, session), ...along]);
      if (failed === 'there is one') noPasskey();
      if (failed !== undefined) throw notWritten(failed);
    },

    removeStep,

    async adoptSteps(accountId, { rpId, userHandle, credentialId, publicKey, counter, transports = [] }) {
      const here = host.find(Site)?.passkeys;
      if (here?.possible !== true || here.rpId !== rpId) {
        const domain = here?.possible === true ? here.rpId : 'none here';
        return `it belongs to the domain ${rpId}, and the domain of passkeys is ${domain}: set console.url or console.passkeys.rpId before the import`;
      }
      if (!ENCODED.test(userHandle) || !ENCODED.test(credentialId) || !(await isCoseKey(publicKey)))
        return 'its stored key cannot be read';
      const held = await store.one(
        'SELECT 1 AS held FROM passkey_user WHERE handle = ? AND account_id <> ?',
        userHandle,
        accountId,
      );
      if (held !== undefined) return 'another account here has its user handle';
      return [
        {
          sql: 'INSERT INTO passkey_user (account_id, handle) VALUES (?, ?) ON CONFLICT DO NOTHING',
          params: [accountId, userHandle],
        },
        {
          // Its authenticator returns the handle with which it was registered, so it is of no use with another one.
          sql: `INSERT INTO passkey (account_id, credential_id, public_key, counter, transports, backed_up, created_ms)
            SELECT account_id, ?, ?, ?, ?, 0, ? FROM passkey_user WHERE account_id = ? AND handle = ? ON CONFLICT DO NOTHING`,
          params: [
            credentialId,
            Buffer.from(publicKey, 'base64url'),
            counter,
            JSON.stringify(transports),
            clock.now(),
            accountId,
            userHandle,
          ],
        },
      ];
    },
  };
}

/** Base64url of some bytes. */
const ENCODED = /^[\w-]{2,1400}$/;

/** Whether a text is the base64url of a public key in COSE form. */
async function isCoseKey(text: string): Promise<boolean> {
  const { cose, decodeCredentialPublicKey } = await import('@simplewebauthn/server/helpers');
  try {
    const key = decodeCredentialPublicKey(new Uint8Array(Buffer.from(text, 'base64url')));
    return cose.isCOSEPublicKeyEC2(key) || cose.isCOSEPublicKeyRSA(key) || cose.isCOSEPublicKeyOKP(key);
  } catch {
    return false;
  }
}

const removeStep = (accountId: number): Step => ({
  sql: 'DELETE FROM passkey WHERE account_id = ?',
  params: [accountId],
  must: 'there is one',
});

function existsAlready(): never {
  throw errors.passkey_exists();
}

export function noPasskey(): never {
  throw errors.no_passkey();
}
