/** The section `limits` of gateway.yaml, and its rules. */
import type { KeyLimit } from '../../core/contracts/identity.ts';
import { type Accepted, typed } from '../../core/plugin.ts';
import { settings } from '../../core/sdk.ts';

export type Whose = 'key' | 'account';
export type WindowKind = 'requests' | 'tokens';

/** At most `limit` within any minute. */
export interface WindowRule extends GateRule {
  readonly kind: WindowKind;
}
/** At most `limit` at the same time. */
export interface GateRule {
  readonly whose: Whose;
  /** The option in gateway.yaml: `perAccount.tokensPerMinute`, or one of the key: `own requests_per_minute for "gpt-*"`. */
  readonly option: string;
  readonly limit: number;
}

const count = { type: 'integer', minimum: 1 } as const;
const allowed = {
  requestsPerMinute: { ...count, description: 'Requests within any minute.' },
  tokensPerMinute: { ...count, description: 'Input and output tokens within any minute.' },
  concurrent: { ...count, description: 'Concurrent calls.' },
} as const;

export const limits = typed(
  settings('Limits of each key; without this section there are none.', {
    ...allowed,
    perAccount: {
      type: 'object',
      description: 'Limits of all keys of an account together.',
      additionalProperties: false,
      properties: allowed,
    },
  }),
);

/** Limits of each key, and of all keys of an account together. Omitted ones are unlimited. */
export type LimitsSection = Accepted<typeof limits>;

/** The rules in the order of evaluation: those of the key first. */
export interface Rules {
  readonly requests: readonly WindowRule[];
  readonly tokens: readonly WindowRule[];
  readonly gates: readonly GateRule[];
}

/** The rules of a section. */
export function rulesOf(section: LimitsSection): Rules {
  const limitsOf = (name: keyof typeof allowed): readonly GateRule[] => [
    ...limited('key', name, section[name]),
    ...limited('account', `perAccount.${name}`, section.perAccount?.[name]),
  ];
  const windowsOf = (kind: WindowKind): readonly WindowRule[] =>
    limitsOf(`${kind}PerMinute`).map((gate) => ({ ...gate, kind }));
  return { requests: windowsOf('requests'), tokens: windowsOf('tokens'), gates: limitsOf('concurrent') };
}

/** The rules of a key's own limit. */
export function rulesOfKey({ model, requestsPerMinute, tokensPerMinute, concurrent }: KeyLimit): Rules {
  const named = (name: string): string => `own ${name}${model === undefined ? '' : ` for "${model}"`}`;
  const windows = (kind: WindowKind, limit: number | undefined): readonly WindowRule[] =>
    limited('key', named(`${kind}_per_minute`), limit).map((gate) => ({ ...gate, kind }));
  return {
    requests: windows('requests', requestsPerMinute),
    tokens: windows('tokens', tokensPerMinute),
    gates: limited('key', named('concurrent'), concurrent),
  };
}

function limited(whose: Whose, option: string, limit: number | undefined): readonly GateRule[] {
  return limit === undefined ? [] : [{ whose, option, limit }];
}
