/** Begins a payment at each provider, and goes to the page where it is paid. */
import { call, callToPay, HOME } from '../../api/client.ts';
import type { Order } from '../../parts/order.tsx';

/** What is bought: so many currency units, a ready-made product, a plan. */
export type Item = { readonly amount: number } | { readonly product: string } | { readonly plan: string };

/** Who is paid, and how. */
export interface Way {
  readonly provider: string;
  readonly method: string;
}

/** What came of it: the browser is on its way, a picture has to be scanned, or (from the balance) it is paid already. */
export type Begun =
  | { readonly kind: 'left' }
  | { readonly kind: 'scan'; readonly picture: string; readonly tradeNo: string }
  | { readonly kind: 'paid'; readonly order: Order };

/** A payment page was not opened: it is not safe, or there is none. */
export class NoPage extends Error {
  readonly reason: 'unsafe' | 'none';
  constructor(reason: 'unsafe' | 'none') {
    super(reason);
    this.reason = reason;
  }
}

/** Begins it. `origin`: of the gateway as it knows itself; elsewhere a provider comes back to where it says. */
export async function begin(item: Item, way: Way, origin: string): Promise<Begun> {
  if (way.provider === 'balance' && 'plan' in item)
    return { kind: 'paid', order: await call('POST /api/subscription/balance/pay', { body: { plan: item.plan } }) };
  const { data, url } = await asked(item, way, origin);
  const said = data as Readonly<Record<string, string | undefined>>;
  const tradeNo = said.order_id ?? said.out_trade_no ?? '';
  if (said.pay_qr?.startsWith('data:image/svg+xml;base64,')) return { kind: 'scan', picture: said.pay_qr, tradeNo };
  const page = pageAt(url ?? said.pay_link ?? said.checkout_url);
  remember(tradeNo);
  if (url === undefined) window.location.assign(page);
  else post(page, said);
  return { kind: 'left' };
}

function asked(item: Item, { provider, method }: Way, origin: string): Promise<{ data: unknown; url?: string }> {
  const urls =
    origin === window.location.origin && (provider === 'stripe' || provider === 'creem') ? backTo(provider) : {};
  const body = { payment_method: method, ...urls };
  if ('product' in item) return callToPay('POST /api/user/creem/pay', { body: { ...body, product_id: item.product } });
  const more = { body: { ...body, ...item } } as { readonly body: typeof body & { amount: number; plan: string } };
  const isPlan = 'plan' in item;
  switch (provider) {
    case 'stripe':
      return isPlan
        ? callToPay('POST /api/subscription/stripe/pay', more)
        : callToPay('POST /api/user/stripe/pay', more);
    case 'alipay':
      return isPlan
        ? callToPay('POST /api/subscription/alipay/pay', more)
        : callToPay('POST /api/user/alipay/pay', more);
    default:
      return isPlan ? callToPay('POST /api/subscription/epay/pay', more) : callToPay('POST /api/user/pay', more);
  }
}

function backTo(provider: string) {
  const at = (name: string): string => new URL(`wallet?${name}=${provider}`, HOME).href;
  return { success_url: at('paid'), cancel_url: at('unpaid') };
}

/** An address where money is paid: https, or http on this very machine. Throws `NoPage` for all others. */
function pageAt(address: string | undefined): string {
  if (address === undefined || !URL.canParse(address)) throw new NoPage('none');
  const { protocol, hostname, href } = new URL(address);
  const local = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
  if (protocol === 'https:' || (protocol === 'http:' && local)) return href;
  throw new NoPage('unsafe');
}

/** As a form of a page would: its provider expects a browser that comes with fields. */
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
  // Not `form.submit`: a field may be called so.
  HTMLFormElement.prototype.submit.call(form);
}

const REMEMBERED = 'turnpike.order';

/** The order that this tab went away to pay; empty where it did not. */
export function rememberedOrder(): string {
  return sessionStorage.getItem(REMEMBERED) ?? '';
}

/** Remembers it, or (empty) no more. */
export function remember(tradeNo: string): void {
  if (tradeNo === '') sessionStorage.removeItem(REMEMBERED);
  else sessionStorage.setItem(REMEMBERED, tradeNo);
}
