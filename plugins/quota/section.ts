/** The section `quota` of gateway.yaml. */

import type { EstimateOptions } from '../../core/contracts/prices.ts';
import { typed } from '../../core/plugin.ts';

/** The default for estimating calls. */
export const ESTIMATE_DEFAULTS: EstimateOptions = { reserve: 'strict', assumeOutput: 4_096, mediaTokens: 3_000 };

/** Its schema. */
export const quotaSection = typed({
  type: 'object',
  additionalProperties: false,
  properties: {
    perUnit: {
      description: 'Quota units in one currency unit.',
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000_000,
      default: 500_000,
    },
    reserve: {
      description:
        'How the input of a call is estimated while the balance allows it: `strict`, one token per byte, or `estimate`, two for five bytes.',
      enum: ['strict', 'estimate'],
      default: ESTIMATE_DEFAULTS.reserve,
    },
    assumeOutput: {
      description:
        'Output tokens that an answer should have room for before its input is estimated less carefully; also assumed for each image.',
      type: 'integer',
      minimum: 1,
      maximum: 10_000_000,
      default: ESTIMATE_DEFAULTS.assumeOutput,
    },
    mediaTokens: {
      description: 'Input tokens to reserve for each image, audio clip or file.',
      type: 'integer',
      minimum: 0,
      maximum: 10_000_000,
      default: ESTIMATE_DEFAULTS.mediaTokens,
    },
    unpriced: {
      description: 'Calls of a model without a price: refused with 402, or free.',
      enum: ['refuse', 'free'],
      default: 'refuse',
    },
    welcome: {
      description: 'Quota units that a new account starts with.',
      type: 'integer',
      minimum: 0,
      maximum: 1_000_000_000_000,
      default: 0,
    },
    plans: { description: 'Moved: plans have a section of their own, `plans`.', deprecated: true },
  },
});
