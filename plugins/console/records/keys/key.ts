/** A key in the API: its permissions and its quota. */
import { boolean, integer, record, text, unixSeconds } from '../../format/schemas.ts';
import { limitsSchema } from './key-limits.ts';

export { NEVER, quotaOf, type ShownKey, shownKey } from '../../../../core/contracts/shown.ts';

export const keySchema = record('Key', {
  id: integer,
  user_id: integer,
  name: text,
  key: { ...text, description: 'Its first and last four characters; complete only in the response that creates it.' },
  status: { enum: [1, 2, 3, 4], description: '1 enabled, 2 disabled, 3 expired, 4 exhausted.' },
  created_time: unixSeconds,
  accessed_time: {
    ...integer,
    description: 'The last call with it, to the minute, Unix seconds; 0: never.',
  },
  expired_time: { ...integer, description: 'Unix seconds; -1: never.' },
  remain_quota: { ...integer, description: 'The remaining amount, in quota units; 0 if it is unlimited.' },
  used_quota: integer,
  held_quota: { ...integer, description: 'Reserved for running calls: what they do not cost can be spent again.' },
  unlimited_quota: { ...boolean, description: "Limited only by the user's balance." },
  model_limits_enabled: boolean,
  model_limits: { ...text, description: 'The models it may call, separated by commas; empty: all.' },
  allow_ips: { ...text, description: 'Allowed addresses and networks, one per line; empty: all.' },
  group: { ...text, description: 'The group of channels that it uses; empty: that of its user.' },
  strict: { ...boolean, description: 'Translations that would change the answer are refused.' },
  limits: { ...limitsSchema, description: 'Its own limits, in addition to those of all keys.' },
});
