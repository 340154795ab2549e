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
export interface WindowRule extends GateRule {
  readonly kind: WindowKind;
}
/** At most `limit` at a time. */
export interface GateRule {
  readonly whose: Whose;
  /** Its name in gateway.yaml: `perAccount.tokensPerMinute`. */
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

/** The rules, each list in the order in which it is asked: those of the key first. */
export interface Rules {
  readonly requests: readonly WindowRule[];
  readonly tokens: readonly WindowRule[];
  readonly gates: readonly GateRule[];
}

/** The rules that a section makes. */
export function rulesOf(section: LimitsSection): Rules {
  const limitsOf = (name: keyof Allowed): readonly GateRule[] => [
    ...limited('key', name, section[name]),
    ...limited('account', `perAccount.${name}`, section.perAccount?.[name]),
  ];
  const windowsOf = (kind: WindowKind): readonly WindowRule[] =>
    limitsOf(`${kind}PerMinute`).map((gate) => ({ ...gate, kind }));
  return { requests: windowsOf('requests'), tokens: windowsOf('tokens'), gates: limitsOf('concurrent') };
}

function limited(whose: Whose, option: string, limit: number | undefined): readonly GateRule[] {
  return limit === undefined ? [] : [{ whose, option, limit }];
}
