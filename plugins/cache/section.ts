/** The section `cache` of gateway.yaml. */
import { schema } from '../../core/plugin.ts';
import { duration, type Scope, scopeProperties, size } from '../../core/sdk.ts';

/** The section. */
export interface CacheSection extends Scope {
  /** How long an answer is cached; `0s`: the cache is off. */
  readonly ttl: string;
  /** The maximum size of all answers of a process. */
  readonly maxBytes: string;
  /** The price of a hit as a part of the model's price. */
  readonly price: number;
  readonly calls: 'deterministic' | 'all';
}

export const cacheSection = schema<CacheSection>({
  type: 'object',
  description: 'Caches answers, and repeats them for the same request of the same account.',
  additionalProperties: false,
  default: { ttl: '0s', maxBytes: '64mb', price: 0, calls: 'deterministic' },
  properties: {
    ttl: { ...duration, default: '0s', description: 'How long an answer is cached; `0s`: the cache is off.' },
    maxBytes: {
      ...size,
      default: '64mb',
      description: 'The maximum size of all answers in each process; the least recently requested ones are dropped.',
    },
    price: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 0,
      description: "The price of a cached answer as a part of the model's price: 0 is free, 1 the full price.",
    },
    calls: {
      enum: ['deterministic', 'all'],
      default: 'deterministic',
      description: '`deterministic`: only calls with temperature 0. `all`: any temperature.',
    },
    ...scopeProperties,
  },
});
