/** Invoices and credit notes as a page to print, in English or Chinese, one document on each sheet. */
import { inQuota } from '../../../core/contracts/ledger.ts';
import type { OrderDocument } from '../../../core/contracts/payments.ts';
import type { Answer } from '../../../core/plugin.ts';
import { escaped, type PageLanguage, printPage } from './print-page.ts';
import { dateOf } from './units.ts';

const TEXTS = {
  en: {
    invoice: 'Invoice',
    receipt: 'Receipt',
    credit: 'Credit note',
    number: 'Number',
    date: 'Date',
    paid: 'Paid',
    about: 'For',
    order: 'Order',
    method: 'Payment method',
    from: 'Seller',
    to: 'Buyer',
    account: 'Account',
    taxId: 'Tax ID',
    item: 'Item',
    amount: 'Amount',
    net: 'Net amount',
    total: 'Total',
    balance: 'Balance, {0} quota',
    plan: 'Plan {0}',
    returned: 'Returned payment: {0}',
  },
  zh: {
    invoice: '账单',
    receipt: '收据',
    credit: '退款单',
    number: '编号',
    date: '日期',
    paid: '付款日期',
    about: '对应单据',
    order: '订单',
    method: '支付方式',
    from: '卖方',
    to: '买方',
    account: '账户',
    taxId: '税号',
    item: '项目',
    amount: '金额',
    net: '不含税金额',
    total: '合计',
    balance: '余额，{0} 额度',
    plan: '套餐 {0}',
    returned: '退款：{0}',
  },
} as const satisfies Readonly<Record<PageLanguage, Readonly<Record<string, string>>>>;

/** The page. `account`: the name of the buyer's account; `site`: the name of this gateway, which sells if gateway.yaml names no seller. */
export function invoicePage(
  documents: readonly OrderDocument[],
  { account, site, language }: { readonly account: string; readonly site: string; readonly language: PageLanguage },
): Answer {
  const title = documents.map((document) => `${titleOf(document, language)} ${document.number}`).join(', ');
  const sheets = documents.map((document) => sheetOf(document, account, site, language)).join('');
  return printPage({ title, language, sheets });
}

function titleOf({ kind, seller }: OrderDocument, language: PageLanguage): string {
  const text = TEXTS[language];
  if (kind === 'credit') return text.credit;
  return seller.name === '' ? text.receipt : text.invoice;
}

function sheetOf(document: OrderDocument, account: string, site: string, language: PageLanguage): string {
  const text = TEXTS[language];
  const { number, kind, issuedMs, order, seller, buyer, about, amount, currency, tax } = document;
  const sign = kind === 'credit' ? '-' : '';
  const money = (value: string): string => `${sign}${value} ${currency}`;
  const bought =
    order.kind === 'plan' ? filled(text.plan, order.plan ?? '') : filled(text.balance, inQuota(order.quota));
  const facts: readonly (readonly [string, string])[] = [
    [text.number, number],
    [text.date, dateOf(issuedMs)],
    ...(kind === 'invoice' && order.completedMs !== undefined ? [[text.paid, dateOf(order.completedMs)] as const] : []),
    ...(about === undefined ? [] : [[text.about, about] as const]),
    [text.order, order.tradeNo],
    [text.method, order.method === order.provider ? order.provider : `${order.provider}, ${order.method}`],
  ];
  const side = (heading: string, lines: readonly string[]): string =>
    `<section><h2>${heading}</h2><p>${lines
      .filter((line) => line !== '')
      .map(escaped)
      .join('\n')}</p></section>`;
  const taxLine = (id: string): string => (id === '' ? '' : `${text.taxId}: ${id}`);
  return `<article>
<h1>${titleOf(document, language)}</h1>
<dl class="facts">${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${escaped(value)}</dd></div>`).join('')}</dl>
<div class="sides">${side(text.from, [
    ...[seller.name === '' ? site : seller.name, seller.address, taxLine(seller.taxId), seller.email],
  ])}${side(text.to, [buyer.name, buyer.address, taxLine(buyer.taxId), `${text.account}: ${account}`])}</div>
<table>
<thead><tr><th scope="col">${text.item}</th><th scope="col">${text.amount}</th></tr></thead>
<tbody><tr><td>${escaped(kind === 'credit' ? filled(text.returned, bought) : bought)}</td><td>${money(tax?.net ?? amount)}</td></tr></tbody>
<tfoot>${
    tax === undefined
      ? ''
      : `<tr><th scope="row">${text.net}</th><td>${money(tax.net)}</td></tr><tr><th scope="row">${escaped(tax.name)} ${tax.rate} %</th><td>${money(tax.amount)}</td></tr>`
  }<tr class="total"><th scope="row">${text.total}</th><td>${money(amount)}</td></tr></tfoot>
</table>
${seller.note === '' ? '' : `<footer><p>${escaped(seller.note)}</p></footer>`}
</article>`;
}

const filled = (text: string, value: string): string => text.replace('{0}', () => value);
