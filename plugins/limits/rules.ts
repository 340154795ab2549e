/** The section `limits` of gateway.yaml, and the list of rules it makes. */
import { schema } from '../../core/plugin.ts';

/** What one key, or one account, may have. What is left out is unlimited. */
export interface Allowed {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly concurrent?: number;
}
/** The section: limits of each key, and of all keys of an account together. */
export interface LimitsSection extends Allowed {
  readonly perAccount?: Allowed;
}

export type Whose = 'key' | 'account';
export type WindowKind = 'requests' | 'tokens';

/** At most `limit` within any minute. */
export interface WindowRule {
  readonly kind: WindowKind;
  readonly whose: Whose;
  /** Its name in gateway.yaml: `perAccount.tokensPerMinute`. */
  readonly option: string;
  readonly limit: number;
}
/** At most `limit` at a time. */
export interface Gate {
  readonly whose: Whose;
  readonly option: string;
  readonly limit: number;
}

const count = { type: 'integer', minimum: 1 };
const allowed = {
  requestsPerMinute: { ...count, description: 'Requests within any minute.' },
  tokensPerMinute: { ...count, description: 'Input and output tokens within any minute.' },
  concurrent: { ...count, description: 'Calls running at a time.' },
};

/** How the section must look. */
export const limits = schema<LimitsSection>({
  type: 'object',
  description: 'Limits of each key; without this section there are none.',
  additionalProperties: false,
  default: {},
  properties: {
    ...allowed,
    perAccount: {
      type: 'object',
      description: 'Limits of all keys of an account together.',
      additionalProperties: false,
      properties: allowed,
    },
  },
});

/** The rules in the order in which they are asked: requests, tokens, and last the gates. */
export function rulesOf(section: LimitsSection): {
  readonly windows: readonly WindowRule[];
  readonly gates: readonly Gate[];
} {
  const scopes = [
    { whose: 'key', prefix: '', allowed: section },
    { whose: 'account', prefix: 'perAccount.', allowed: section.perAccount ?? {} },
  ] as const;
  const kinds = [
    ['requests', 'requestsPerMinute'],
    ['tokens', 'tokensPerMinute'],
  ] as const;
  const windows: WindowRule[] = [];
  for (const [kind, option] of kinds) {
    for (const { whose, prefix, allowed } of scopes) {
      const limit = allowed[option];
      if (limit !== undefined) windows.push({ kind, whose, option: `${prefix}${option}`, limit });
    }
  }
  const gates: Gate[] = [];
  for (const { whose, prefix, allowed } of scopes) {
    const limit = allowed.concurrent;
    if (limit !== undefined) gates.push({ whose, option: `${prefix}concurrent`, limit });
  }
  return { windows, gates };
}
