/** Home: first steps, balance, cost, alerts, latest calls. */
import { Skeleton } from '@mantine/core';
import { useApi } from '../../api/hooks.ts';
import { PAGE_NAMES } from '../../pages.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { Muted } from '../../parts/plain.tsx';
import { When } from '../../parts/values.tsx';
import { SubscriptionWindows } from '../../parts/windows.tsx';
import { isAdmin, type Self, useSelf } from '../../shell/self.ts';
import { useText } from '../../text.ts';
import { Alerts, useAlertFacts } from './alerts.tsx';
import { useCalls } from './calls.ts';
import { CostChart } from './cost-chart.tsx';
import { useCosts } from './costs.ts';
import { useSteps } from './facts.ts';
import { AllUsersFigures, Figures } from './figures.tsx';
import { FirstArrived } from './first-call.tsx';
import { useFirstKey } from './first-key.ts';
import { Recent } from './recent.tsx';
import { StepBody } from './step-bodies.tsx';
import { Steps } from './steps.tsx';
import { TEXT } from './text.ts';

export default function HomePage() {
  const self = useSelf();
  const title = useText(PAGE_NAMES).home;
  return <Page title={title}>{self !== undefined && <Home self={self} />}</Page>;
}

function Home({ self }: { readonly self: Self }) {
  const text = useText(TEXT);
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
    return <Skeleton height={480} aria-label={text.reading} role="status" />;
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
              title={text.windows}
              about={
                <Muted span>
                  {plan.plan_name ?? plan.plan} · {text.until} <When at={plan.expires_at} />
                </Muted>
              }
            >
              <SubscriptionWindows windows={plan.windows} />
            </Section>
          )}
        </div>
      )}
      {calls.landed !== false && <Recent calls={calls} />}
    </>
  );
}
