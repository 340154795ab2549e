/** Buys or extends a plan, from the balance or at a provider. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { useStatus } from '../../api/status.ts';
import { useMoneyOf } from '../../parts/order.tsx';
import { PlainButton } from '../../parts/plain.tsx';
import { type Plan, PlanLimits } from '../../parts/plan-limits.tsx';
import { useFormat } from '../../shell/format.ts';
import { useSelf } from '../../shell/self.ts';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';
import { usePaying } from './use-paying.ts';
import { MethodChoice, methodsOf, type Offer, type OfferedMethod } from './ways.tsx';

/** A payment method for a plan. */
interface PlanMethod extends OfferedMethod {
  readonly cost: string;
}

/** The payment methods for a plan, with its price. */
export function usePlanMethods(plan: Plan | undefined, offer: Offer | undefined): readonly PlanMethod[] {
  const { plan: text } = useText(TEXT);
  const format = useFormat();
  const moneyOf = useMoneyOf();
  const status = useStatus();
  if (plan === undefined || offer === undefined || plan.price_amount === null || plan.price_amount <= 0) return [];
  const units = Math.round(plan.price_amount * (status?.quota_per_unit ?? 500_000));
  const prices = offer.plan_prices[plan.id] ?? {};
  const sold = methodsOf(offer).flatMap((way): readonly PlanMethod[] => {
    const price = prices[way.provider];
    return price === undefined ? [] : [{ ...way, cost: moneyOf(price.price, price.currency) }];
  });
  // A plan whose included balance covers its price could be bought from the balance without end.
  if (plan.balance_amount >= units) return sold;
  const balance = { key: 'balance', name: text.fromBalance, provider: 'balance', method: 'balance' };
  return [{ ...balance, cost: format.money(units) }, ...sold];
}

/** The dialog. `extend`: the plan is the current one. */
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
  const ways = usePlanMethods(plan, offer);
  const [chosen, setChosen] = useState('');
  const selected = ways.find(({ key }) => key === chosen) ?? ways[0];
  const paying = usePaying({
    done(start) {
      if (start.kind === 'left') return;
      if (start.kind === 'paid')
        notifications.show({ color: 'green', message: text.bought(plan?.title ?? start.order.plan) });
      onClose();
    },
  });
  const units = (plan?.price_amount ?? 0) * (status?.quota_per_unit ?? 500_000);
  const tooLittle = selected?.provider === 'balance' && self?.unlimited_quota !== true && (self?.quota ?? 0) < units;
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
          <MethodChoice
            label={text.payWith}
            ways={ways}
            value={selected?.key ?? ''}
            onChange={setChosen}
            about={({ cost }) => cost}
          />
          <Text size="sm" c={tooLittle ? 'red' : 'dimmed'} aria-live="polite">
            {tooLittle ? text.tooLittle : selected?.provider !== 'balance' && topUp.leaves}
          </Text>
          <Group justify="flex-end" gap="xs">
            <PlainButton onClick={onClose}>{text.cancel}</PlainButton>
            <Button
              disabled={selected === undefined || tooLittle}
              loading={paying.busy}
              onClick={() => selected !== undefined && paying.mutate({ item: { plan: plan.id }, method: selected })}
            >
              {selected === undefined ? topUp.payPlain : topUp.pay(selected.cost)}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}
