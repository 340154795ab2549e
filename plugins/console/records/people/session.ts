/** A session in the API, for its owner and for administrators. */
import type { Session } from '../../../../core/contracts/identity.ts';
import { text, unixSeconds } from '../../format/schemas.ts';
import { secondsOf } from '../../format/units.ts';

/** Everything but the id, which has a different member name for each of them. */
export function shownSession({ method, ip, userAgent, createdMs, lastSeenMs, expiresMs }: Session) {
  return {
    login_method: method,
    ip,
    user_agent: userAgent,
    created_at: secondsOf(createdMs),
    last_active_at: secondsOf(lastSeenMs),
    expires_at: secondsOf(expiresMs),
  };
}

export const sessionProperties = {
  login_method: { ...text, description: '`password`, `passkey`, or the name of an OAuth provider.' },
  ip: text,
  user_agent: text,
  created_at: unixSeconds,
  last_active_at: { ...unixSeconds, description: 'Unix seconds, to the minute.' },
  expires_at: unixSeconds,
} as const;
