/**
 * Billing expressions of new-api as prices. Facts: QuantumNous/new-api, `pkg/billingexpr/expr.md` (4b1ad717, read in November 2026): a term is a
 * kind of tokens times dollars per million; `tier(name, value)` names a tier, conditions choose one, `fixed(dollars)` is a price per call.
 */
import type { Decimal } from '../../../core/sdk.ts';
import type { ForeignPrice } from '../inventory.ts';
import { amountOf } from '../values.ts';
import { amountText, ONE, times } from './amounts.ts';

/** The rate of each kind of tokens. */
const VARIABLES: Readonly<Record<string, string>> = {
  p: 'input',
  c: 'output',
  cr: 'cacheRead',
  cc: 'cacheWrite',
  cc1h: 'cacheWriteLong',
  img: 'inputImage',
  ai: 'inputAudio',
  img_o: 'outputImage',
  ao: 'outputAudio',
};

/** The longest expression that is read: that of a price has some hundred characters. */
const LONGEST = 4_000;

/** A price, or why there is none. */
export type Said =
  | { readonly price: ForeignPrice; readonly why?: never }
  | { readonly price?: never; readonly why: string };

/** The price that an expression says. */
export function priceOfExpression(text: string): Said {
  const source = text.trim().replace(/^v1:/, '');
  if (source === '') return { why: 'it is empty' };
  // It is read by functions that call themselves.
  if (source.length > LONGEST) return { why: `it has more than ${LONGEST} characters` };
  if (source.includes('|||')) return { why: 'it depends on the request' };
  try {
    const reader = readerOf(source);
    const levels = readTree(reader);
    if (reader.peek() !== undefined) throw new Unsaid(`after its end there is ${reader.peek()}`);
    return { price: priceOfLevels(levels) };
  } catch (error) {
    if (error instanceof Unsaid) return { why: error.message };
    throw error;
  }
}

class Unsaid extends Error {}

/** Amounts of the calls with more than `above` input tokens, up to the next level. */
interface Level {
  readonly above: number;
  readonly terms: Terms;
}

/** Dollars per million by variable; `fixed`: dollars per call. */
type Terms = ReadonlyMap<string, Decimal>;

interface Reader {
  peek(): string | undefined;
  take(expected?: string): string;
}

function readerOf(source: string): Reader {
  const tokens =
    source.match(/"(?:[^"\\]|\\.)*"|\d+(?:_\d+)*(?:\.\d+)?(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|<=|>=|==|!=|&&|\|\||\S/g) ??
    [];
  let at = 0;
  return {
    peek: () => tokens[at],
    take(expected) {
      const token = tokens[at++];
      if (token === undefined || (expected !== undefined && token !== expected)) {
        throw new Unsaid(`it has ${token ?? 'an end'} where only ${expected ?? 'more'} can be a price`);
      }
      return token;
    },
  };
}

const NUMBER = /^\d/;
function numberOf(token: string): Decimal {
  const amount = amountOf(token.replaceAll('_', '').toLowerCase().replace(/e(\d)/, 'e+$1'));
  if (amount === undefined) throw new Unsaid('one of its numbers is too long, or none');
  return amount;
}

