/** The section `pseudonyms` of gateway.yaml. */
import { schema } from '../../core/plugin.ts';
import { type Scope, scopeProperties } from '../../core/sdk.ts';
import { BUILT_IN } from './kinds.ts';

/** The section. */
export interface PseudonymsSection extends Scope {
  readonly find: readonly (keyof typeof BUILT_IN)[];
  readonly lists: readonly { readonly kind: string; readonly words: readonly string[] }[];
  readonly patterns: readonly { readonly kind: string; readonly pattern: string }[];
}

const kind = {
  type: 'string',
  pattern: '^[A-Z][A-Z_]{0,19}$',
  description: 'The name of the placeholders: `CUSTOMER` becomes `[CUSTOMER_1]`.',
};

export const pseudonymsSection = schema<PseudonymsSection>({
  type: 'object',
  description: 'Personal data that vendors do not get: placeholders are sent, and replaced again in the answer.',
  additionalProperties: false,
  default: { find: [], lists: [], patterns: [] },
  properties: {
    find: {
      type: 'array',
      uniqueItems: true,
      default: [],
      items: { enum: Object.keys(BUILT_IN) },
      description:
        'Kinds that are recognized by their form: email addresses, phone numbers, IBANs, card numbers, IPv4 addresses.',
    },
    lists: {
      type: 'array',
      default: [],
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['kind', 'words'],
        properties: {
          kind,
          words: {
            type: 'array',
            minItems: 1,
            items: { type: 'string', minLength: 1, maxLength: 200 },
            description: 'Names, addresses and so on: whole words and phrases, case-insensitive.',
          },
        },
      },
    },
    patterns: {
      type: 'array',
      default: [],
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['kind', 'pattern'],
        properties: {
          kind,
          pattern: { type: 'string', minLength: 1, description: 'A regular expression in the syntax of RE2.' },
        },
      },
    },
    ...scopeProperties,
  },
});
