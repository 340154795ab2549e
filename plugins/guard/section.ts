/** The section `guard` of gateway.yaml, and its compiled rules: what each one matches, and which calls it applies to. */
import { type Finder, patternFinder, wordFinder } from '../../core/contracts/matching.ts';
import { type Accepted, type Host, type Known, typed } from '../../core/plugin.ts';
import { isInScope, scopeProperties } from '../../core/sdk.ts';

export const guardSection = typed({
  type: 'object',
  description: 'Words and patterns that are refused or redacted in requests and answers.',
  additionalProperties: false,
  default: { rules: [], window: 200 },
  properties: {
    window: {
      type: 'integer',
      minimum: 1,
      maximum: 10_000,
      default: 200,
      description: 'Characters of a streamed answer that are held back: a match must not be longer.',
    },
    rules: {
      type: 'array',
      default: [],
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        oneOf: [{ required: ['words'] }, { required: ['pattern'] }],
        properties: {
          name: { type: 'string', pattern: '^[\\w -]{1,60}$', description: 'Clients and usage records see it.' },
          words: {
            type: 'array',
            minItems: 1,
            items: { type: 'string', minLength: 1, maxLength: 200 },
            description: 'Whole words and phrases, case-insensitive.',
          },
          pattern: { type: 'string', minLength: 1, description: 'A regular expression in the syntax of RE2.' },
          where: { enum: ['input', 'output', 'both'], default: 'both', description: 'Requests, answers, or both.' },
          action: { enum: ['refuse', 'redact'], default: 'refuse' },
          replacement: { type: 'string', default: '[redacted]', description: 'The replacement text of `redact`.' },
          ...scopeProperties,
        },
      },
    },
  },
});

/** A rule in gateway.yaml. It has `words` or a `pattern`. */
export type RuleEntry = Accepted<typeof guardSection>['rules'][number];

/** A compiled rule. */
export interface Rule extends Finder, Pick<RuleEntry, 'name' | 'action' | 'where' | 'replacement'> {
  readonly entry: RuleEntry;
}

/** Compiles a rule. Throws an `Error` that describes what is wrong with its pattern. */
export function createRule(entry: RuleEntry): Rule {
  const { name, action, where, replacement, words, pattern } = entry;
  const { find } = pattern === undefined ? wordFinder(words ?? []) : patternFinder(pattern);
  return { name, action, where, replacement, find, entry };
}

/** The rules that apply to the requests, or to the answers, of a call. */
export function rulesFor(
  rules: readonly Rule[],
  x: Known,
  side: 'input' | 'output',
  host: Pick<Host, 'find'>,
): readonly Rule[] {
  return rules.filter(({ where, entry }) => (where === side || where === 'both') && isInScope(entry, x, host));
}
