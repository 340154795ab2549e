/** Home: first steps, balance, cost, alerts, latest calls. */
import './home.css';
import { Anchor, Box, Button, Group, Skeleton, ThemeIcon, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { isAdmin, isRoot, type Self, useApi, useSelf } from '../../api/hooks.ts';
import { IconCheck, IconCircleDashed, IconPlus } from '../../icons.ts';
import { Muted, Page, Section, Small } from '../../parts/page.tsx';
import { SubscriptionWindows } from '../../parts/plan-limits.tsx';
import { Copy, When } from '../../parts/values.tsx';
import { Alerts, useAlertFacts } from './alerts.tsx';
import { type Calls, useCalls, useCosts } from './calls.ts';
import { type FirstKey, type StepFact, type StepName, useFirstKey, useSteps } from './facts.ts';
import { AllUsersFigures, CostChart, Figures, Recent } from './figures.tsx';
import { FirstArrived, FirstCall } from './first-call.tsx';
import { Leaders } from './leaders.tsx';
import { useText } from './text.ts';

export default function HomePage() {
  const self = useSelf();
  return <Page name="home">{self !== undefined && <Home self={self} />}</Page>;
}

function Home({ self }: { readonly self: Self }) {
  const text = useText();
  const admin = isAdmin(self);
  const calls = useCalls();
  const costs = useCosts();
  const allUsersCosts = useCosts('GET /api/log/stat', admin);
  const subscription = useApi('GET /api/user/subscription/stats');
  const used = allUsersCosts && allUsersCosts.month.requests > 0;
  const steps = useSteps(self, calls.landed, used, subscription.data);
  const facts = useAlertFacts(admin);
  const firstKey = useFirstKey(text.firstKey);
  const plan = subscription.data?.status === 'active' ? subscription.data : undefined;
  // Rendered at once, so that nothing moves when parts above load later.
  if ((steps === undefined && calls.error === null) || facts.isLoading || subscription.isLoading)
    return <Skeleton height={480} aria-label={text.words.loading} role="status" />;
  return (
    <>
      <div role="status" className="news">
        {calls.first !== undefined && <FirstArrived line={calls.first} />}
      </div>
      {steps !== undefined && (
        <Steps
          who={self.id}
          steps={steps}
          body={(name) => <StepBody name={name} calls={calls} firstKey={firstKey} />}
        />
      )}
      <Alerts self={self} facts={facts} costs={costs} subscription={subscription.data} />
      {admin && <AllUsersFigures costs={allUsersCosts} />}
      <Figures self={self} costs={costs} />
      {(calls.landed === true || used === true) && (
        <div className={plan === undefined ? undefined : 'columns'}>
          <CostChart allUsers={admin} />
          {plan !== undefined && (
            <Section
              title={text.words.subscription}
              about={
                <Muted span>
                  {plan.plan_name ?? plan.plan} · {text.words.ends} <When at={plan.expires_at} />
                </Muted>
              }
            >
              <SubscriptionWindows windows={plan.windows} />
            </Section>
          )}
        </div>
      )}
      {used === true && <Leaders />}
      {calls.landed !== false && <Recent calls={calls} />}
    </>
  );
}

/** The section. `who`: the account whose dismissal this browser stores; `body`: the content of each step. */
function Steps({
  who,
  steps,
  body,
}: {
  readonly who: number;
  readonly steps: readonly StepFact[];
  body(name: StepName): ReactNode;
}) {
  const text = useText();
  const storageKey = `turnpike.started.${who}`;
  const [dismissed, setDismissed] = useState(() => localStorage.getItem(storageKey) !== null);
  const done = steps.filter((step) => step.done).length;
  if (dismissed || done === steps.length) return null;
  const dismiss = (): void => {
    localStorage.setItem(storageKey, 'yes');
    setDismissed(true);
  };
  return (
    <Section
      title={text.start}
      about={text.startAbout(done, steps.length)}
      actions={
        <Button variant="subtle" onClick={dismiss}>
          {text.dismiss}
        </Button>
      }
    >
      <ol className="home-steps">
        {steps.map((step) => (
          <li key={step.name} data-step={step.name} data-done={step.done}>
            <Group gap="xs" wrap="nowrap">
              <ThemeIcon
                variant={step.done ? 'filled' : 'default'}
                size={22}
                radius="xl"
                role="img"
                aria-label={step.done ? text.done : text.open}
              >
                {step.done ? <IconCheck size={14} /> : <IconCircleDashed size={14} />}
              </ThemeIcon>
              <Title order={3} size="sm" fw={step.done ? 400 : 600} c={step.done ? 'dimmed' : undefined}>
                {text.steps[step.name]}
              </Title>
              {step.done && <Small aria-hidden>{text.done}</Small>}
            </Group>
            {!step.done && <Box className="home-step-body">{body(step.name)}</Box>}
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** The content of a step that is not done. */
function StepBody({
  name,
  calls,
  firstKey,
}: {
  readonly name: StepName;
  readonly calls: Calls;
  readonly firstKey: FirstKey;
}): ReactNode {
  const text = useText();
  switch (name) {
    case 'balance':
      return <BalanceBody />;
    case 'key':
      return (
        <>
          <span>{text.keyTodo}</span>
          <Button leftSection={<IconPlus size={14} />} loading={firstKey.isMaking} onClick={firstKey.make}>
            {text.words.createKey}
          </Button>
        </>
      );
    case 'call':
      return (
        <>
          {firstKey.text !== undefined && (
            <div>
              <Copy value={firstKey.text} what={text.words.yourNewKey} />
              <Small>{text.keyOnce}</Small>
            </div>
          )}
          <FirstCall calls={calls} firstKey={firstKey} />
        </>
      );
    case 'vendor':
      return <VendorBody />;
    case 'factor':
      return <Lead message={text.factorTodo} to="/security" name={text.words.security} />;
    case 'people':
      return <Lead message={text.peopleTodo} to="/users" name={text.users} />;
  }
}

function Lead({ message, to, name }: { readonly message: string; readonly to: string; readonly name: string }) {
  return (
    <span>
      {message}{' '}
      <Anchor component={Link} href={to} size="sm">
        {name}
      </Anchor>
    </span>
  );
}

function BalanceBody() {
  const text = useText();
  const { data: ways } = useApi('GET /api/user/topup/info', undefined, { staleTime: 60_000 });
  const sells =
    ways?.enable_online_topup === true ||
    ways?.enable_stripe_topup === true ||
    ways?.enable_creem_topup === true ||
    ways?.enable_alipay_topup === true;
  return (
    <>
      <span>{text.balanceTodo}</span>
      <Lead message={sells ? text.balanceTopUp : text.balanceAsk} to="/wallet" name={text.words.wallet} />
    </>
  );
}

function VendorBody() {
  const text = useText();
  const to = isRoot(useSelf()) ? '/config?add=1' : '/vendors';
  return <Lead message={text.vendorTodo} to={to} name={text.words.addAVendor} />;
}
