/** Plays `authenticate`: which key is this, and is it good? Also the guard `key` for routes that take one. */
import { KeyPlaces } from '../../core/contracts/key-places.ts';
import type { Holder } from '../../core/contracts/keys.ts';
import { Keys } from '../../core/contracts/keys.ts';
import type { Awaitable, Caller } from '../../core/plugin.ts';
import { definePlugin, refuse } from '../../core/plugin.ts';
import { authSection, presentedKey, refuseKey } from './carriers.ts';

export default definePlugin({
  name: 'auth',
  api: 1,
  sections: { auth: authSection },
  needs: [Keys],
  provides: [KeyPlaces],
  create(host, { auth }) {
    const keys = host.use(Keys);
    host.provide(KeyPlaces, auth);

    /** Refuses a key that is unknown or may not be used now. */
    function judge(holder: Holder | undefined): Holder {
      if (holder === undefined) return refuseKey('invalid_api_key', 'This API key is not known here.');
      const { key, account } = holder;
      if (!key.enabled) refuseKey('key_disabled', 'This API key is disabled.');
      if (key.expiresMs !== undefined && key.expiresMs <= host.clock.now()) {
        refuseKey('key_expired', 'This API key has expired.');
      }
      if (!account.enabled) {
        refuse(403, 'account_disabled', 'The account of this API key is disabled.', {
          headers: { 'x-should-retry': 'false' },
        });
      }
      return holder;
    }

    /** Answers at once where the key is remembered. */
    function authenticate(caller: Caller): Awaitable<Holder> {
      const found = keys.find(presentedKey(caller, auth));
      return found instanceof Promise ? found.then(judge) : judge(found);
    }

    return {
      authenticate,
      guards: {
        async key(caller) {
          const holder = await authenticate(caller);
          keys.checkAddress(holder.key, caller.ip);
          return { account: holder.account, holder };
        },
      },
    };
  },
});
