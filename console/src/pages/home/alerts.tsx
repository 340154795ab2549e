/** Alerts, the most severe first; renders nothing without alerts. */
import { Anchor, Group, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Self } from '../../api/hooks.ts';
import { useApi, useStatus } from '../../api/hooks.ts';
import type {
  Channel,
  DepartmentBudget,
  Key,
  PricedModel,
  SubscriptionState,
  User,
  Vitals,
} from '../../api/operations.ts';
import { IconAlertTriangle, IconInfoCircle } from '../../icons.ts';
import { Section } from '../../parts/page.tsx';
import { type Format, useFormat } from '../../shell/format.ts';
import { type Costs, daysLeft } from './calls.ts';
import { useText } from './text.ts';

const DAY_S = 86_400;
const SOON_S = 7 * DAY_S;
const FEW_DAYS = 3;
/** A few hours more than a week, so that weekly backups cause no alert. */
const BACKUP_S = SOON_S + DAY_S / 4;
const NAMED = 3;
/** Percent of a budget. */
const NEARLY_USED = 90;

type TargetPage = keyof Words['goTo'];
interface Alert {
  readonly grave: boolean;
  readonly message: string;
  readonly place: TargetPage;
}
type Words = ReturnType<typeof useText>;
type Subscription = SubscriptionState;

/** Data for alerts other than money. */
export interface AlertFacts {
  readonly keys: readonly Key[];
  readonly channels: readonly Channel[];
  readonly prices: readonly PricedModel[];
  readonly system: Vitals | undefined;
  readonly budgets: readonly DepartmentBudget[];
  /** Orders that were paid and could not be credited. */
  readonly parked: number;
  /** Orders that wait for their payment. */
  readonly unpaid: number;
  /** The enabled users with the lowest balances, lowest first. */
  readonly poorest: readonly User[];
  /** True while a part is still loading. */
  readonly isLoading: boolean;
}

/** Loads the data. */
export function useAlertFacts(admin: boolean): AlertFacts {
  const keys = useApi('GET /api/token/', { search: { page_size: 100 } });
  const channels = useApi('GET /api/vendor/', undefined, { enabled: admin });
  const prices = useApi('GET /api/price/', undefined, { enabled: admin, staleTime: 60_000 });
  const system = useApi('GET /api/system', undefined, { enabled: admin });
  const budgets = useApi('GET /api/team/budgets', undefined, { enabled: admin, staleTime: 60_000, retry: false });
  const parked = useApi(
    'GET /api/user/topup',
    { search: { status: 'parked', page_size: 1 } },
    { enabled: admin, staleTime: 60_000, retry: false },
  );
  const unpaid = useApi(
    'GET /api/user/topup',
    { search: { status: 'pending', page_size: 1 } },
    { enabled: admin, staleTime: 60_000, retry: false },
  );
  const poorest = useApi(
    'GET /api/user/',
    { search: { status: 1, sort: 'quota', page_size: 100 } },
    { enabled: admin, staleTime: 60_000, retry: false },
  );
  return {
    budgets: budgets.data?.items ?? [],
    parked: parked.data?.total ?? 0,
    unpaid: unpaid.data?.total ?? 0,
    poorest: poorest.data?.items ?? [],
    keys: keys.data?.items ?? [],
    channels: channels.data ?? [],
    prices: prices.data?.models ?? [],
    system: system.data,
    isLoading: [keys, channels, prices, system, budgets, parked, unpaid, poorest].some(({ isLoading }) => isLoading),
  };
}

