/** The section `pseudonyms` of gateway.yaml, and the kinds of personal data that are recognized by their form. */

import { type Finder, type Match, patternFinder } from '../../core/contracts/matching.ts';
import { type Accepted, typed } from '../../core/plugin.ts';
import { scopeProperties } from '../../core/sdk.ts';
import { ibansIn } from './iban.ts';

/** By name in gateway.yaml: the name of their placeholders, and a pattern in the syntax of RE2; cards have a check digit (`findCard`). */
export const BUILT_IN = {
  email: {
    kind: 'EMAIL',
    // Quotation marks around an address are not a part of it.
    pattern: String.raw`[\p{L}\p{N}._%+-](?:[\p{L}\p{N}._%+'\x{2019}!$*^{|}~-]*[\p{L}\p{N}._%+!$*^{|}~-])?@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}`,
  },
  iban: {
    kind: 'IBAN',
    pattern: String.raw`\b[A-Z]{2}\d{2}(?:[ \x{a0}\x{202f}]?[A-Z0-9]{4}){2,7}(?:[ \x{a0}\x{202f}]?[A-Z0-9]{1,3})?\b`,
  },
  card: { kind: 'CARD', pattern: '' },
  ip: { kind: 'IP', pattern: String.raw`\b\d{1,3}(?:\.\d{1,3}){3}\b` },
  phone: {
    kind: 'PHONE',
    pattern: String.raw`(?:\+|\b0)[1-9](?:[ \x{a0}\x{202f}()/.-]{0,2}\d){6,14}\b|\(\d{3}\) ?\d{3}-\d{4}\b|\b\d{3}-\d{3}-\d{4}\b`,
  },
} as const;

/** Creates the finder of a kind. */
export function builtIn(name: keyof typeof BUILT_IN): Finder {
  if (name === 'card') return { find: findCard };
  const finder = patternFinder(BUILT_IN[name].pattern);
  return name === 'iban' ? ibansIn(finder) : finder;
}

const DIGITS = { least: 13, most: 19 };

/** Digits that are not part of a word. */
const GROUP = /(?<![0-9A-Za-z_])\d+(?![0-9A-Za-z_])/g;
/** One group at this position, behind at most one separator. */
const NEXT_GROUP = /[ \u00a0\u202f-]\d+(?![0-9A-Za-z_])/y;

/**
 * Finds card numbers: groups of digits with a valid check digit, of cards that begin at the same group the longest. Looks at no more groups than a
 * card can have, so that the time grows with the text alone.
 */
function findCard(text: string, from: number): Match | undefined {
  GROUP.lastIndex = from;
  for (let group = GROUP.exec(text); group !== null; group = GROUP.exec(text)) {
    const start = group.index;
    let digits = group[0].length;
    let end = start + digits;
    let found: number | undefined;
    while (digits <= DIGITS.most) {
      if (isCard(text.slice(start, end))) found = end;
      NEXT_GROUP.lastIndex = end;
      const next = NEXT_GROUP.exec(text)?.[0];
      if (next === undefined) break;
      digits += next.length - 1;
      end += next.length;
    }
    if (found !== undefined) return { start, end: found };
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

const kind = {
  type: 'string',
  pattern: '^[A-Z][A-Z_]{0,19}$',
  description: 'The name of the placeholders: `CUSTOMER` becomes `[CUSTOMER_1]`.',
} as const;

export const pseudonymsSection = typed({
  type: 'object',
  description: 'Personal data that vendors do not get: placeholders are sent, and replaced again in the answer.',
  additionalProperties: false,
  default: { find: [], lists: [], patterns: [] },
  properties: {
    find: {
      type: 'array',
      uniqueItems: true,
      default: [],
      items: { enum: Object.keys(BUILT_IN) as (keyof typeof BUILT_IN)[] },
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

export type PseudonymsSection = Accepted<typeof pseudonymsSection>;