/** `len <= 200000 ? tier(…) : …`, or one tier; the levels in order of their borders. */
function readTree(reader: Reader): readonly Level[] {
  const name = reader.peek();
  if (name === '(') {
    reader.take('(');
    const inner = readTree(reader);
    reader.take(')');
    if (reader.peek() === '*') throw new Unsaid('it depends on the request');
    return inner;
  }
  if (name !== 'len' && name !== 'p') return [{ above: 0, terms: readTier(reader) }];
  const mark = reader.take();
  const comparison = reader.peek();
  if (comparison === undefined || !['<', '<=', '>', '>='].includes(comparison)) {
    // It was the first term of a price, not a condition.
    return [{ above: 0, terms: readSum(reader, mark) }];
  }
  reader.take();
  const token = reader.take();
  const border = NUMBER.test(token) ? Number(token.replaceAll('_', '')) : Number.NaN;
  if (!Number.isSafeInteger(border)) throw new Unsaid('it compares with something else than a number of tokens');
  reader.take('?');
  const yes = readTree(reader);
  reader.take(':');
  const no = readTree(reader);
  if (
    mark === 'p' &&
    [...yes, ...no].some(({ terms }) => ['cr', 'cc', 'cc1h', 'img', 'ai'].some((each) => terms.has(each)))
  ) {
    throw new Unsaid('its tiers depend on input without cached, image and audio tokens');
  }
  // The last number of tokens of the lower part.
  const last = comparison === '<' || comparison === '>=' ? border - 1 : border;
  const [low, high] = comparison.startsWith('<') ? [yes, no] : [no, yes];
  return [
    ...low.filter(({ above }) => above < last || above === 0),
    { above: last, terms: high.findLast(({ above }) => above <= last)!.terms },
    ...high.filter(({ above }) => above > last),
  ];
}

function readTier(reader: Reader): Terms {
  if (reader.peek() !== 'tier') return readSum(reader);
  reader.take('tier');
  reader.take('(');
  if (!reader.take().startsWith('"')) throw new Unsaid('a tier has no name');
  reader.take(',');
  const terms = readSum(reader);
  reader.take(')');
  if (['*', '+', '-', '/'].includes(reader.peek() ?? '')) throw new Unsaid('it depends on more than tokens and tiers');
  return terms;
}

/** `p * 3 + c * 15`; `first` was taken already. */
function readSum(reader: Reader, first?: string): Terms {
  const terms = new Map<string, Decimal>();
  let begun = first;
  do {
    const { variable, amount } = readTerm(reader, begun);
    begun = undefined;
    if (terms.has(variable)) throw new Unsaid(`it has ${variable} twice`);
    terms.set(variable, amount);
  } while (reader.peek() === '+' && reader.take('+'));
  if (terms.has('fixed') && terms.size > 1) throw new Unsaid('it has a fixed amount among others');
  return terms;
}

function readTerm(reader: Reader, first?: string): { readonly variable: string; readonly amount: Decimal } {
  let variable: string | undefined;
  let amount = ONE;
  let token = first ?? reader.take();
  for (;;) {
    if (NUMBER.test(token)) amount = times(amount, numberOf(token));
    else if (variable === undefined && Object.hasOwn(VARIABLES, token)) variable = token;
    else if (variable === undefined && token === 'fixed') {
      reader.take('(');
      amount = times(amount, numberOf(reader.take()));
      reader.take(')');
      variable = 'fixed';
    } else throw new Unsaid(`it depends on ${token}`);
    if (reader.peek() !== '*') break;
    reader.take('*');
    token = reader.take();
  }
  if (variable === undefined) throw new Unsaid('it has an amount that depends on nothing');
  return { variable, amount };
}

function priceOfLevels(levels: readonly Level[]): ForeignPrice {
  const [base, ...others] = levels;
  if (base === undefined) throw new Unsaid('it has no tier');
  const rates = (terms: Terms): Record<string, string> =>
    Object.fromEntries(
      [...terms].map(([variable, amount]) => {
        const text = amountText(amount);
        if (text === undefined) throw new Unsaid('an amount is too high');
        return [variable === 'fixed' ? 'perRequest' : VARIABLES[variable]!, text];
      }),
    );
  if (others.length > 0 && levels.some(({ terms }) => terms.has('fixed'))) {
    throw new Unsaid('a tier of it is a price per call');
  }
  // A tier without a rate has that of the tier below here, and that of its input or output there.
  for (const { terms } of others) {
    if (levels[0]!.terms.size !== terms.size || [...terms.keys()].some((each) => !base.terms.has(each))) {
      throw new Unsaid('its tiers price other kinds of tokens');
    }
  }
  const price = { ...(base.terms.has('fixed') ? {} : { input: '0', output: '0' }), ...rates(base.terms) };
  if (others.length === 0) return price;
  return { ...price, tiers: others.map(({ above, terms }) => ({ above: String(above), ...rates(terms) })) };
}
