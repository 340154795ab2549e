/** Epay: aggregators of wallets with one common protocol: a signed form to them, a signed query back. The protocol uses MD5. */
import { createHash } from 'node:crypto';
import { moneyText, readMoney } from '../money.ts';
import { checkSignature, Forged, type Provider, paidNotice, readForm } from '../provider.ts';
import type { Configured } from '../section.ts';

export function createEpay(settings: NonNullable<Configured['epay']>): Provider {
  const { id, key, url, methods, currency, price } = settings;
  return {
    name: 'epay',
    price: { price, currency },
    methods,
    products: [],
    async open({ tradeNo, accountId, money, title, method, ownUrl, noticeUrl }) {
      const fields = {
        pid: id,
        type: method,
        out_trade_no: tradeNo,
        notify_url: noticeUrl,
        return_url: ownUrl,
        // The signature does not delimit values: see `ownUrl`.
        name: title.replaceAll('&', '+'),
        money: moneyText(money, currency),
        param: String(accountId),
        device: 'pc',
      };
      const sign = epaySign(fields, key);
      return { kind: 'form', url: `${url}/submit.php`, fields: { ...fields, sign, sign_type: 'MD5' } };
    },
    notices: {
      methods: ['GET', 'POST'],
      path: '/api/user/epay/notify',
      fields: 'application/x-www-form-urlencoded',
      taken: 'success',
      refused: 'fail',
      async read({ method, query, bytes }) {
        const fields = readForm(method === 'GET' ? query.toString() : bytes.toString('utf8'));
        const { sign = '', pid, trade_status: state, out_trade_no: tradeNo = '', trade_no: payment = '' } = fields;
        checkSignature(sign, epaySign(fields, key));
        if (pid !== id) throw new Forged('it is for another merchant');
        // The form of `open` is signed with the same key.
        if (state === undefined) throw new Forged('it is no notification');
        const event = `${tradeNo} ${payment} ${state}`;
        if (state !== 'TRADE_SUCCESS') return { about: 'waiting', event, tradeNo };
        const money = readMoney(fields.money ?? '', currency);
        return paidNotice({ event, tradeNo, payment }, money, currency, fields.param);
      },
    },
  };
}

/** MD5 over the non-empty fields, sorted by name, and the key. */
function epaySign(fields: Readonly<Record<string, string>>, key: string): string {
  const signed = Object.keys(fields)
    .filter((name) => name !== 'sign' && name !== 'sign_type' && fields[name] !== '')
    .sort()
    .map((name) => `${name}=${fields[name]}`)
    .join('&');
  return createHash('md5')
    .update(signed + key)
    .digest('hex');
}
