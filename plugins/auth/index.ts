/** Plays `authenticate`: which key is this, and is it good? Also the guards `key` and `key.lenient` for routes that take one. */
import { ChosenKeys } from '../../core/contracts/chosen-keys.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { KeyCheck } from '../../core/contracts/key-check.ts';
import { KeyPlaces } from '../../core/contracts/key-places.ts';
import type { Holder } from '../../core/contracts/keys.ts';
import { Keys } from '../../core/contracts/keys.ts';
import type { Awaitable, Caller, Exchange, Found } from '../../core/plugin.ts';
import { definePlugin, guard } from '../../core/plugin.ts';
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

    /** Refuses a key that is unknown or may not be used now. */
    function judge(holder: Holder | undefined): Holder {
      const known = judgeLeniently(holder);
      const { key } = known;
      if (key.expiresMs !== undefined && key.expiresMs <= host.clock.now()) {
        throw errors.key_expired();
      }
      return known;
    }

    /** The same, but one that has expired passes: it may still be asked what it has used. */
    function judgeLeniently(holder: Holder | undefined): Holder {
      if (holder === undefined) throw coreErrors.invalid_api_key('This API key is not known here.');
      const { key, account } = holder;
      if (!key.enabled) throw errors.key_disabled();
      if (!account.enabled) {
        throw coreErrors
          .account_disabled('The account of this API key is disabled.')
          .with({ headers: { 'x-should-retry': 'false' } });
      }
      return holder;
    }

    /** Who holds the key that a request carries, or else names; answers at once where the key is remembered. */
    function lookUp(caller: Caller | Exchange): Awaitable<Holder | undefined> {
      const secret = presentedKey(caller, auth);
      if (secret !== undefined) return keys.find(secret);
      const chosen = host.find(ChosenKeys);
      if (chosen?.isNamed(caller) !== true) return refuseNoKey();
      if ('note' in caller) caller.note({ from: 'console' });
      return chosen.find(caller);
    }

    function authenticate(caller: Caller | Exchange): Awaitable<Holder> {
      const found = lookUp(caller);
      return found instanceof Promise ? found.then(judge) : judge(found);
    }

    /** A holder who is let in from where the request came from. */
    function found(holder: Holder, caller: Caller): Found {
      keys.checkAddress(holder.key, caller.ip);
      return { account: holder.account, holder };
    }

    return {
      authenticate,
      guards: {
        key: guard([...REFUSALS, ...ALSO], async (caller) => found(await authenticate(caller), caller)),
        'key.lenient': guard(REFUSALS, async (caller) => {
          const secret = presentedKey(caller, auth) ?? refuseNoKey();
          return found(judgeLeniently(await keys.find(secret)), caller);
        }),
      },
    };
  },
});
