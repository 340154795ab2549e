/** The maximum cost of a call and the buckets that would pay for it, for `turnpike explain`. */
import type { Bounds } from '../../core/contracts/formats/call.ts';
import { inQuota, type Ledger } from '../../core/contracts/ledger.ts';
import type { Tariff } from '../../core/contracts/prices.ts';
import type { Explanation, Known, Uses } from '../../core/plugin.ts';
import { decimalText } from '../../core/sdk.ts';
import { type Calls, isGuess, WHOLE_ANSWER } from './calls.ts';
import { indebted, insufficient, leastOf, leftInEach } from './refusals.ts';
import type { ReservationSize } from './sizes.ts';
import type { Terms, TermsOf } from './terms.ts';

const NOTHING = { amount: 0n, care: 'strict', output: undefined, limit: undefined } as const;

/** Explains calls: the amount that would be reserved, and whether every bucket has it. Refuses as `admit` would. */
export function createExplain(tools: {
  readonly tariff: Tariff;
  readonly calls: Calls;
  readonly ledger: Ledger;
  readonly termsOf: TermsOf;
}): (x: Known) => AsyncIterable<Explanation> {
  const { tariff, calls, ledger, termsOf } = tools;
  /** The terms that `admit` would choose. */
  async function chosenTerms(x: Known): Promise<Terms> {
    const { beyond, ...terms } = await termsOf(x);
    if (beyond === undefined) return terms;
    const layers = await leftInEach(ledger, x.identity.account.id, x.identity.key.id, terms);
    const fits = ({ room, limit = WHOLE_ANSWER }: ReservationSize): boolean =>
      limit >= WHOLE_ANSWER && layers.every(([, left]) => left === undefined || room <= left);
    const sizes = [...calls.sizes(x, terms)];
    return sizes.length === 0 || sizes.some(fits) ? terms : beyond;
  }

  return async function* explain(x) {
    const { account, key } = x.identity;
    const terms = await chosenTerms(x);
    const { factor, group } = terms;
    if (factor !== undefined) {
      const who = group === undefined ? 'the department pays' : 'group and department pay';
      yield `${who} ${decimalText(factor)} of the price`;
    }
    const sizes = [...calls.sizes(x, terms)];
    const layers = await leftInEach(ledger, account.id, key.id, terms);
    const chosen = sizes.find(({ room }) => layers.every(([, left]) => left === undefined || room <= left));
    const { amount, care, output: covered, limit } = chosen ?? sizes[0] ?? NOTHING;
    const isOpen = isGuess(
      limit === undefined ? x.call : { ...x.call, bounds: { ...x.call.bounds, outputTokens: limit } },
    );
    yield { facts: { most: `${amount}`, isGuess: isOpen, ...(limit !== undefined && { outputLimit: limit }) } };
    if (amount === 0n) {
      yield 'nothing is reserved';
      return;
    }
    if (terms.refusal !== undefined) throw terms.refusal;
    const owed = await ledger.debt(account.id);
    if (owed > 0n) throw indebted(owed);
    const { bounds } = x.call;
    const { input, output, uses } = tariff.tokens(bounds, care, covered);
    const most = [`${input} input and ${output} output tokens`, ...unitsIn(bounds), ...usesIn(uses)];
    yield `reserves ${inQuota(amount)} quota: at most ${most.join(', ')}`;
    if (limit !== undefined) yield `the vendor gets a limit of ${limit} output tokens: more cannot be reserved`;
    if (isOpen)
      yield 'that is an estimate that grows with the answer: the call does not limit all of its output, or has media or vendor-side tools';
    if (!terms.fromAccount) yield 'the account is not charged: the subscription includes the call';
    for (const [{ title }, left] of layers) {
      if (left === undefined) yield `${title} is not limited`;
      else yield `${title} has ${inQuota(left)} quota left: ${left >= amount ? 'enough' : 'too little'}`;
    }
    if (chosen !== undefined) return;
    const smallest = leastOf(
      sizes.map((size) => size.amount),
      amount,
    );
    const lacking = layers.find(([, left]) => left !== undefined && left < smallest)?.[0];
    if (lacking !== undefined) throw await insufficient(ledger, lacking, smallest);
  };
}

function usesIn(uses: Uses | undefined): readonly string[] {
  return Object.entries(uses ?? {}).map(([name, count]) => `uses of ${name}: ${count}`);
}

/** Usage that is not counted in tokens. */
function unitsIn({ images, seconds, characters }: Bounds): readonly string[] {
  return [
    ...(images === undefined ? [] : [`images: ${images.count}`]),
    ...(seconds === undefined ? [] : [`seconds of audio: ${Math.ceil(seconds)}`]),
    ...(characters === undefined ? [] : [`characters: ${characters}`]),
  ];
}
