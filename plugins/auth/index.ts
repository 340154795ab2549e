/**
 * Plays `authenticate`: identifies the key of a call and checks that it may be used. Also the guards `key` and `key.lenient` for routes
 * with a key.
 */

import { ChosenKeys } from '../../core/contracts/chosen-keys.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { Holder } from '../../core/contracts/identity.ts';
import { KeyCheck } from '../../core/contracts/key-check.ts';
import { KeyPlaces } from '../../core/contracts/key-places.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { type Awaitable, type Caller, definePlugin, type Found, guard, type Unidentified } from '../../core/plugin.ts';
import { authSection, presentedKey, refuseNoKey } from './carriers.ts';
import { errors } from './errors.ts';

/** The codes that only the guard has that refuses expired keys, and takes those that a console names. */
const ALSO = ['key_expired', 'not_signed_in', 'cross_site'];

/** The codes by which a key is refused that has not expired. */
const REFUSALS = ['invalid_api_key', 'key_disabled', 'account_disabled', 'ip_not_allowed'];

export default definePlugin({
  name: 'auth',
  api: 2,
  errors,
  sections: { auth: authSection },
  needs: [Keys],
  wants: [ChosenKeys],
  provides: [KeyPlaces, KeyCheck],
  create(host, { auth }) {
    const keys = host.use(Keys);
    host.provide(KeyPlaces, auth);

    host.provide(KeyCheck, { judge });

    /** Refuses an unknown key, and one that may not be used now. */
    function judge(holder: Holder | undefined): Holder {
      const valid = judgeLeniently(holder);
      const { key } = valid;
      if (key.expiresMs !== undefined && key.expiresMs <= host.clock.now()) {
        throw errors.key_expired();
      }
      return valid;
    }

    /** The same, but accepts an expired key, which may still query its usage. */
    function judgeLeniently(holder: Holder | undefined): Holder {
      if (holder === undefined) throw coreErrors.invalid_api_key('This API key is unknown.');
      const { key, account } = holder;
      if (!key.enabled) throw errors.key_disabled();
      if (!account.enabled) {
        throw coreErrors
          .account_disabled('The account of this API key is disabled.')
          .with({ headers: { 'x-should-retry': 'false' } });
      }
      return holder;
    }

    /** The holder of a request's key, or of the key it names by id; not a promise if the key is cached. */
    function lookUp(caller: Unidentified): Awaitable<Holder | undefined> {
      const secret = presentedKey(caller, auth);
      if (secret !== undefined) return keys.find(secret);
      const chosen = host.find(ChosenKeys);
      if (chosen?.isNamed(caller) !== true) return refuseNoKey();
      caller.note?.({ from: 'console' });
      return chosen.find(caller);
    }

    function authenticate(caller: Unidentified): Awaitable<Holder> {
      const result = lookUp(caller);
      return result instanceof Promise ? result.then(judge) : judge(result);
    }

    /** A holder whose key allows the request's IP address. */
    function foundOf(holder: Holder, caller: Caller): Found {
      keys.checkAddress(holder.key, caller.ip);
      return { account: holder.account, holder };
    }

    return {
      authenticate,
      guards: {
        // All plugins are asked, because another one may know the caller.
        key: guard([...REFUSALS, ...ALSO], async (caller, _, identify) => foundOf(await identify(), caller)),
        'key.lenient': guard([...REFUSALS, ...ALSO], async (caller, _, identify) => {
          const secret = presentedKey(caller, auth);
          // A session that names a key opens what calls are, and nothing else.
          if (secret === undefined && host.find(ChosenKeys)?.isNamed(caller) === true) return refuseNoKey();
          const holder = secret === undefined ? undefined : await keys.find(secret);
          return foundOf(holder === undefined ? await identify() : judgeLeniently(holder), caller);
        }),
      },
    };
  },
});
