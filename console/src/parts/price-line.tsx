/** Prices in currency; quota units in a tooltip. */
import { Tooltip } from '@mantine/core';
import { useStatus } from '../api/hooks.ts';
import { useFormat } from '../shell/format.ts';
import type { ModelCard } from './model-card.ts';
import { Small } from './page.tsx';
import { type AmountField, amountsOf, unitOf, useAmount, useAmountText } from './price-amounts.ts';

type PricedCard = Pick<ModelCard, 'free' | 'price'>;

/** An amount with quota units in a tooltip. `field`: its rate. */
export function PriceOf({ amount, field }: { readonly amount: string; readonly field: AmountField }) {
  const text = useAmountText();
  const format = useFormat();
  const amountText = useAmount();
  const status = useStatus();
  const quota = format.quota(Number(amount) * (status?.quota_per_unit ?? 500_000));
  return (
    <Tooltip label={text.quotaFor(quota, text.units[unitOf(field)])}>
      <span className="number">{amountText(amount)}</span>
    </Tooltip>
  );
}

/** A price on one line, as text. */
export function usePriceLine(): (card: PricedCard) => string {
  const text = useAmountText();
  const amountText = useAmount();
  return ({ free, price }) => {
    if (free || price?.free === true) return text.words.free;
    if (price === null) return text.refused;
    const { input, output } = price;
    if (input !== undefined && output !== undefined) return text.inAndOut(amountText(input), amountText(output));
    const [first] = amountsOf(price);
    return first === undefined ? price.text : `${amountText(first[1])} ${text.units[unitOf(first[0])]}`;
  };
}

/** The price in a cell: input and output, or the only rate. */
export function PriceCell({ card: { free, price } }: { readonly card: PricedCard }) {
  const text = useAmountText();
  if (free || price?.free === true) return text.words.free;
  // Touch and keyboard users get the consequence as text, not only as a tooltip.
  if (price === null)
    return (
      <>
        {text.words.noPrice}
        <Small>{text.callsRefused}</Small>
      </>
    );
  const sold = amountsOf(price);
  const byTokens = sold.filter(([field]) => field === 'input' || field === 'output');
  const others = sold.filter(([field]) => unitOf(field) !== 'tokens');
  if (byTokens.length + others.length === 0) return price.text;
  return (
    <>
      {byTokens.map(([field, amount], at) => (
        <span key={field} className="number">
          {at > 0 && ' / '}
          <PriceOf amount={amount} field={field} />
        </span>
      ))}
      {others.map(([field, amount], at) => (
        <div key={field}>
          {at + byTokens.length > 0 && '+ '}
          <PriceOf amount={amount} field={field} /> {text.units[unitOf(field)]}
        </div>
      ))}
    </>
  );
}
