/** Buys balance: an amount with any payment method, or a product. */
import { Button, Chip, Group, Input, NumberInput, Radio, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { isAdmin, useApi, useSelf, useStatus } from '../../api/hooks.ts';
import type { TopUpInfo } from '../../api/operations.ts';
import { sentenceOf } from '../../api/refusals.ts';
import { Empty } from '../../parts/notes.tsx';
import { useMoneyOf } from '../../parts/order.tsx';
import { LinkButton, PlainButton, Section, Small } from '../../parts/page.tsx';
import { Money, useLanguage } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from './text.ts';
import { type PaymentMethod, usePaying } from './use-paying.ts';

/** The section. */
export function TopUp({ offer }: { readonly offer: Offer | undefined }) {
  const { topUp: text } = useText();
  const ways = offer === undefined ? [] : methodsOf(offer);
  const products = offer === undefined ? [] : productsOf(offer);
  return (
    <Section title={text.title}>
      {offer === undefined || (ways.length === 0 && products.length === 0) ? (
        <PaymentsOff />
      ) : (
        <Stack gap="lg">
          {ways.length > 0 && <Amount offer={offer} ways={ways} />}
          {products.length > 0 && <Products offer={offer} titled={ways.length > 0} />}
        </Stack>
      )}
    </Section>
  );
}

function PaymentsOff() {
  const { topUp: text, words } = useText();
  const admin = isAdmin(useSelf());
  return (
    <Empty title={text.off} action={admin && <LinkButton href="/payments?tab=codes">{words.createCodes}</LinkButton>}>
      {admin ? text.offAdmin : text.offAbout}
    </Empty>
  );
}

const QUOTES = {
  stripe: 'POST /api/user/stripe/amount',
  alipay: 'POST /api/user/alipay/amount',
  epay: 'POST /api/user/amount',
} as const;

function Amount({ offer, ways }: { readonly offer: Offer; readonly ways: readonly OfferedMethod[] }) {
  const { topUp: text, words } = useText();
  const format = useFormat();
  const moneyOf = useMoneyOf();
  const language = useLanguage();
  const { min_topup: least, max_topup: most, amount_options: options, prices } = offer;
  const status = useStatus();
  const units = (amount: number): string => format.money(amount * (status?.quota_per_unit ?? 500_000));
  const [chosen, setChosen] = useState(ways[0]?.key ?? '');
  const [amount, setAmount] = useState<number | string>(options[0] ?? least);
  const selected = ways.find(({ key }) => key === chosen) ?? ways[0];
  const price = prices[selected?.provider ?? ''];
  const fits = typeof amount === 'number' && Number.isInteger(amount) && amount >= least && amount <= most;
  // The gateway computes the price, because its rounding applies.
  const [quoted] = useDebouncedValue(fits ? amount : 0, 250);
  const quote = useApi(
    QUOTES[(selected?.provider ?? 'epay') as keyof typeof QUOTES] ?? QUOTES.epay,
    { body: { amount: quoted } },
    { enabled: quoted > 0, retry: false, staleTime: 60_000 },
  );
  const paying = usePaying();
  const isQuoted = fits && quoted === amount && quote.data !== undefined && price !== undefined;
  const money = isQuoted ? moneyOf(quote.data, price.currency) : undefined;
  return (
    <Stack gap="md">
      <MethodChoice
        label={words.paymentMethod}
        ways={ways}
        value={selected?.key ?? ''}
        onChange={setChosen}
        about={({ provider }) => {
          const each = prices[provider];
          // If both amounts are equal, the line is left out.
          if (each === undefined || (each.currency === 'USD' && Number(each.price) === 1)) return null;
          return text.unitCosts(units(1), moneyOf(each.price, each.currency));
        }}
      />
      <Stack gap="xs">
        {options.length > 0 && (
          <Input.Wrapper label={words.amount} labelElement="div" labelProps={{ id: 'top-up-amount' }}>
            <Chip.Group value={`${amount}`} onChange={(value) => setAmount(Number(value))}>
              <Group gap={6} mt={4} role="radiogroup" aria-labelledby="top-up-amount">
                {options.map((option) => (
                  <Chip key={option} value={`${option}`} size="sm" radius="sm">
                    {units(option)}
                  </Chip>
                ))}
              </Group>
            </Chip.Group>
          </Input.Wrapper>
        )}
        <NumberInput
          label={options.length > 0 ? text.own : words.amount}
          description={text.between(units(least), units(most))}
          value={amount}
          onChange={setAmount}
          min={least}
          max={most}
          clampBehavior="none"
          allowDecimal={false}
          allowNegative={false}
          thousandSeparator=","
          prefix="$"
          maw="16rem"
          error={fits || amount === '' ? undefined : text.between(units(least), units(most))}
        />
      </Stack>
      <Group justify="space-between" gap="sm" align="flex-end">
        <Stack gap={0} flex="1 1 14rem">
          <Text size="sm" fw={500} aria-live="polite">
            {quote.isError
              ? sentenceOf(quote.error, language)
              : money !== undefined && text.youPay(money, units(Number(amount)))}
          </Text>
          <Small>{text.leaves}</Small>
        </Stack>
        <Button
          disabled={!fits}
          loading={paying.busy}
          onClick={() =>
            selected !== undefined && paying.mutate({ item: { amount: Number(amount) }, method: selected })
          }
        >
          {money === undefined ? text.payPlain : text.pay(money)}
        </Button>
      </Group>
    </Stack>
  );
}

function Products({ offer, titled }: { readonly offer: Offer; readonly titled: boolean }) {
  const { topUp: text, words } = useText();
  const moneyOf = useMoneyOf();
  const paying = usePaying();
  return (
    <Stack gap="xs">
      {titled && (
        <Text size="sm" fw={500}>
          {text.products}
        </Text>
      )}
      {productsOf(offer).map(({ productId, name, price, currency, quota }) => (
        <Group key={productId} justify="space-between" gap="xs" className="offered">
          <Stack gap={0}>
            <Text size="sm" fw={500}>
              {name}
            </Text>
            <Text size="sm" c="dimmed" component="div">
              <Money units={quota} />
            </Text>
          </Stack>
          <Group gap="sm">
            <Text size="sm" className="number">
              {moneyOf(`${price}`, currency)}
            </Text>
            <PlainButton
              aria-label={text.buy(name)}
              loading={paying.busy}
              onClick={() =>
                paying.mutate({ item: { product: productId }, method: { provider: 'creem', method: 'creem' } })
              }
            >
              {words.buy}
            </PlainButton>
          </Group>
        </Group>
      ))}
    </Stack>
  );
}

/** The purchase options from `/api`. */
export type Offer = TopUpInfo;

/** A payment method. */
export interface OfferedMethod extends PaymentMethod {
  readonly key: string;
  readonly name: string;
}

/** All methods in the order of the gateway. */
export function methodsOf({ pay_methods }: Offer): readonly OfferedMethod[] {
  return pay_methods.map(({ name, type, provider }) => ({ key: `${provider} ${type}`, name, provider, method: type }));
}

/** A product with a fixed price. */
interface Product {
  readonly productId: string;
  readonly name: string;
  readonly price: number;
  readonly currency: string;
  readonly quota: number;
}

/** The products; unreadable data counts as none. */
function productsOf({ creem_products }: Offer): readonly Product[] {
  try {
    const list: unknown = JSON.parse(creem_products);
    return Array.isArray(list) ? (list as Product[]) : [];
  } catch {
    return [];
  }
}

/** The choice. `about`: a note for each method. */
export function MethodChoice<W extends OfferedMethod>({
  label,
  ways,
  value,
  onChange,
  about,
}: {
  readonly label: string;
  readonly ways: readonly W[];
  readonly value: string;
  onChange(key: string): void;
  about(method: W): ReactNode;
}) {
  return (
    <Radio.Group label={label} value={value} onChange={onChange}>
      <Stack gap={6} mt={4}>
        {ways.map((method) => (
          <Group key={method.key} justify="space-between" gap="xs">
            <Radio value={method.key} label={method.name} />
            <Text size="sm" c="dimmed" component="div" className="number">
              {about(method)}
            </Text>
          </Group>
        ))}
      </Stack>
    </Radio.Group>
  );
}
