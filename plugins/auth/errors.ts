/** The errors of keys that are known and cannot be used. */
import { defineErrors } from '../../core/sdk.ts';

const headers = { 'www-authenticate': 'Bearer', 'x-should-retry': 'false' };

/** By their codes. */
export const errors = defineErrors({
  key_disabled: { status: 401, headers, help: 'The API key is disabled. Enable it, or use another one.' },
  key_expired: { status: 401, headers, help: 'The API key has expired. Use another one.' },
});
