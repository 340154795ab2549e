/** Invoices and credit notes: their numbers, what they say, whose they are, and that they never change. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Audit } from '../../../core/contracts/audit.ts';
import { Payments } from '../../../core/contracts/payments.ts';
import { type ApiAnswer, member, root, said, type Visitor, verdictOf, verify } from '../../kit/console/console.ts';
import { BEGIN, type PayingGateway, startPaying } from '../../kit/console/paying.ts';

const SELLER = {
  name: 'Acme & Sons',
  address: '1 Main Street\n10115 Berlin',
  taxId: 'DE123456789',
  note: 'Thank you.',
  prefix: 'A-',
  tax: { name: 'VAT', rate: 19 },
};

/** What a reader sees of the sheets. */
const plain = ({ status, text }: ApiAnswer): string => {
  assert.equal(status, 200, text);
  return text
    .slice(text.indexOf('<main>'))
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');
};

describe('invoices', () => {
  let gateway: PayingGateway;
  let ann: Visitor;
  let bob: Visitor;
  let admin: Visitor;
  before(async () => {
    gateway = await startPaying({ plans: { pro: { daily: 5, price: 2 } } }, {}, SELLER);
    ann = await member(gateway, 'ann');
    bob = await member(gateway, 'bob');
    admin = await verify(await root(gateway));
  });
  after(() => gateway?.stop());

  const begin = (name: string, who: Visitor) => BEGIN[name]!(gateway, who);
  const invoice = (who: Visitor, tradeNo: string, more = '') => who.get(`/api/user/invoice?trade_no=${tradeNo}${more}`);
  const documents = async (tradeNo: string) =>
    (await gateway.host.use(Payments).documents(tradeNo)).map(
      ({ number, kind, amount, about }) => `${number} ${kind} ${amount}${about === undefined ? '' : ` ${about}`}`,
    );

  it('exist for paid orders, say who sells, who buys, what and with which tax, and run no scripts', async () => {
    const order = await begin('stripe', ann);
    assert.equal(verdictOf(await invoice(ann, order.tradeNo)), '404 invoice_not_found trade_no', 'it is not paid');
    await gateway.tell(order.paid());
    await ann.data('PUT', '/api/user/billing', {
      name: 'Ann <i>Ltd</i>',
      address: '2 Side Street\nLondon',
      tax_id: 'GB1',
    });
    const answer = await invoice(ann, order.tradeNo);
    const text = plain(answer);
    const day = new Date(gateway.clock.now()).toISOString().slice(0, 10);
    for (const part of [
      'Invoice Number A-000001',
      `Date ${day}`,
      `Order ${order.tradeNo}`,
      'Payment method stripe',
      'Seller Acme &amp; Sons 1 Main Street 10115 Berlin Tax ID: DE123456789',
      'Buyer Ann &lt;i&gt;Ltd&lt;/i&gt; 2 Side Street London Tax ID: GB1 Account: ann',
      'Balance, 5000000 quota 8.40 USD',
      'Net amount 8.40 USD VAT 19 % 1.60 USD Total 10.00 USD',
      'Thank you.',
    ]) {
      assert.ok(text.includes(part), `${part} is not in: ${text}`);
    }
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
    const policy = answer.headers.get('content-security-policy') ?? '';
    assert.match(policy, /^default-src 'none'; style-src 'sha256-[^']+'; frame-ancestors 'none'/);
    assert.ok(answer.text.includes('@media print'));
  });

  it('stay as they were issued, whatever the buyer enters later', async () => {
    const order = await begin('stripe', ann);
    await gateway.tell(order.paid());
    const first = (await invoice(ann, order.tradeNo)).text;
    gateway.clock.advance(12 * 3_600_000);
    await ann.data('PUT', '/api/user/billing', { name: 'Another name' });
    assert.equal((await invoice(ann, order.tradeNo)).text, first);
    assert.deepEqual(await ann.data('GET', '/api/user/billing'), { name: 'Another name', address: '', tax_id: '' });
    assert.ok(!(await ann.data('GET', '/api/user/self')).setting.includes('Another name'));
    const [entry] = await gateway.host.use(Audit).page({ limit: 1, action: 'user.billing' });
    assert.equal(entry?.actor.name, 'ann');
  });

  it('are followed by a credit note for each returned part', async () => {
    const order = await begin('alipay', ann);
    await gateway.tell(order.paid());
    const [first] = await documents(order.tradeNo);
    assert.match(first!, /^A-000003 invoice 73\.00$/);
    await gateway.tell(order.refunded());
    const credit = `A-000004 credit 73.00 A-000003`;
    assert.deepEqual(await documents(order.tradeNo), [first, credit]);
    assert.deepEqual(await documents(order.tradeNo), [first, credit], 'nothing is issued twice');
    const text = plain(await invoice(ann, order.tradeNo, '&number=A-000004'));
    assert.ok(text.includes('Credit note Number A-000004'), text);
    assert.ok(text.includes('For A-000003'), text);
    assert.ok(text.includes('Total -73.00 CNY'), text);
    assert.ok(!text.includes('Invoice Number'), text);
  });

  it('of a payment that went back before anybody asked are an invoice and a credit note', async () => {
    const order = await begin('stripe', bob);
    await gateway.tell(order.paid());
    const session = gateway.stripe.sessions.find(({ tradeNo }) => tradeNo === order.tradeNo)!;
    await gateway.tell(gateway.stripe.refunded(session, 400));
    const numbers = ['A-000005 invoice 10.00', 'A-000006 credit 4.00 A-000005'];
    assert.deepEqual(await documents(order.tradeNo), numbers);
    await gateway.tell(gateway.stripe.refunded(session, 1_000));
    assert.deepEqual(await documents(order.tradeNo), [...numbers, 'A-000007 credit 6.00 A-000005']);
  });

  it('have the tax of an invoice in its credit notes, to the cent, however small they are', async () => {
    const order = await begin('stripe', bob);
    await gateway.tell(order.paid());
    const session = gateway.stripe.sessions.find(({ tradeNo }) => tradeNo === order.tradeNo)!;
    for (const sum of [333, 666, 1_000]) {
      await gateway.tell(gateway.stripe.refunded(session, sum));
      await documents(order.tradeNo);
    }
    const issued = await gateway.host.use(Payments).documents(order.tradeNo);
    const taxes = issued.map(({ tax }) => Math.round(Number(tax?.amount) * 100));
    assert.deepEqual(taxes, [160, 54, 53, 53]);
  });

  it('that are requested at the same moment have each number once', async () => {
    const orders = [];
    for (let i = 0; i < 6; i++) {
      const order = await begin('stripe', bob);
      await gateway.tell(order.paid());
      orders.push(order.tradeNo);
    }
    const issued = await Promise.all([...orders, ...orders].map((tradeNo) => documents(tradeNo)));
    const numbers = new Set(issued.flat());
    assert.equal(numbers.size, 6);
    const rows = gateway.rows('SELECT seq, number FROM payment_document ORDER BY seq');
    assert.deepEqual(
      rows.map(({ number }) => number),
      rows.map((_, i) => `A-${String(i + 1).padStart(6, '0')}`),
    );
  });

  it('are those of the own orders; administrators see all', async () => {
    const order = await begin('stripe', ann);
    await gateway.tell(order.paid());
    assert.equal(said(await invoice(bob, order.tradeNo)), '404 invoice_not_found');
    assert.equal(said(await bob.get(`/api/user/topup/invoice?trade_no=${order.tradeNo}`)), '403 role_insufficient');
    const text = plain(await admin.get(`/api/user/topup/invoice?trade_no=${order.tradeNo}&lang=zh`));
    assert.ok(text.includes('账单'), text);
    assert.ok(text.includes('账户: ann'), text);
    assert.equal(said(await invoice(ann, 'TP0')), '404 invoice_not_found');
  });

  it('are not issued for what the balance paid: that was invoiced before', async () => {
    const order = await begin('stripe', ann);
    await gateway.tell(order.paid());
    const { body } = await ann.post('/api/subscription/balance/pay', { plan: 'pro' });
    assert.equal(said(await invoice(ann, body.data.trade_no)), '404 invoice_not_found');
  });
});

describe('without a seller in gateway.yaml', () => {
  it('there are receipts in the name of the gateway, without a tax', async () => {
    const gateway = await startPaying();
    try {
      const ann = await member(gateway, 'ann');
      const order = await BEGIN.stripe!(gateway, ann);
      await gateway.tell(order.paid());
      const text = plain(await ann.get(`/api/user/invoice?trade_no=${order.tradeNo}`));
      assert.ok(text.includes('Receipt Number INV-000001'), text);
      assert.ok(text.includes('Seller Turnpike'), text);
      assert.ok(text.includes('Balance, 5000000 quota 10.00 USD Total 10.00 USD'), text);
    } finally {
      await gateway.stop();
    }
  });
});
