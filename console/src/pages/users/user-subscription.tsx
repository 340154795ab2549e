/** The subscription of a user: limits; assign or end a plan. */
import { Group, Modal, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction, useApi, useSelf } from '../../api/hooks.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { DialogForm, useFormRefusal } from '../../parts/form-refusal.tsx';
import { GuardedButton, Muted, Section } from '../../parts/page.tsx';
import { SubscriptionWindows } from '../../parts/plan-limits.tsx';
import { State } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { changeForbidden, type User } from './rights.ts';
import { useText } from './text.ts';

const CHANGES = ['GET /api/subscription/admin/users/{id}', 'GET /api/user/{id}', 'GET /api/user/'] as const;

/** A section of the drawer; renders nothing if plans are not available. */
export function UserSubscription({ user }: { readonly user: User }) {
  const text = useText();
  const format = useFormat();
  const why = changeForbidden(useSelf(), user, text);
  const { data: stats } = useApi(
    'GET /api/subscription/admin/users/{id}',
    { params: { id: user.id } },
    { retry: false },
  );
  const { data: plans = [] } = useApi('GET /api/subscription/plans', undefined, { staleTime: 60_000, retry: false });
  const ending = useDialog<true>();
  const [isGiving, setGiving] = useState(false);
  const end = useAction(() => call('POST /api/subscription/admin/cancel', { body: { user_id: user.id } }), {
    changes: CHANGES,
    done: ending.close,
  });
  if (stats === undefined) return null;
  return (
    <Section
      title={text.words.subscription}
      actions={
        <>
          {stats.status === 'active' && (
            <GuardedButton why={why} onClick={() => ending.open(true)}>
              {text.words.endNow}
            </GuardedButton>
          )}
          <GuardedButton why={why ?? (plans.length === 0 ? text.noPlans : undefined)} onClick={() => setGiving(true)}>
            {text.words.assignAPlan}
          </GuardedButton>
        </>
      }
    >
      {stats.status === 'none' ? (
        <Text size="sm">{text.noSubscription}</Text>
      ) : (
        <Stack gap="sm">
          <Group gap="xs">
            <Text size="sm" fw={600}>
              {stats.plan_name || stats.plan}
            </Text>
            <State tone={stats.status === 'active' ? 'good' : 'idle'}>{text.planStates[stats.status]}</State>
            <Muted>
              {text.words.ends} {format.moment(stats.expires_at)}
            </Muted>
          </Group>
          {stats.status === 'active' && <SubscriptionWindows windows={stats.windows} />}
        </Stack>
      )}
      <Confirm
        dialog={ending}
        title={text.endPlanTitle}
        action={text.words.endNow}
        doing={end}
        onConfirm={() => end.mutate()}
      >
        {text.endPlanAbout}
      </Confirm>
      <Modal opened={isGiving} onClose={() => setGiving(false)} title={text.givePlan(user.username)}>
        <GiveForm
          user={user}
          plans={plans.map(({ plan: { id, title } }) => ({ value: id, label: title }))}
          onClose={() => setGiving(false)}
        />
      </Modal>
    </Section>
  );
}

function GiveForm({
  user,
  plans,
  onClose,
}: {
  readonly user: User;
  readonly plans: readonly { readonly value: string; readonly label: string }[];
  onClose(): void;
}) {
  const text = useText();
  const [plan, setPlan] = useState(plans[0]?.value ?? '');
  const refusal = useFormRefusal('plan');
  const give = useAction(() => call('POST /api/subscription/admin/bind', { body: { user_id: user.id, plan } }), {
    changes: CHANGES,
    done: onClose,
    refused: refusal.refused,
  });
  return (
    <DialogForm refusal={refusal} action={text.words.assign} running={give} ready={plan !== ''} onClose={onClose}>
      <Text size="sm">{text.giveAbout}</Text>
      <Select
        label={text.words.plan}
        data={plans}
        value={plan}
        onChange={(value) => setPlan(value ?? '')}
        allowDeselect={false}
        error={refusal.at('plan')}
        data-autofocus
      />
    </DialogForm>
  );
}
