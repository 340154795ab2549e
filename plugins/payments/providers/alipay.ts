/** Alipay: a wallet, with a payment page or a QR code. Its own SDK signs and verifies (RSA2). Money is CNY, times are in Shanghai time. */
import type { AlipaySdk } from 'alipay-sdk';
import type { Host } from '../../../core/plugin.ts';
import { isObject, parsed } from '../../../core/translation/index.ts';
import { moneyText, readMoney } from '../money.ts';
import { ANSWER_MS, Forged, lazily, type Notice, type Provider, paidNotice, readForm } from '../provider.ts';
import type { Configured } from '../section.ts';

/** Payment methods: a page of the provider, or a QR code for its app. */
const ALIPAY_METHODS = [
  { type: 'alipay', name: 'Alipay' },
  { type: 'alipay_qr', name: 'Alipay, with a QR code' },
] as const;

/** The member of the answer that has the QR code. */
const PRECREATED = 'alipay_trade_precreate_response';

export function createAlipay(
  settings: NonNullable<Configured['alipay']>,
  { clock, fetch }: Pick<Host, 'clock' | 'fetch'>,
): Provider {
  const { appId, currency, price } = settings;
  const sdk = lazily(() => load(settings));

  return {
    name: 'alipay',
    price: { price, currency },
    methods: ALIPAY_METHODS,
    products: [],
    async open({ tradeNo, accountId, money, title, method, expiresMs, ownUrl, noticeUrl }) {
      const gateway = await sdk();
      const content = {
        out_trade_no: tradeNo,
        total_amount: moneyText(money, currency),
        subject: title,
        passback_params: String(accountId),
        time_expire: timeInShanghai(expiresMs),
      };
      const around = { notify_url: noticeUrl, timestamp: timeInShanghai(clock.now()) };
      if (method === 'alipay_qr') {
        // Not by `exec`, whose requests bypass the outgoing proxy; in the same form.
        const query = new URLSearchParams(
          gateway.sdkExecute('alipay.trade.precreate', { ...around, bizContent: content }),
        );
        const body = new URLSearchParams({ biz_content: query.get('biz_content')! });
        query.delete('biz_content');
        const response = await fetch(`${settings.gateway}?${query}`, {
          method: 'POST',
          redirect: 'error',
          signal: AbortSignal.timeout(ANSWER_MS),
          body,
        });
        const text = await response.text();
        const answer = parsed(text);
        const reply = isObject(answer) ? answer[PRECREATED] : undefined;
        if (!isObject(answer) || !isObject(reply)) throw new Error(`it answered ${response.status}`);
        gateway.checkResponseSign(text, PRECREATED, String(answer.sign), '');
        const { code, qr_code: qrCode } = reply;
        if (code !== '10000' || typeof qrCode !== 'string') throw new Error(`it answered ${String(code)}`);
        return { kind: 'code', content: qrCode };
      }
      const bizContent = { ...content, product_code: 'FAST_INSTANT_TRADE_PAY' };
      const url = gateway.pageExecute('alipay.trade.page.pay', 'GET', {
        ...around,
        return_url: ownUrl,
        bizContent,
      });
      return { kind: 'link', url };
    },
    notices: {
      methods: ['POST'],
      path: '/api/alipay/notify',
      fields: 'application/x-www-form-urlencoded',
      taken: 'success',
      refused: 'fail',
      async read({ bytes }) {
        const fields = readForm(bytes.toString('utf8'));
        // Fields that the sender controls and the SDK would use: the older signature type, another charset.
        const isOurs =
          fields.sign_type === 'RSA2' && fields.app_id === appId && /^utf-?8$/i.test(fields.charset ?? 'utf-8');
        if (!isOurs || !(await sdk()).checkNotifySignV2(fields)) throw new Forged('the signature is invalid');
        return noticeOf(fields, currency);
      },
    },
  };
}

async function load({ appId, privateKey, publicKey, gateway }: NonNullable<Configured['alipay']>): Promise<AlipaySdk> {
  const { AlipaySdk: Sdk } = await import('alipay-sdk');
  return new Sdk({
    appId,
    keyType: 'PKCS8',
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim(),
    alipayPublicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString().trim(),
    gateway,
  });
}

function noticeOf(fields: Readonly<Record<string, string>>, currency: string): Notice | undefined {
  const { notify_id, out_trade_no: tradeNo = '', trade_no: payment = '', refund_fee = '', trade_status } = fields;
  if (!notify_id) throw new Forged('it has no id');
  const event = `${notify_id} ${trade_status} ${refund_fee}`;
  const money = readMoney(fields.total_amount ?? '', currency);
  const amount = refund_fee === '' ? 0n : (readMoney(refund_fee, currency) ?? money ?? 0n);
  if (amount > 0n) return { about: 'refunded', event, payment, tradeNo, sum: 'all', amount, of: money ?? 0n };
  switch (trade_status) {
    case 'TRADE_SUCCESS':
    case 'TRADE_FINISHED':
      return paidNotice({ event, tradeNo, payment }, money, currency, fields.passback_params);
    case 'TRADE_CLOSED':
      return { about: 'expired', event, tradeNo };
    case 'WAIT_BUYER_PAY':
      return { about: 'waiting', event, tradeNo };
    default:
      return undefined;
  }
}

const SHANGHAI_MS = 8 * 3_600_000;

/** `2026-01-31 18:00:00` */
function timeInShanghai(ms: number): string {
  return new Date(ms + SHANGHAI_MS).toISOString().slice(0, 19).replace('T', ' ');
}
