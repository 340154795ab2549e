/** Creem: products at fixed prices, sold by the provider itself; a JSON API, with notifications signed by HMAC-SHA256. */
import { createHmac } from 'node:crypto';
import type { Host, Json, JsonObject } from '../../../core/plugin.ts';
import { isObject, parsed } from '../../../core/translation/index.ts';
import {
  ANSWER_MS,
  amountsIn,
  checkSignature,
  Forged,
  type Notice,
  type NoticeRequest,
  type Provider,
} from '../provider.ts';
import type { Configured } from '../section.ts';

export function createCreem(settings: NonNullable<Configured['creem']>, { fetch }: Pick<Host, 'fetch'>): Provider {
  const { key, webhookSecret, url, products } = settings;
  return {
    name: 'creem',
    price: undefined,
    methods: [],
    products,
    async open({ tradeNo, accountId, product, successUrl }) {
      const response = await fetch(new URL('/v1/checkouts', url), {
        method: 'POST',
        redirect: 'error',
        signal: AbortSignal.timeout(ANSWER_MS),
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({
          request_id: tradeNo,
          product_id: product,
          units: 1,
          success_url: successUrl,
          metadata: { trade_no: tradeNo, account: String(accountId) },
        }),
      });
      const answer = (await response.json().catch(() => undefined)) as Json | undefined;
      const page = isObject(answer) ? answer.checkout_url : undefined;
      if (!response.ok || typeof page !== 'string') throw new Error(`it answered ${response.status}`);
      return { kind: 'link', url: page };
    },
    notices: {
      methods: ['POST'],
      path: '/api/creem/webhook',
      taken: 'ok',
      refused: 'invalid notification',
      read: async (request) => noticeOf(verified(request, webhookSecret)),
    },
  };
}

function verified({ bytes, headers }: NoticeRequest, secret: string): JsonObject {
  checkSignature(headers['creem-signature'] ?? '', createHmac('sha256', secret).update(bytes).digest('hex'));
  const event = parsed(bytes.toString('utf8'));
  if (!isObject(event)) throw new Forged('no event');
  return event;
}

function noticeOf(raw: JsonObject): Notice | undefined {
  const event = textOf(raw.id);
  const object = objectOf(raw.object);
  const order = objectOf(object.order);
  switch (raw.eventType) {
    case 'checkout.completed': {
      const tradeNo = textOf(object.request_id);
      if (tradeNo === '') return undefined;
      if (order.status !== 'paid') return { about: 'waiting', event, tradeNo };
      const discount = order.discount_amount ?? 0;
      return {
        about: 'paid',
        event,
        tradeNo,
        payment: textOf(order.id),
        // The provider adds its tax to the price, or includes it.
        money: amountsIn(order.amount, order.sub_total),
        currency: textOf(order.currency).toUpperCase(),
        account: textOf(objectOf(object.metadata).account),
        product: idOf(order.product),
        ...(discount !== 0 && { objection: 'less was paid, by a discount' }),
        ...(Number(order.amount_paid ?? order.amount) < Number(order.amount) && { objection: 'less was paid' }),
        // The price is before tax; a lower amount was charged for something else.
        ...(Number(order.amount) < Number(order.sub_total ?? order.amount) && {
          objection: 'less than the price was paid',
        }),
        ...((object.units ?? 1) !== 1 && { objection: 'more than one' }),
      };
    }
    case 'refund.created': {
      if (object.status !== 'succeeded') return undefined;
      const transaction = objectOf(object.transaction);
      const [payment, tradeNo] = [paymentOf(object), tradeNoOf(object)];
      const [of = 0n] = amountsIn(transaction.amount_paid, transaction.amount);
      const [amount = of] = amountsIn(object.refund_amount);
      const [all] = amountsIn(transaction.refunded_amount);
      return all === undefined || all < amount
        ? { about: 'refunded', event, payment, tradeNo, sum: 'more', amount, of }
        : { about: 'refunded', event, payment, tradeNo, sum: 'all', amount: all, of };
    }
    case 'dispute.created': {
      const dispute = textOf(object.id);
      return {
        about: 'disputed',
        event: dispute && `${dispute} opened`,
        dispute,
        payment: paymentOf(object),
        tradeNo: tradeNoOf(object),
        amount: amountsIn(object.amount)[0] ?? 0n,
        currency: textOf(object.currency).toUpperCase(),
        won: false,
      };
    }
    default:
      return undefined;
  }
}

/** The order of a refund or a dispute: as an object, as an id, or named by its transaction. */
function paymentOf(object: JsonObject): string {
  return idOf(object.order) || textOf(objectOf(object.transaction).order);
}

/** Our order, if the checkout is included as an object. */
function tradeNoOf(object: JsonObject): string | undefined {
  return textOf(objectOf(object.checkout).request_id) || undefined;
}

function idOf(value: Json | undefined): string {
  return textOf(isObject(value) ? value.id : value);
}
function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}
