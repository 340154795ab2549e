/** Buys a plan, or makes the own one longer: with the balance, or at a provider. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { useStatus } from '../../api/status.ts';
import { useMoneyOf } from '../../parts/order.tsx';
import { type Plan, PlanLimits } from '../../parts/plan-limits.tsx';
import { useFormat } from '../../shell/format.ts';
import { useSelf } from '../../shell/self.ts';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';
import { usePaying } from './use-paying.ts';
import { type Offer, type OfferedWay, WayChoice, waysOf } from './ways.tsx';

/** A way to pay for a plan. */
interface PlanWay extends OfferedWay {
  readonly cost: string;
}

/** The ways to pay for a plan, with what it costs. */
export function usePlanWays(plan: Plan | undefined, offer: Offer | undefined): readonly PlanWay[] {
  const { plan: text } = useText(TEXT);
  const format = useFormat();
  const moneyOf = useMoneyOf();
  const status = useStatus();
  if (plan === undefined || offer === undefined || plan.price_amount === null || plan.price_amount <= 0) return [];
  const units = Math.round(plan.price_amount * (status?.quota_per_unit ?? 500_000));
  const prices = offer.plan_prices[plan.id] ?? {};
  const sold = waysOf(offer).flatMap((way): readonly PlanWay[] => {
    const price = prices[way.provider];
    return price === undefined ? [] : [{ ...way, cost: moneyOf(price.price, price.currency) }];
  });
  // Else whoever has it once could have it for ever.
  if (plan.balance_amount >= units) return sold;
  const balance = { key: 'balance', name: text.fromBalance, provider: 'balance', method: 'balance' };
  return [{ ...balance, cost: format.money(units) }, ...sold];
}

/** The dialog. `extend`: it is the plan that runs already. */
export function PlanDialog({
  plan,
  offer,
  extend,
  opened,
  onClose,
}: {
  readonly plan: Plan | undefined;
  readonly offer: Offer | undefined;
  readonly extend: boolean;
  readonly opened: boolean;
  onClose(): void;
}) {
  const { plan: text, topUp } = useText(TEXT);
  const format = useFormat();
  const self = useSelf();
  const status = useStatus();
  const ways = usePlanWays(plan, offer);
  const [chosen, setChosen] = useState('');
  const way = ways.find(({ key }) => key === chosen) ?? ways[0];
  const paying = usePaying({
    done(begun) {
      if (begun.kind === 'left') return;
      if (begun.kind === 'paid')
        notifications.show({ color: 'green', message: text.bought(plan?.title ?? begun.order.plan) });
      onClose();
    },
  });
  const units = (plan?.price_amount ?? 0) * (status?.quota_per_unit ?? 500_000);
  const tooLittle = way?.provider === 'balance' && self?.unlimited_quota !== true && (self?.quota ?? 0) < units;
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={extend ? text.extendThe(plan?.title ?? '') : text.buyThe(plan?.title ?? '')}
    >
      {plan !== undefined && (
        <Stack>
          <PlanLimits plan={plan} />
          {extend && <Text size="sm">{text.extends(format.number(plan.duration_value))}</Text>}
          <WayChoice
            label={text.payWith}
            ways={ways}
            value={way?.key ?? ''}
            onChange={setChosen}
            about={({ cost }) => cost}
          />
          <Text size="sm" c={tooLittle ? 'red' : 'dimmed'} aria-live="polite">
            {tooLittle ? text.tooLittle : way?.provider !== 'balance' && topUp.leaves}
          </Text>
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {text.cancel}
            </Button>
            <Button
              disabled={way === undefined || tooLittle}
              loading={paying.busy}
              onClick={() => way !== undefined && paying.mutate({ item: { plan: plan.id }, way })}
            >
              {way === undefined ? topUp.payPlain : topUp.pay(way.cost)}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}
