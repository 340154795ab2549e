/**
 * Calls authenticated by a session: the header `x-turnpike-key` names one of the user's keys by id. Secrets of keys are not stored in
 * clear, so the console cannot send them.
 */
import type { ChosenKeys } from '../../core/contracts/chosen-keys.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { Sessions } from '../../core/contracts/sessions.ts';
import type { Site } from '../../core/contracts/site.ts';
import type { Host } from '../../core/plugin.ts';
import { checkOrigin } from './access.ts';
import type { Cookies } from './cookies.ts';
import type { Limiter } from './limiter.ts';
import { idOf } from './route.ts';

const HEADER = 'x-turnpike-key';

/** Creates the service. */
export function createChosenKeys(host: Host, site: Site, cookies: Cookies, limiter: Limiter): ChosenKeys {
  const sessions = host.use(Sessions);
  const keys = host.use(Keys);
  return {
    isNamed: ({ headers }) => HEADER in headers,

    async find(caller) {
      await limiter.takeOf('requests', caller.ip);
      // Calls cost money, so the cross-site check applies to every HTTP method.
      checkOrigin(caller, site, true);
      const secret = cookies.read(caller.headers, 'session');
      const session = secret === undefined ? undefined : await sessions.find(secret);
      if (session === undefined) {
        throw coreErrors.not_signed_in(
          `${HEADER} names a key of whoever is signed in, and nobody is: sign in, or send a key.`,
        );
      }
      return keys.holderById(session.account.id, idOf(caller.headers[HEADER]));
    },
  };
}
