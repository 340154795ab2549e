/** How the section `responses` must look. */
import { duration, schema } from '../../../core/plugin.ts';

export interface ResponsesSection {
  /** `30d`, or 0. */
  readonly keep: string | 0;
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
  },
  default: {},
});
