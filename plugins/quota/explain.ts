/** What a call may cost and who would pay for it, for `turnpike explain`. */
import type { Bounds } from '../../core/contracts/call.ts';
import type { Ledger } from '../../core/contracts/ledger.ts';
import type { Explanation, Known } from '../../core/plugin.ts';
import { type Calls, isGuess } from './calls.ts';
import { decimalText } from './decimal.ts';
import { type EstimateOptions, tokenBounds } from './estimate.ts';
import { inQuota } from './in-quota.ts';
import { type AskedLayer, indebted, insufficient, layersOf, leftIn } from './refusals.ts';
import type { Tariff } from './tariff.ts';
import type { TermsOf } from './terms.ts';

/** Explains calls: the prices that apply, what would be held, and whether every layer has it. Refuses as `admit` would. */
export function createExplain(tools: {
  readonly tariff: Tariff;
  readonly calls: Calls;
  readonly ledger: Ledger;
  readonly termsOf: TermsOf;
  readonly estimate: EstimateOptions;
}): (x: Known) => AsyncIterable<Explanation> {
  const { tariff, calls, ledger, termsOf, estimate } = tools;
  return async function* explain(x) {
    yield* tariff.lines(x.startedMs, x.call.model);
    const { account, key } = x.identity;
    const terms = await termsOf(account.id, x.startedMs);
    const { factorPpm } = terms;
    if (factorPpm !== undefined)
      yield `the department pays ${decimalText({ digits: factorPpm, scale: 6 })} of the price`;
    const amount = calls.most(x, terms);
    yield { facts: { most: `${amount}`, isGuess: isGuess(x) } };
    if (amount === 0n) {
      yield 'nothing is held';
      return;
    }
    const { input, output } = tokenBounds(x.call.bounds, estimate);
    const most = [`${input} input and ${output} output tokens`, ...unitsIn(x.call.bounds)];
    yield `holds ${inQuota(amount)} quota: at most ${most.join(', ')}`;
    if (isGuess(x)) {
      yield 'that is a guess, and grows with the answer: the call limits not all of its output, or holds media or tools of the vendor';
    }
    if (terms.refusal !== undefined) throw terms.refusal;
    const owed = await ledger.debt(account.id);
    if (owed > 0n) throw indebted(owed);
    let refusedBy: AskedLayer | undefined;
    for (const asked of layersOf(account.id, key.id, terms)) {
      if (asked.layer.kind === 'account' && !terms.fromAccount) {
        yield 'the account pays nothing: the subscription includes it';
        continue;
      }
      const left = await leftIn(ledger, asked);
      if (left === undefined) {
        yield `${asked.title} is not limited`;
        continue;
      }
      yield `${asked.title} has ${inQuota(left)} quota left: ${left >= amount ? 'enough' : 'too little'}`;
      if (left < amount) refusedBy ??= asked;
    }
    if (refusedBy !== undefined) throw await insufficient(ledger, refusedBy, amount);
  };
}

/** What is not counted in tokens. */
function unitsIn({ images, seconds, characters }: Bounds): readonly string[] {
  return [
    ...(images === undefined ? [] : [`images: ${images.count}`]),
    ...(seconds === undefined ? [] : [`seconds of sound: ${Math.ceil(seconds)}`]),
    ...(characters === undefined ? [] : [`characters: ${characters}`]),
  ];
}
