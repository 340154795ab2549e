/** Whom an administrator may change, and how an account ends. */
import { type Account, Accounts, type Person } from '../../core/contracts/accounts.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { OAuth } from '../../core/contracts/oauth.ts';
import { SecondFactors } from '../../core/contracts/second-factors.ts';
import { GatewayError, type Host, refuse, type Step } from '../../core/plugin.ts';
import { outranks } from './access.ts';
import { errors } from './errors.ts';

/** The person with that id, deleted or not. Refuses (404) where there is none. */
export async function personWith(host: Host, id: number): Promise<Person> {
  const person = await host.use(Accounts).person(id);
  return person ?? refuse(coreErrors.account_not_found().with({ param: 'id' }));
}

/** The person that `actor` is about to change. Refuses (404) who is not there any more, (403) who has as much of a role. */
export async function subordinate(host: Host, actor: Account, id: number): Promise<Person> {
  const person = await personWith(host, id);
  if (person.deletedMs !== undefined) {
    throw coreErrors.account_not_found().with({ message: `The account "${person.name}" was deleted.`, param: 'id' });
  }
  if (!outranks(actor.role, person.role)) {
    throw errors.role_insufficient(`"${person.name}" has a role that is not below yours.`);
  }
  return person;
}

/**
 * Ends an account for good, in one list with its keys and `along`. What nobody can use any more, but would keep somebody from
 * signing up anew (passkeys, bindings), is cleared away afterwards.
 */
export async function removeAccount(host: Host, id: number, along: readonly Step[]): Promise<void> {
  const keys = host.use(Keys);
  await host.use(Accounts).remove(id, [...keys.revokeSteps(id), ...along]);
  keys.forget(id);
  try {
    await clearAway(host, id);
  } catch (error) {
    host.log.warn('what a deleted account signed in with could not be cleared away', { account: id, error });
  }
}

async function clearAway(host: Host, id: number): Promise<void> {
  const factors = host.find(SecondFactors);
  for (const what of ['totp', 'passkey'] as const) {
    await factors?.reset(id, what).catch((error: unknown) => {
      // There was none.
      if (!(error instanceof GatewayError && error.status === 409)) throw error;
    });
  }
  const oauth = host.find(OAuth);
  for (const { provider } of (await oauth?.bindings(id)) ?? []) await oauth?.unbind(id, provider);
}
