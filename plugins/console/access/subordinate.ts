/** Which accounts an administrator may change, and how an account is deleted. */

import { Accounts, type Person } from '../../../core/contracts/accounts.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import type { Account } from '../../../core/contracts/identity.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import { OAuth } from '../../../core/contracts/oauth.ts';
import { SecondFactors } from '../../../core/contracts/second-factors.ts';
import { GatewayError, type Host, refuse, type Step } from '../../../core/plugin.ts';
import { errors } from '../errors.ts';
import { forgetStep } from '../repeats.ts';
import { outranks } from './guards.ts';

/** Returns the user with that id, deleted or not. Refuses (404) if there is none; `param`: where the request has the id. */
export async function personWith(host: Host, id: number, param = 'id'): Promise<Person> {
  const person = await host.use(Accounts).person(id);
  return person ?? refuse(coreErrors.account_not_found().with({ param }));
}

/** The same, but refuses (404) a deleted user, too. */
export async function livingPerson(host: Host, id: number, param = 'id'): Promise<Person> {
  const person = await personWith(host, id, param);
  if (person.deletedMs === undefined) return person;
  throw coreErrors.account_not_found().with({ message: `The account "${person.name}" was deleted.`, param });
}

/** Ids in a query. */
interface Filter {
  readonly user_id?: number;
  readonly token_id?: number;
}

/**
 * Refuses (404) a query whose filter is a user or a key that there never was: an empty answer would look like one about an account without
 * usage. Deleted ones are known.
 */
export async function refuseUnknown(host: Host, { user_id, token_id }: Filter): Promise<void> {
  if (user_id !== undefined) await personWith(host, user_id, 'user_id');
  if (token_id !== undefined && (await host.use(Keys).nameOf(token_id)) === undefined) {
    throw coreErrors.key_not_found(token_id).with({ param: 'token_id' });
  }
}

/** Returns the user that `actor` is about to change. Refuses (404) a deleted user, (403) a user whose role is not lower. */
export async function subordinate(host: Host, actor: Account, id: number, param = 'id'): Promise<Person> {
  const person = await livingPerson(host, id, param);
  if (!outranks(actor.role, person.role)) {
    throw errors.role_insufficient(`"${person.name}" has a role that is not below yours.`);
  }
  return person;
}

/**
 * Deletes an account in one list with its keys and `along`. Afterwards it removes passkeys and linked accounts, which would keep their
 * owner from registering again.
 */
export async function removeAccount(host: Host, id: number, along: readonly Step[]): Promise<void> {
  const keys = host.use(Keys);
  await host.use(Accounts).remove(id, [...keys.revokeSteps(id), ...along, forgetStep(id)]);
  keys.forget(id);
  try {
    await clearAway(host, id);
  } catch (error) {
    host.log.warn('could not remove the sign-in methods of a deleted account', { account: id, error });
  }
}

async function clearAway(host: Host, id: number): Promise<void> {
  const factors = host.find(SecondFactors);
  for (const what of ['totp', 'passkey'] as const) {
    await factors?.reset(id, what).catch((error: unknown) => {
      // It had none.
      if (!(error instanceof GatewayError && error.status === 409)) throw error;
    });
  }
  const oauth = host.find(OAuth);
  for (const { provider } of (await oauth?.bindings(id)) ?? []) await oauth?.unbind(id, provider);
}
