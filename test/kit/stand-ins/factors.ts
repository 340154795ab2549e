/** People with second factors, at the console of a test gateway. */
import { generateSync } from 'otplib';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import type { Visitor } from '../console/console.ts';
import type { FakeClock } from '../gateway/clock.ts';
import type { Authenticator } from './authenticator.ts';

/** The plugins that a console with second factors needs, for `config.pipeline`. */
export const FACTORS_PIPELINE: readonly string[] = [
  'accounts',
  'second-factors',
  'auth',
  'counters',
  'keys',
  'prices',
  'quota',
  'models',
  'styles',
  'vendors/demo',
  'log',
  'audit',
  'console',
];

/** What an authenticator shows. */
export function codeOf(secret: string, clock: FakeClock): string {
  return generateSync({ secret, epoch: Math.floor(clock.now() / 1_000) });
}

/** The code after that one: nobody has taken it. */
export function nextCodeOf(secret: string, clock: FakeClock): string {
  clock.advance(30_000);
  return codeOf(secret, clock);
}

/** Enables two-factor sign-in for somebody who is signed in. */
export async function enableTotp(
  person: Visitor,
  clock: FakeClock,
): Promise<{ readonly secret: string; readonly backupCodes: readonly string[] }> {
  const { secret, backup_codes: backupCodes } = await person.data('POST', '/api/user/2fa/setup');
  await person.data('POST', '/api/user/2fa/enable', { code: nextCodeOf(secret, clock) });
  return { secret, backupCodes };
}

/** Adds a passkey for somebody who is signed in. */
export async function addPasskey(person: Visitor, key: Authenticator): Promise<void> {
  const { options, flow_token } = await person.data('POST', '/api/user/passkey/register/begin');
  await person.data('POST', '/api/user/passkey/register/finish', { flow_token, credential: key.create(options) });
}

/** Checks by a passkey. */
export async function verifyByPasskey(person: Visitor, key: Authenticator): Promise<JsonObject> {
  const { options, flow_token } = await person.data('POST', '/api/user/passkey/verify/begin');
  return person.data('POST', '/api/user/passkey/verify/finish', { flow_token, credential: key.get(options) });
}
