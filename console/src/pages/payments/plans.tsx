/** The configured plans, and the plan of a user. */
import { Stack } from '@mantine/core';
import { useApi } from '../../api/hooks.ts';
import { useStatus } from '../../api/status.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Empty, Loaded } from '../../parts/notes.tsx';
import { useMoneyOf, useProviderName } from '../../parts/order.tsx';
import { Section } from '../../parts/page.tsx';
import { Muted, Small } from '../../parts/plain.tsx';
import { type Plan, PlanLimits } from '../../parts/plan-limits.tsx';
import { Money } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { PersonPlan } from './person-plan.tsx';
import { TEXT } from './text.ts';

/** The tab. `person`: the ID of the selected user; empty: none. */
export function Plans({ person, onPerson }: { readonly person: string; onPerson(id: string): void }) {
  const { plans: text } = useText(TEXT);
  const plans = useApi('GET /api/subscription/plans', undefined, { staleTime: 60_000, retry: false });
  const rows = plans.data?.map(({ plan }) => plan);
  return (
    <Stack gap="md">
      <Section flush title={text.title} about={text.about}>
        <Loaded query={plans} height={180}>
          {() => <PlanTable plans={rows ?? []} />}
        </Loaded>
      </Section>
      {rows !== undefined && <PersonPlan plans={rows} person={person} onPerson={onPerson} />}
    </Stack>
  );
}

function PlanTable({ plans }: { readonly plans: readonly Plan[] }) {
  const { plans: text } = useText(TEXT);
  const format = useFormat();
  const moneyOf = useMoneyOf();
  const providerName = useProviderName();
  const status = useStatus();
  const { data: offer } = useApi('GET /api/user/topup/info', undefined, { staleTime: 60_000, retry: false });
  const pricesOf = (plan: Plan): string =>
    Object.entries(offer?.plan_prices[plan.id] ?? {})
      .map(([provider, { price, currency }]) => `${providerName(provider)} ${moneyOf(price, currency)}`)
      .join(' · ');
  const columns: readonly Column<Plan>[] = [
    {
      key: 'name',
      title: text.name,
      cell: ({ title, id }) => (
        <Stack gap={0}>
          {title}
          {title !== id && <Small ff="monospace">{id}</Small>}
        </Stack>
      ),
    },
    { key: 'lasts', title: text.lasts, from: 'sm', cell: (plan) => text.days(format.number(plan.duration_value)) },
    { key: 'limits', title: text.limits, cell: (plan) => <PlanLimits plan={plan} /> },
    {
      key: 'price',
      title: text.price,
      align: 'right',
      cell: (plan) =>
        plan.price_amount === null ? (
          <Muted>{text.notSold}</Muted>
        ) : (
          <Stack gap={0} align="flex-end">
            <Money units={Math.round(plan.price_amount * (status?.quota_per_unit ?? 500_000))} />
            <Small>{pricesOf(plan)}</Small>
          </Stack>
        ),
    },
  ];
  return (
    <DataTable
      caption={text.title}
      columns={columns}
      rows={plans}
      rowKey={({ id }) => id}
      empty={<Empty title={text.empty}>{text.emptyAbout}</Empty>}
    />
  );
}
