/** The error of an audit log that was tampered with. */
import { defineErrors } from '../../core/sdk.ts';

/** By its code. */
export const errors = defineErrors(
  {
    audit_broken: {
      status: 409,
      text: (seq: number, why: string) => `the audit log is broken at entry ${seq}: ${why}`,
      help: 'An entry of the audit log does not match the hash of the previous entry.',
    },
  },
  'command',
);
