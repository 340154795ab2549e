/** The section `cache` of gateway.yaml. */
import { schema } from '../../core/plugin.ts';
import { duration, type Scope, scopeProperties, size } from '../../core/sdk.ts';

/** The section. */
export interface CacheSection extends Scope {
  /** How long an answer is kept; `0s`: nothing is cached. */
  readonly ttl: string;
  /** The most that all answers of a process take. */
  readonly maxBytes: string;
  /** What part of the model's price a hit costs. */
  readonly price: number;
  readonly calls: 'deterministic' | 'all';
}

/** How the section must look. */
export const cacheSection = schema<CacheSection>({
  type: 'object',
  description: 'Answers that are kept for a while, and given again to the same request of the same account.',
  additionalProperties: false,
  default: { ttl: '0s', maxBytes: '64mb', price: 0, calls: 'deterministic' },
  properties: {
    ttl: { ...duration, default: '0s', description: 'How long an answer is kept; `0s`: nothing is cached.' },
    maxBytes: {
      ...size,
      default: '64mb',
      description:
        'The most that all answers take, in each process; those that were not requested longest are dropped.',
    },
    price: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 0,
      description: 'What part of the price of its model an answer from the cache costs: 0 nothing, 1 the full price.',
    },
    calls: {
      enum: ['deterministic', 'all'],
      default: 'deterministic',
      description: '`deterministic`: only calls with temperature 0. `all`: whatever their temperature.',
    },
    ...scopeProperties,
  },
});
