/** The schema of the section `responses`. */

import { schema } from '../../../core/plugin.ts';
import { duration, size } from '../../../core/sdk.ts';

export interface ResponsesSection {
  /** `30d`, or 0. */
  readonly keep: string | 0;
  /** `100mb`. */
  readonly perAccount: string;
  readonly perAccountFree: string;
}

export const responsesSection = schema<ResponsesSection>({
  type: 'object',
  additionalProperties: false,
  properties: {
    keep: {
      anyOf: [duration, { type: 'integer', const: 0 }],
      description: 'How long a response can be continued and read. 0: none is kept.',
      default: '30d',
    },
    perAccount: {
      ...size,
      description: 'Bytes kept per account, requests and responses together; the oldest are deleted first.',
      default: '100mb',
    },
    perAccountFree: {
      ...size,
      description: 'The same for free models, in addition.',
      default: '4mb',
    },
  },
  default: {},
});
