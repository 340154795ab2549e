/** Payments: begins one at a provider and opens its payment page; its input, progress and result in a component. */
import { notifications } from '@mantine/notifications';
import { createContext, useContext, useEffect } from 'react';
import { call, callPayment, HOME, type Operation, type Refusal } from '../../api/client.ts';
import { useAction, useStatus } from '../../api/hooks.ts';
import type { Order } from '../../parts/order.tsx';
import { useText } from './text.ts';

/** Operations that are refetched after a payment. */
export const PAID_CHANGES: readonly Operation[] = [
  'GET /api/user/self',
  'GET /api/user/statement',
  'GET /api/user/subscription/stats',
  'GET /api/user/topup/self',
];

/** The purchase and the payment method. */
export interface Paying {
  readonly item: Item;
  readonly method: PaymentMethod;
}

/** Begins payments; `busy` until the browser has left the page. `done` gets the result. */
export function usePaying(options: { done?(start: PaymentStart): void; refused?(refusal: Refusal): boolean } = {}) {
  const { topUp: text } = useText();
  const { show } = useContext(PaymentContext);
  const status = useStatus();
  const action = useAction<Paying, PaymentStart | undefined>(
    async ({ item, method }) => {
      try {
        return await begin(item, method, status?.server_address ?? '');
      } catch (error) {
        if (!(error instanceof NoPage)) throw error;
        const message = error.reason === 'unsafe' ? text.unsafe : text.noPage;
        notifications.show({ color: 'red', message, role: 'alert' });
        return undefined;
      }
    },
    {
      changes: PAID_CHANGES,
      done(start) {
        if (start === undefined) return;
        if (start.kind === 'scan') show(start);
        options.done?.(start);
      },
      ...(options.refused !== undefined && { refused: options.refused }),
    },
  );
  const { reset } = action;
  useEffect(() => {
    // The browser may restore this page from its cache when the user goes back.
    const back = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) reset();
    };
    window.addEventListener('pageshow', back);
    return () => window.removeEventListener('pageshow', back);
  }, [reset]);
  return { ...action, busy: action.isPending || action.data?.kind === 'left' };
}

/** A payment with a QR code. */
export type Scan = Extract<PaymentStart, { kind: 'scan' }>;

/** Shows the dialog. */
export const PaymentContext = createContext<{ show(scan: Scan): void }>({ show: () => {} });

/** The purchase: an amount in currency units, a product, or a plan. */
type Item = { readonly amount: number } | { readonly product: string } | { readonly plan: string };

/** The provider and its method. */
export interface PaymentMethod {
  readonly provider: string;
  readonly method: string;
}

/** The result: the browser is leaving, the user must scan a QR code, or (from the balance) it is paid. */
type PaymentStart =
  | { readonly kind: 'left' }
  | { readonly kind: 'scan'; readonly picture: string; readonly tradeNo: string }
  | { readonly kind: 'paid'; readonly order: Order };

/** The payment page was not opened: it is not https, or missing. */
class NoPage extends Error {
  readonly reason: 'unsafe' | 'none';
  constructor(reason: 'unsafe' | 'none') {
    super(reason);
    this.reason = reason;
  }
}

/** Begins the payment. `origin`: the gateway's own; from another origin, the provider returns to the configured URL. */
async function begin(item: Item, way: PaymentMethod, origin: string): Promise<PaymentStart> {
  if (way.provider === 'balance' && 'plan' in item)
    return { kind: 'paid', order: await call('POST /api/subscription/balance/pay', { body: { plan: item.plan } }) };
  const { data, url } = await requestPayment(item, way, origin);
  const fields = data as Readonly<Record<string, string | undefined>>;
  const tradeNo = fields.order_id ?? fields.out_trade_no ?? '';
  if (fields.pay_qr?.startsWith('data:image/svg+xml;base64,')) return { kind: 'scan', picture: fields.pay_qr, tradeNo };
  const page = pageAt(url ?? fields.pay_link ?? fields.checkout_url);
  remember(tradeNo);
  if (url === undefined) window.location.assign(page);
  else post(page, fields);
  return { kind: 'left' };
}

function requestPayment(
  item: Item,
  { provider, method }: PaymentMethod,
  origin: string,
): Promise<{ data: unknown; url?: string }> {
  const urls =
    origin === window.location.origin && (provider === 'stripe' || provider === 'creem') ? backTo(provider) : {};
  const body = { payment_method: method, ...urls };
  if ('product' in item)
    return callPayment('POST /api/user/creem/pay', { body: { ...body, product_id: item.product } });
  const more = { body: { ...body, ...item } } as { readonly body: typeof body & { amount: number; plan: string } };
  const isPlan = 'plan' in item;
  switch (provider) {
    case 'stripe':
      return isPlan
        ? callPayment('POST /api/subscription/stripe/pay', more)
        : callPayment('POST /api/user/stripe/pay', more);
    case 'alipay':
      return isPlan
        ? callPayment('POST /api/subscription/alipay/pay', more)
        : callPayment('POST /api/user/alipay/pay', more);
    default:
      return isPlan ? callPayment('POST /api/subscription/epay/pay', more) : callPayment('POST /api/user/pay', more);
  }
}

function backTo(provider: string) {
  const at = (name: string): string => new URL(`wallet?${name}=${provider}`, HOME).href;
  return { success_url: at('paid'), cancel_url: at('unpaid') };
}

/** A URL where money is paid: https, or http on this machine. Throws `NoPage` for all others. */
function pageAt(address: string | undefined): string {
  if (address === undefined || !URL.canParse(address)) throw new NoPage('none');
  const { protocol, hostname, href } = new URL(address);
  const local = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
  if (protocol === 'https:' || (protocol === 'http:' && local)) return href;
  throw new NoPage('unsafe');
}

/** Posts fields as a form, because the provider expects a navigation. */
function post(address: string, fields: Readonly<Record<string, string | undefined>>): void {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = address;
  for (const [name, value = ''] of Object.entries(fields)) {
    const field = document.createElement('input');
    field.type = 'hidden';
    field.name = name;
    field.value = value;
    form.append(field);
  }
  document.body.append(form);
  // Not `form.submit`, because a field may have that name.
  HTMLFormElement.prototype.submit.call(form);
}

const REMEMBERED = 'turnpike.order';

/** The order that this tab left to pay; empty if none. */
export function rememberedOrder(): string {
  return sessionStorage.getItem(REMEMBERED) ?? '';
}

/** Stores the order; empty removes it. */
export function remember(tradeNo: string): void {
  if (tradeNo === '') sessionStorage.removeItem(REMEMBERED);
  else sessionStorage.setItem(REMEMBERED, tradeNo);
}
