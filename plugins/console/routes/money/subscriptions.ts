/** Subscriptions: the plans, the user's subscription, and for administrators those of all users. */

import { notWritten } from '../../../../core/contracts/errors.ts';
import { Records } from '../../../../core/contracts/records.ts';
import {
  type Plan,
  type Subscription,
  Subscriptions,
  type WindowUse,
} from '../../../../core/contracts/subscriptions.ts';
import type { Step } from '../../../../core/plugin.ts';
import { livingPerson, subordinate } from '../../access/subordinate.ts';
import { errors } from '../../errors.ts';
import { bodyOf, boolean, idNumber, integer, list, partly, text } from '../../format/schemas.ts';
import { secondsOf, unitsOf } from '../../format/units.ts';
import { type ApiRoute, idOf, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Subscriptions');

const units = { description: 'Quota units.', ...integer };
const unitsOrNone = { description: 'Quota units; null: no limit.', type: ['integer', 'null'] };
const seconds = { description: 'Unix seconds; 0: none.', ...integer };
const windowProperties = { limit: units, used: units, remaining: units };

const statsSchema = {
  title: 'SubscriptionState',
  type: 'object',
  required: ['plan', 'plan_name', 'status', 'starts_at', 'expires_at', 'windows'],
  properties: {
    plan: { description: 'Its name; null: no subscription.', type: ['string', 'null'] },
    plan_name: { description: 'The display name.', ...text },
    status: { enum: ['active', 'expired', 'none'] },
    starts_at: seconds,
    expires_at: seconds,
    windows: {
      description: 'The windows that the plan limits, in UTC; a month is thirty days from the start.',
      type: 'object',
      additionalProperties: {
        title: 'SubscriptionWindow',
        type: 'object',
        required: ['limit', 'used', 'remaining', 'resets_at'],
        properties: { ...windowProperties, resets_at: seconds },
      },
    },
    has_subscription: boolean,
    start_time: seconds,
    end_time: seconds,
    ...Object.fromEntries(
      ['daily', 'weekly', 'monthly'].map((name) => [
        name,
        { title: 'NamedWindow', type: ['object', 'null'], properties: { ...windowProperties, reset_at: seconds } },
      ]),
    ),
  },
};

const planSchema = {
  title: 'Plan',
  type: 'object',
  required: [
    ...['id', 'title', 'price_amount', 'duration_value', 'daily_amount', 'weekly_amount', 'monthly_amount'],
    ...['balance_amount', 'includes_balance'],
  ],
  properties: {
    id: { description: 'Its name.', ...text },
    title: text,
    price_amount: { description: 'Currency units; null: not for sale.', type: ['number', 'null'] },
    duration_unit: { const: 'day' },
    duration_value: integer,
    enabled: { const: true },
    daily_amount: unitsOrNone,
    weekly_amount: unitsOrNone,
    monthly_amount: unitsOrNone,
    balance_amount: { description: 'Balance that is credited with it, in quota units.', ...integer },
    includes_balance: { ...boolean, description: 'Calls within the windows are not charged to the balance.' },
  },
};

const ownSchema = {
  title: 'Subscription',
  type: 'object',
  properties: {
    id: integer,
    user_id: integer,
    plan_id: text,
    amount_total: { description: 'The monthly limit in quota units; 0: no limit.', ...integer },
    amount_used: units,
    start_time: seconds,
    end_time: seconds,
    next_reset_time: seconds,
    status: { enum: ['active', 'expired'] },
  },
};
const ownList = list({ subscription: ownSchema });

const bindBody = bodyOf(['user_id', 'plan'], {
  user_id: idNumber,
  plan: { ...text, minLength: 1, maxLength: 63 },
});
const cancelBody = bodyOf(['user_id'], { user_id: idNumber });

export function subscriptionRoutes({ host, need, audited }: Tools): readonly ApiRoute[] {
  async function stats(accountId: number) {
    const subscriptions = need(Subscriptions);
    const subscription = await subscriptions.of(accountId);
    const use = subscription === undefined ? {} : await subscriptions.use(subscription);
    return shownStats(subscription, subscription && subscriptions.plan(subscription.plan), use);
  }

  /** The event in the account's log: a sentence, and the credited balance. */
  function told(accountId: number, text: string, amount = 0n): readonly Step[] {
    return host.find(Records)?.eventSteps({ accountId, kind: 'manage', amount, text, ip: '' }) ?? [];
  }

  return [
    route('member', 'GET', '/api/user/subscription/stats', {
      summary: 'Returns the daily, weekly and monthly limits of your subscription and their usage.',
      answer: statsSchema,
      handle: ({ account }) => stats(account.id),
    }),
    route('member', 'GET', '/api/subscription/plans', {
      summary: 'Lists the plans.',
      answer: list({ plan: planSchema }),
      handle: () => need(Subscriptions).plans.map((plan) => ({ plan: shownPlan(plan) })),
    }),
    route('member', 'GET', '/api/subscription/self', {
      summary: 'Returns your subscription, in the format of other clients.',
      answer: partly(['subscriptions', 'all_subscriptions'], {
        billing_preference: { const: 'subscription_first' },
        subscriptions: { description: 'The active one, if any.', ...ownList },
        all_subscriptions: { description: 'The same, or the last expired one.', ...ownList },
      }),
      async handle({ account }) {
        const subscriptions = need(Subscriptions);
        const own = await subscriptions.of(account.id);
        const records =
          own === undefined ? [] : [{ subscription: shownSubscription(own, await subscriptions.use(own)) }];
        return {
          billing_preference: 'subscription_first',
          subscriptions: own?.state === 'active' ? records : [],
          all_subscriptions: records,
        };
      },
    }),
    route('admin', 'GET', '/api/subscription/admin/users/:id', {
      errors: ['account_not_found'],
      summary: 'Returns the subscription of a user.',
      answer: statsSchema,
      async handle({ params }) {
        const { id } = await livingPerson(host, idOf(params.id));
        return stats(id);
      },
    }),
    route('admin', 'POST', '/api/subscription/admin/bind', {
      verified: true,
      errors: ['role_insufficient', 'account_not_found', 'plan_not_found', 'other_plan_runs', 'no_room'],
      summary: 'Assigns a plan to a user; extends it if it is the current one.',
      body: bindBody,
      answer: statsSchema,
      async handle(request) {
        const { user_id, plan } = request.body;
        const { id } = await subordinate(host, request.account, user_id, 'user_id');
        const subscriptions = need(Subscriptions);
        const grant = await subscriptions.grantSteps(id, plan, `bind:${request.id}`, request.actor.name);
        const failed = await host.store.atomic([
          ...grant,
          ...audited(request, 'subscription.grant', `user ${id}`, { plan }),
          ...told(id, `An administrator granted the plan ${plan}.`, subscriptions.plan(plan)?.balance),
        ]);
        subscriptions.changed(id);
        if (failed !== undefined) throw notWritten(failed);
        return stats(id);
      },
    }),
    route('admin', 'POST', '/api/subscription/admin/cancel', {
      verified: true,
      errors: ['role_insufficient', 'account_not_found', 'subscription_not_found'],
      summary: 'Cancels the subscription of a user immediately; later calls are charged to the balance.',
      body: cancelBody,
      answer: statsSchema,
      async handle(request) {
        const { id, name } = await subordinate(host, request.account, request.body.user_id, 'user_id');
        const along = [
          ...audited(request, 'subscription.cancel', `user ${id}`),
          ...told(id, 'An administrator cancelled the subscription.'),
        ];
        if (!(await need(Subscriptions).cancel(id, along))) {
          throw errors.subscription_not_found(name);
        }
        return stats(id);
      },
    }),
  ];
}

type Use = Awaited<ReturnType<Subscriptions['use']>>;

function shownWindow({ limit, used, remaining }: WindowUse) {
  return { limit: unitsOf(limit), used: unitsOf(used), remaining: unitsOf(remaining) };
}

/** The subscription, with members that some dashboards expect. */
function shownStats(subscription: Subscription | undefined, plan: Plan | undefined, use: Use) {
  const startsAt = secondsOf(subscription?.startsMs);
  const expiresAt = secondsOf(subscription?.expiresMs);
  const named = (['daily', 'weekly', 'monthly'] as const).map((name) => [name, use[name]] as const);
  const windows = named.flatMap(([name, window]) =>
    window === undefined ? [] : [[name, { ...shownWindow(window), resets_at: secondsOf(window.resetsMs) }]],
  );
  const others = named.map(([name, window]) => [
    name,
    window === undefined ? null : { ...shownWindow(window), reset_at: secondsOf(window.resetsMs) },
  ]);
  return {
    plan: subscription?.plan ?? null,
    plan_name: plan?.title ?? subscription?.plan ?? '',
    status: subscription?.state ?? 'none',
    starts_at: startsAt,
    expires_at: expiresAt,
    windows: Object.fromEntries(windows),
    has_subscription: subscription?.state === 'active',
    start_time: startsAt,
    end_time: expiresAt,
    ...Object.fromEntries(others),
  };
}

function shownPlan(plan: Plan) {
  const limit = (amount: bigint | undefined): number | null => (amount === undefined ? null : unitsOf(amount));
  return {
    id: plan.name,
    title: plan.title,
    price_amount: plan.priceCents === undefined ? null : plan.priceCents / 100,
    duration_unit: 'day',
    duration_value: plan.days,
    enabled: true,
    daily_amount: limit(plan.daily),
    weekly_amount: limit(plan.weekly),
    monthly_amount: limit(plan.monthly),
    balance_amount: unitsOf(plan.balance),
    includes_balance: plan.includesBalance,
  };
}

function shownSubscription({ id, accountId, plan, startsMs, expiresMs, state }: Subscription, { monthly }: Use) {
  return {
    id,
    user_id: accountId,
    plan_id: plan,
    amount_total: monthly === undefined ? 0 : unitsOf(monthly.limit),
    amount_used: monthly === undefined ? 0 : unitsOf(monthly.used),
    start_time: secondsOf(startsMs),
    end_time: secondsOf(expiresMs),
    next_reset_time: monthly === undefined ? 0 : secondsOf(monthly.resetsMs),
    status: state,
  };
}
