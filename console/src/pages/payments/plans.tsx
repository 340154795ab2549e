/** The configured plans, and the plan of a user. */
import { Button, Group, Select, Stack, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction, useApi, useStatus } from '../../api/hooks.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Empty, Loaded } from '../../parts/notes.tsx';
import { useMoneyOf, useProviderName } from '../../parts/order.tsx';
import { Muted, PlainButton, Section, Small } from '../../parts/page.tsx';
import { PersonSelect } from '../../parts/person-select.tsx';
import { type Plan, PlanLimits, type SubscriptionState, SubscriptionWindows } from '../../parts/plan-limits.tsx';
import { Money, State } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from './text.ts';

/** The tab. `person`: the ID of the selected user; empty: none. */
export function Plans({ person, onPerson }: { readonly person: string; onPerson(id: string): void }) {
  const { plans: text, words } = useText();
  const plans = useApi('GET /api/subscription/plans', undefined, { staleTime: 60_000, retry: false });
  const rows = plans.data?.map(({ plan }) => plan);
  return (
    <Stack gap="md">
      <Section flush title={words.plans} about={text.about}>
        <Loaded query={plans} height={180}>
          {() => <PlanTable plans={rows ?? []} />}
        </Loaded>
      </Section>
      {rows !== undefined && <PersonPlan plans={rows} person={person} onPerson={onPerson} />}
    </Stack>
  );
}

function PlanTable({ plans }: { readonly plans: readonly Plan[] }) {
  const { plans: text, words } = useText();
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
      title: words.plan,
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
      title: words.price,
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
      caption={words.plans}
      columns={columns}
      rows={plans}
      rowKey={({ id }) => id}
      empty={<Empty title={text.empty}>{text.emptyAbout}</Empty>}
    />
  );
}

const CHANGES = ['GET /api/subscription/admin/users/{id}'] as const;

function PersonPlan({
  plans,
  person,
  onPerson,
}: {
  readonly plans: readonly Plan[];
  readonly person: string;
  onPerson(id: string): void;
}) {
  const { plans: text, words } = useText();
  const stats = useApi(
    'GET /api/subscription/admin/users/{id}',
    { params: { id: person } },
    { enabled: person !== '', retry: false },
  );
  return (
    <Section title={text.person}>
      <Stack gap="md" maw="34rem">
        <PersonSelect label={words.user} about={text.whoAbout} value={person} onChange={onPerson} />
        {person === '' ? (
          <Muted>{text.choose}</Muted>
        ) : (
          <Loaded query={stats}>{(of) => <TheirPlan key={person} of={of} id={Number(person)} plans={plans} />}</Loaded>
        )}
      </Stack>
    </Section>
  );
}

interface PlanProps {
  readonly of: SubscriptionState;
  readonly id: number;
  readonly plans: readonly Plan[];
}

function TheirPlan({ of, id, plans }: PlanProps) {
  const { plans: text, words } = useText();
  const { data: account } = useApi('GET /api/user/{id}', { params: { id } }, { staleTime: 60_000 });
  const format = useFormat();
  const runs = of.status === 'active';
  const ending = useDialog<true>();
  const end = useAction(() => call('POST /api/subscription/admin/cancel', { body: { user_id: id } }), {
    changes: CHANGES,
    done() {
      notifications.show({ message: text.endedNow });
      ending.close();
    },
  });
  return (
    <Stack gap="md">
      {of.status === 'none' ? (
        <Text size="sm">{text.none}</Text>
      ) : (
        <Stack gap="sm">
          <Group gap="xs">
            <Text fw={600}>{of.plan_name}</Text>
            <State tone={runs ? 'good' : 'bad'}>{runs ? words.active : words.ended}</State>
            <Muted>
              {text.since} {format.day(of.starts_at)}, {runs ? words.ends : text.ended} {format.day(of.expires_at)}
            </Muted>
          </Group>
          {runs && <SubscriptionWindows windows={of.windows} />}
          <Group>
            <PlainButton onClick={() => ending.open(true)}>{words.endNow}</PlainButton>
          </Group>
        </Stack>
      )}
      {plans.length > 0 && <AssignPlan of={of} id={id} plans={plans} />}
      <Confirm
        dialog={ending}
        title={text.endTitle(account?.username ?? `#${id}`)}
        action={text.endAction}
        doing={end}
        onConfirm={() => end.mutate()}
      >
        {text.endAbout}
      </Confirm>
    </Stack>
  );
}

function AssignPlan({ of, id, plans }: PlanProps) {
  const { plans: text, words } = useText();
  const runs = of.status === 'active';
  const [plan, setPlan] = useState(runs ? (of.plan ?? '') : (plans[0]?.id ?? ''));
  const other = runs && of.plan !== plan;
  const give = useAction(() => call('POST /api/subscription/admin/bind', { body: { user_id: id, plan } }), {
    changes: CHANGES,
    done: ({ plan_name }) => notifications.show({ color: 'green', message: text.given(plan_name) }),
  });
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        {words.assignAPlan}
      </Title>
      <Group gap="xs" align="flex-end">
        <Select
          label={words.plan}
          data={plans.map((each) => ({ value: each.id, label: each.title }))}
          value={plan}
          onChange={(chosen) => chosen !== null && setPlan(chosen)}
          allowDeselect={false}
          error={other ? text.otherRuns(of.plan_name) : undefined}
        />
        <Button disabled={other || plan === ''} loading={give.isPending} onClick={() => give.mutate()}>
          {runs && !other ? words.extend : words.assign}
        </Button>
      </Group>
    </Stack>
  );
}
