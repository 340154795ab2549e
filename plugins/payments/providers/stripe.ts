/** Stripe: cards, by Checkout Sessions; its own SDK creates them and verifies notifications. */
import type Stripe from 'stripe';
import type { Host } from '../../../core/plugin.ts';
import { ANSWER_MS, amountsIn, Forged, lazily, type Notice, type NoticeRequest, type Provider } from '../provider.ts';
import type { Configured } from '../section.ts';

/** The maximum difference between the time of a signature and now. */
const TOLERANCE_S = 300;

export function createStripe(
  settings: NonNullable<Configured['stripe']>,
  { clock, fetch }: Pick<Host, 'clock' | 'fetch'>,
): Provider {
  const { secret, webhookSecret, currency, price } = settings;
  const sdk = lazily(() => load(secret, settings.url, fetch));

  return {
    name: 'stripe',
    price: { price, currency },
    methods: [],
    products: [],
    async open({ tradeNo, accountId, money, title, expiresMs, successUrl, cancelUrl }) {
      const metadata = { trade_no: tradeNo, account: String(accountId) };
      const { checkout } = await sdk();
      const { url } = await checkout.sessions.create(
        {
          mode: 'payment',
          client_reference_id: tradeNo,
          metadata,
          // Refunds refer to the charge, which has the metadata of its payment.
          payment_intent_data: { metadata },
          line_items: [
            {
              quantity: 1,
              price_data: {
                currency: currency.toLowerCase(),
                unit_amount: Number(money),
                product_data: { name: title },
              },
            },
          ],
          expires_at: Math.floor(expiresMs / 1_000),
          success_url: successUrl,
          cancel_url: cancelUrl,
        },
        { idempotencyKey: tradeNo },
      );
      if (url === null) throw new Error('a session without a page');
      return { kind: 'link', url };
    },
    notices: {
      methods: ['POST'],
      path: '/api/stripe/webhook',
      taken: 'ok',
      refused: 'invalid notification',
      async read(request) {
        const { webhooks } = await sdk();
        return noticeOf(verified(webhooks, request, webhookSecret, clock.now()));
      },
    },
  };
}

async function load(secret: string, url: string, fetch: Host['fetch']): Promise<Stripe> {
  const { default: Sdk } = await import('stripe');
  const { protocol, hostname, port } = new URL(url);
  return new Sdk(secret, {
    protocol: protocol === 'http:' ? 'http' : 'https',
    host: hostname,
    port: port || (protocol === 'http:' ? 80 : 443),
    timeout: ANSWER_MS,
    httpClient: Sdk.createFetchHttpClient(fetch as typeof globalThis.fetch),
    maxNetworkRetries: 1,
    telemetry: false,
  });
}

/** The event, if its signature is valid. The SDK refuses old ones; ones from the future are refused here. */
function verified(
  webhooks: Stripe['webhooks'],
  { bytes, headers }: NoticeRequest,
  secret: string,
  nowMs: number,
): Stripe.Event {
  const signature = headers['stripe-signature'] ?? '';
  const times = signature.split(',').filter((part) => part.startsWith('t='));
  const isTimely = (part: string): boolean =>
    /^t=\d{1,12}$/.test(part) && Number(part.slice(2)) - nowMs / 1_000 <= TOLERANCE_S;
  if (times.length !== 1 || !times.every(isTimely)) throw new Forged('the time of the signature is invalid');
  try {
    return webhooks.constructEvent(bytes, signature, secret, TOLERANCE_S, undefined, nowMs);
  } catch (error) {
    throw new Forged('the signature is invalid', { cause: error });
  }
}

function noticeOf(event: Stripe.Event): Notice | undefined {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return paid(event.id, event.data.object);
    case 'checkout.session.async_payment_failed':
      return unpaid(event.id, 'failed', event.data.object);
    case 'checkout.session.expired':
      return unpaid(event.id, 'expired', event.data.object);
    case 'charge.refunded': {
      const { payment_intent, metadata, amount, amount_refunded } = event.data.object;
      return {
        about: 'refunded',
        event: event.id,
        payment: idOf(payment_intent),
        tradeNo: metadata?.trade_no,
        sum: 'all',
        amount: amountsIn(amount_refunded)[0] ?? 0n,
        of: amountsIn(amount)[0] ?? 0n,
      };
    }
    case 'charge.dispute.created':
      // An inquiry withdraws no money; a dispute does.
      return event.data.object.status?.startsWith('warning_') ? undefined : disputed(event.data.object, 'opened');
    case 'charge.dispute.funds_withdrawn':
      return disputed(event.data.object, 'opened');
    case 'charge.dispute.closed':
      return disputed(event.data.object, 'closed');
    default:
      return undefined;
  }
}

function paid(event: string, session: Stripe.Checkout.Session): Notice | undefined {
  const { client_reference_id: tradeNo, payment_status, payment_intent, amount_total, currency, metadata } = session;
  if (tradeNo === null) return undefined;
  // Some payment methods take days; another event follows when the money arrives.
  if (payment_status === 'unpaid') return { about: 'waiting', event, tradeNo };
  return {
    about: 'paid',
    event,
    tradeNo,
    payment: idOf(payment_intent),
    money: amountsIn(amount_total),
    currency: (currency ?? '').toUpperCase(),
    account: metadata?.account ?? '',
    ...(payment_status !== 'paid' && { objection: `payment_status is ${payment_status}` }),
  };
}

function unpaid(
  event: string,
  about: 'failed' | 'expired',
  { client_reference_id: tradeNo }: Stripe.Checkout.Session,
): Notice | undefined {
  return tradeNo === null ? undefined : { about, event, tradeNo };
}

/** Processed once for each dispute and step, whatever the names of the events; a late event cannot reopen a closed dispute. */
function disputed(dispute: Stripe.Dispute, step: 'opened' | 'closed'): Notice {
  return {
    about: 'disputed',
    event: `${dispute.id} ${step}`,
    dispute: dispute.id,
    payment: idOf(dispute.payment_intent),
    amount: amountsIn(dispute.amount)[0] ?? 0n,
    currency: (dispute.currency ?? '').toUpperCase(),
    won: step === 'closed' && dispute.status !== 'lost',
    ...(step === 'closed' && { supersedes: `${dispute.id} opened` }),
  };
}

/** The id of an object, which may be expanded. */
function idOf(object: string | { readonly id: string } | null): string {
  return (typeof object === 'string' ? object : object?.id) ?? '';
}
