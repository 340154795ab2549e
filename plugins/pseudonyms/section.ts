/** The section `pseudonyms` of gateway.yaml, and the kinds of personal data that are recognized by their form. */

import { type Finder, type Match, patternFinder } from '../../core/contracts/matching.ts';
import { schema } from '../../core/plugin.ts';
import { type Scope, scopeProperties } from '../../core/sdk.ts';

/** By name in gateway.yaml: the name of their placeholders, and a pattern in the syntax of RE2. */
export const BUILT_IN = {
  email: { kind: 'EMAIL', pattern: String.raw`[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}` },
  iban: { kind: 'IBAN', pattern: String.raw`\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b` },
  card: { kind: 'CARD', pattern: String.raw`\b\d(?:[ -]?\d){12,}\b` },
  ip: { kind: 'IP', pattern: String.raw`\b\d{1,3}(?:\.\d{1,3}){3}\b` },
  phone: {
    kind: 'PHONE',
    pattern: String.raw`(?:\+|\b0)[1-9](?:[ ()/.-]{0,2}\d){6,14}\b|\(\d{3}\) ?\d{3}-\d{4}\b|\b\d{3}-\d{3}-\d{4}\b`,
  },
} as const;

/** Creates the finder of a kind. */
export function builtIn(name: keyof typeof BUILT_IN): Finder {
  const finder = patternFinder(BUILT_IN[name].pattern);
  return name === 'card' ? cardsIn(finder) : finder;
}

const DIGITS = { least: 13, most: 19 };

/** Finds card numbers: digit groups with a valid check digit. */
function cardsIn(rows: Finder): Finder {
  return {
    find(text, from) {
      for (let row = rows.find(text, from); row !== undefined; row = rows.find(text, row.end)) {
        const card = cardIn(text.slice(row.start, row.end));
        if (card !== undefined) return { start: row.start + card.start, end: row.start + card.end };
      }
      return undefined;
    },
  };
}

function cardIn(row: string): Match | undefined {
  const groups = [...row.matchAll(/\d+/g)].map(({ 0: digits, index }) => ({
    start: index,
    end: index + digits.length,
  }));
  for (const [first, { start }] of groups.entries()) {
    // Of the cards that begin here, the longest.
    for (const { end } of groups.slice(first, first + DIGITS.most).reverse()) {
      if (isCard(row.slice(start, end))) return { start, end };
    }
  }
  return undefined;
}

/** The Luhn check: every second digit from the end is doubled. */
function isCard(text: string): boolean {
  const digits = [...text.replaceAll(/\D/g, '')].map(Number).reverse();
  if (digits.length < DIGITS.least || digits.length > DIGITS.most) return false;
  const sum = digits.reduce((total, digit, i) => {
    const counted = i % 2 === 1 ? digit * 2 : digit;
    return total + (counted > 9 ? counted - 9 : counted);
  }, 0);
  return sum % 10 === 0;
}

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
