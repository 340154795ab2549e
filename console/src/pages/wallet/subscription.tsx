/** The user's subscription: limits and usage, and plans to buy. */
import { Alert, Button, Group, Modal, Stack, Text, Title, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { useApi, useSelf, useStatus } from '../../api/hooks.ts';
import { useDialog } from '../../parts/confirm.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { useMoneyOf } from '../../parts/order.tsx';
import { Muted, PlainButton, Section } from '../../parts/page.tsx';
import { type Plan, PlanLimits, type SubscriptionState, SubscriptionWindows } from '../../parts/plan-limits.tsx';
import { State } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from './text.ts';
import { MethodChoice, methodsOf, type Offer, type OfferedMethod } from './top-up.tsx';
import { usePaying } from './use-paying.ts';

/** The section; renders nothing without plans and a subscription. */
export function Subscription({ offer }: { readonly offer: Offer | undefined }) {
  const { words } = useText();
  const stats = useApi('GET /api/user/subscription/stats', undefined, { retry: false });
  const plans = useApi('GET /api/subscription/plans', undefined, { staleTime: 60_000, retry: false });
  const buying = useDialog<Plan>();
  // A gateway without plans has no such routes.
  if (stats.error?.code === 'not_available') return null;
  if (stats.data?.status === 'none' && plans.data?.length === 0) return null;
  return (
    <Section title={words.subscription}>
      <Loaded query={stats}>
        {(own) => (
          <Stack gap="md">
            <CurrentPlan of={own} />
            {(plans.data?.length ?? 0) > 0 && (
              <Stack gap={0}>
                <Title order={3} size="h5" mb="xs">
                  {words.plans}
                </Title>
                {plans.data?.map(({ plan }) => (
                  <OfferedPlan key={plan.id} plan={plan} own={own} offer={offer} onBuy={() => buying.open(plan)} />
                ))}
              </Stack>
            )}
          </Stack>
        )}
      </Loaded>
      <PlanDialog
        plan={buying.about}
        offer={offer}
        extend={stats.data?.status === 'active' && stats.data.plan === buying.about?.id}
        opened={buying.opened}
        onClose={buying.close}
      />
    </Section>
  );
}

function CurrentPlan({ of }: { readonly of: SubscriptionState }) {
  const { plan: text, words } = useText();
  const format = useFormat();
  if (of.status === 'none')
    return (
      <Text size="sm">
        {text.none}. {text.noneAbout}
      </Text>
    );
  const active = of.status === 'active';
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Text fw={600}>{of.plan_name}</Text>
        <State tone={active ? 'good' : 'bad'}>{active ? words.active : words.ended}</State>
        <Muted>
          {active ? words.ends : text.ended} {format.day(of.expires_at)}
        </Muted>
      </Group>
      {active ? <SubscriptionWindows windows={of.windows} /> : <Alert color="orange">{text.expiredAbout}</Alert>}
    </Stack>
  );
}

function OfferedPlan({
  plan,
  own,
  offer,
  onBuy,
}: {
  readonly plan: Plan;
  readonly own: SubscriptionState;
  readonly offer: Offer | undefined;
  onBuy(): void;
}) {
  const { plan: text, words } = useText();
  const format = useFormat();
  const ways = usePlanMethods(plan, offer);
  const runs = own.status === 'active';
  const isOwn = runs && own.plan === plan.id;
  const forSale = plan.price_amount !== null && plan.price_amount > 0;
  const hindrance = !forSale
    ? undefined
    : ways.length === 0
      ? text.nobodySells
      : runs && !isOwn
        ? text.otherRuns
        : undefined;
  return (
    <Group justify="space-between" gap="xs" className="offered" wrap="nowrap" align="flex-start">
      <Stack gap={2} miw={0}>
        <Text size="sm">
          <strong>{plan.title}</strong> {text.forDays(format.number(plan.duration_value))}
        </Text>
        <PlanLimits plan={plan} />
      </Stack>
      {forSale ? (
        <Stack gap={4} align="flex-end" flex="none">
          <Text size="sm" className="number">
            {ways[0]?.cost}
          </Text>
          <Tooltip label={hindrance} disabled={hindrance === undefined}>
            <PlainButton
              // Focusable, so that users can read why it is disabled.
              data-disabled={hindrance !== undefined || undefined}
              aria-disabled={hindrance !== undefined}
              aria-label={isOwn ? text.extendThe(plan.title) : text.buyThe(plan.title)}
              onClick={() => hindrance === undefined && onBuy()}
            >
              {isOwn ? words.extend : words.buy}
            </PlainButton>
          </Tooltip>
        </Stack>
      ) : (
        <Muted flex="none">{text.notSold}</Muted>
      )}
    </Group>
  );
}

/** A payment method for a plan. */
interface PlanMethod extends OfferedMethod {
  readonly cost: string;
}

/** The payment methods for a plan, with its price. */
function usePlanMethods(plan: Plan | undefined, offer: Offer | undefined): readonly PlanMethod[] {
  const { plan: text } = useText();
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
function PlanDialog({
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
  const { plan: text, topUp, words } = useText();
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
            label={words.paymentMethod}
            ways={ways}
            value={selected?.key ?? ''}
            onChange={setChosen}
            about={({ cost }) => cost}
          />
          <Text size="sm" c={tooLittle ? 'red' : 'dimmed'} aria-live="polite">
            {tooLittle ? text.tooLittle : selected?.provider !== 'balance' && topUp.leaves}
          </Text>
          <Group justify="flex-end" gap="xs">
            <PlainButton onClick={onClose}>{words.cancel}</PlainButton>
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