/** The section. */
export function Alerts({
  self,
  facts: { keys, channels, prices, system, budgets, parked, unpaid, poorest },
  costs,
  subscription,
}: {
  readonly self: Self;
  readonly facts: AlertFacts;
  readonly costs: Costs | undefined;
  readonly subscription: Subscription | undefined;
}) {
  const text = useText();
  const format = useFormat();
  const perUnit = useStatus()?.quota_per_unit ?? 500_000;
  const now = Date.now() / 1_000;
  const alerts = [
    ...ofMoney(self, costs, subscription, text, format),
    ...ofSubscription(subscription, now, text, format),
    ...ofKeys(keys, now, text, format),
    ...ofChannels(channels, text, format),
    ...ofOrders(parked, unpaid, text, format),
    ...ofUsers(poorest, self, perUnit, text, format),
    ...ofBudgets(budgets, text, format),
    ...ofPrices(prices, text, format),
    ...ofSystem(system, now, (costs?.month.requests ?? 0) > (costs?.week.requests ?? 0), text, format),
  ].sort((a, b) => Number(b.grave) - Number(a.grave));
  if (alerts.length === 0) return null;
  return (
    <Section title={text.attention}>
      <Stack gap={6} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {alerts.map(({ grave, message, place }) => (
          <Group key={message} gap="xs" wrap="nowrap" align="flex-start" component="li">
            <Text c={grave ? 'red' : 'orange'} component="span" lh={1} pt={3} aria-hidden>
              {grave ? <IconAlertTriangle size={16} /> : <IconInfoCircle size={16} />}
            </Text>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {message}{' '}
              <Anchor component={Link} href={`/${place}`} size="sm">
                {text.goTo[place]}
              </Anchor>
            </Text>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}

function ofMoney(
  self: Self,
  costs: Costs | undefined,
  subscription: Subscription | undefined,
  text: Words,
  format: Format,
): readonly Alert[] {
  if (self.unlimited_quota === true) return [];
  const alert = (grave: boolean, message: string): readonly Alert[] => [{ grave, message, place: 'wallet' }];
  if (self.quota < 0) return alert(true, text.alerts.debt(format.money(-self.quota)));
  // A user who never had a balance is guided by the first steps instead.
  if (self.quota === 0) {
    return self.used_quota > 0 && subscription?.status !== 'active' ? alert(true, text.alerts.empty) : [];
  }
  const amount = format.money(self.quota);
  const days = daysLeft(self.quota, costs);
  if (days !== undefined && days < FEW_DAYS) {
    return alert(days < 1, text.alerts.pace(amount, format.number(Math.round(days * 10) / 10)));
  }
  const threshold = thresholdOf(self.setting);
  return threshold !== undefined && self.quota < threshold ? alert(false, text.alerts.low(amount)) : [];
}

/** The balance below which the user wants to be notified. */
function thresholdOf(setting: string): number | undefined {
  try {
    const { quota_warning_threshold: units } = JSON.parse(setting) as { readonly quota_warning_threshold?: unknown };
    return typeof units === 'number' ? units : undefined;
  } catch {
    return undefined;
  }
}

function ofSubscription(
  subscription: Subscription | undefined,
  now: number,
  text: Words,
  format: Format,
): readonly Alert[] {
  if (subscription === undefined || subscription.plan === null || subscription.expires_at <= 0) return [];
  const { status, expires_at: at, plan, plan_name: name = plan } = subscription;
  if (status === 'expired') {
    return now - at < 30 * DAY_S
      ? [{ grave: true, message: text.alerts.ended(name, format.ago(at)), place: 'wallet' }]
      : [];
  }
  return at - now < SOON_S ? [{ grave: false, message: text.alerts.ends(name, format.ago(at)), place: 'wallet' }] : [];
}

function ofKeys(keys: readonly Key[], now: number, text: Words, format: Format): readonly Alert[] {
  const soon = keys.filter(({ status, expired_time: at }) => status === 1 && at > now && at - now < SOON_S);
  if (soon.length > NAMED)
    return [{ grave: false, message: text.alerts.keys(format.number(soon.length)), place: 'keys' }];
  return soon.map(({ name, expired_time: at }) => ({
    grave: false,
    message: text.alerts.key(name, format.ago(at)),
    place: 'keys',
  }));
}

function ofChannels(channels: readonly Channel[], text: Words, format: Format): readonly Alert[] {
  const named = (state: string) =>
    channels.filter((channel) => channel.on && channel.state === state).map(({ name }) => name);
  const [open, trying] = [named('open'), named('half-open')];
  return [
    ...(open.length === 0
      ? []
      : [{ grave: true, message: text.alerts.channelDown(listNames(open, text, format)), place: 'vendors' } as const]),
    ...(trying.length === 0
      ? []
      : [
          {
            grave: false,
            message: text.alerts.channelTrying(listNames(trying, text, format)),
            place: 'vendors',
          } as const,
        ]),
  ];
}

function ofOrders(parked: number, unpaid: number, text: Words, format: Format): readonly Alert[] {
  return [
    ...(parked === 0
      ? []
      : [{ grave: true, message: text.alerts.parked(format.number(parked)), place: 'payments?state=parked' } as const]),
    ...(unpaid === 0
      ? []
      : [
          {
            grave: false,
            message: text.alerts.unpaid(format.number(unpaid)),
            place: 'payments?state=pending',
          } as const,
        ]),
  ];
}

/** Other users whose balance is nearly used up: those who never had one are left out. */
function ofUsers(poorest: readonly User[], self: Self, perUnit: number, text: Words, format: Format): readonly Alert[] {
  const low = poorest.filter(
    ({ id, quota, used_quota: used, unlimited_quota: unlimited }) =>
      id !== self.id && !unlimited && used > 0 && quota < perUnit,
  );
  if (low.length === 0) return [];
  const names = listNames(
    low.map(({ username }) => username),
    text,
    format,
  );
  return [{ grave: false, message: text.alerts.lowUsers(names, format.money(perUnit)), place: 'users?sort=quota' }];
}

function ofBudgets(budgets: readonly DepartmentBudget[], text: Words, format: Format): readonly Alert[] {
  const short = budgets.filter(({ percentage }) => (percentage ?? 0) >= NEARLY_USED);
  const grave = short.some(({ percentage }) => (percentage ?? 0) >= 100);
  if (short.length > NAMED)
    return [{ grave, message: text.alerts.budgets(format.number(short.length)), place: 'departments' }];
  return short.map(({ name, percentage }) => ({
    grave: (percentage ?? 0) >= 100,
    message: text.alerts.budget(name, format.percent((percentage ?? 0) / 100)),
    place: 'departments',
  }));
}

function ofPrices(models: readonly PricedModel[], text: Words, format: Format): readonly Alert[] {
  const named = (calls: string) =>
    models.filter((model) => model.unpriced && model.calls === calls).map(({ name }) => name);
  const [refused, free] = [named('refused'), named('free')];
  return [
    ...(refused.length === 0
      ? []
      : [{ grave: false, message: text.alerts.unpriced(listNames(refused, text, format)), place: 'prices' } as const]),
    ...(free.length === 0
      ? []
      : [{ grave: false, message: text.alerts.unpricedFree(listNames(free, text, format)), place: 'prices' } as const]),
  ];
}

/** `old`: there were calls more than a week ago. */
function ofSystem(
  system: Vitals | undefined,
  now: number,
  old: boolean,
  text: Words,
  format: Format,
): readonly Alert[] {
  if (system === undefined) return [];
  const alert = (grave: boolean, message: string): Alert => ({ grave, message, place: 'system' });
  const { backup, backups, started_at: started, store } = system;
  const failed = backups?.failed ?? null;
  return [
    ...(failed === null ? [] : [alert(true, text.alerts.backupFailed(format.ago(failed.at), failed.reason))]),
    ...(store.writable ? [] : [alert(true, text.alerts.readOnly)]),
    // A new gateway needs no backup yet.
    ...(backup === null && (old || now - started > SOON_S) ? [alert(false, text.alerts.noBackup)] : []),
    ...(backup !== null && now - backup.at > BACKUP_S ? [alert(false, text.alerts.backup(format.ago(backup.at)))] : []),
  ];
}

/** A few names and the number of the others. */
function listNames(names: readonly string[], text: Words, format: Format): string {
  const first = names.slice(0, NAMED).join(', ');
  return names.length > NAMED ? text.more(first, format.number(names.length - NAMED)) : first;
}
