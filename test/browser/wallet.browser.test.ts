/** The pages Wallet and Payments, in a browser: codes, payment pages and what is told afterwards, plans, debts, what administrators do. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import {
  assertClean,
  becomes,
  builtConsole,
  freePort,
  type Onlooker,
  onlooker,
  startBrowser,
} from '../kit/console/browser.ts';
import { member, PATIENT, root, type Visitor, verify } from '../kit/console/console.ts';
import { BEGIN, type PayingGateway, startPaying } from '../kit/console/paying.ts';

let gateway: PayingGateway;
let browser: Browser;
let admin: Visitor;
before(async () => {
  const [port, env] = [await freePort(), await builtConsole()];
  gateway = await startPaying(
    {
      listen: { host: '127.0.0.1', port },
      console: { ...PATIENT, url: `http://localhost:${port}` },
      plans: { pro: { title: 'Pro', daily: 5, weekly: 20, price: 8, balance: 2 } },
    },
    env,
  );
  admin = await verify(await root(gateway));
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
});

let at: Onlooker;
let page: Page;
let ann: Visitor;
let name: string;
let people = 0;
beforeEach(async () => {
  name = `ann-${++people}`;
  ann = await member(gateway, name);
  await look(ann);
});
afterEach(async () => {
  // Payment pages are elsewhere, on purpose.
  assertClean(
    'in the browser',
    at.problems.filter((problem) => !/^request: https:\/\/(checkout|epay|creem)\.example\//.test(problem)),
  );
  await at.close();
});

async function look(who: Visitor): Promise<void> {
  await at?.close();
  at = await onlooker(browser, gateway, who);
  page = at.page;
  await page.route(/^https:\/\/(checkout|epay|creem)\.example\//, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<title>Pay</title><h1>Pay here</h1>' }),
  );
}

const dialog = (title: string) => page.getByRole('dialog', { name: title });
const part = (title: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
const press = (text: string) => page.getByRole('button', { name: text, exact: true }).click();
const figure = (label: string) => page.locator('.figure').filter({ hasText: label });
const payPage = () => page.getByRole('heading', { name: 'Pay here' });
const balance = async (): Promise<number> => (await ann.data('GET', '/api/user/self')).quota;

describe('the wallet', () => {
  it('takes a code once, and says at the field what is wrong with another', async () => {
    const [code] = await admin.data('POST', '/api/redemption/', { name: 'gift', quota: 250_000 });
    await at.open('/wallet');
    await press('Redeem');
    await page.getByText('Enter a code.').waitFor();
    await page.getByLabel('Code', { exact: true }).fill('no such code');
    await press('Redeem');
    await page.locator('.mantine-InputWrapper-error').waitFor();
    await page.getByLabel('Code', { exact: true }).fill(`  ${code}  `);
    await press('Redeem');
    await page.getByText('$0.50 was added to your balance.').waitFor();
    await figure('Available').getByText('$0.50').waitFor();
    await page.getByRole('cell', { name: 'Redeemed a code' }).waitFor();
    await page.getByLabel('Code', { exact: true }).fill(code);
    await press('Redeem');
    await page.locator('.mantine-InputWrapper-error').waitFor();
    await becomes(() => page.getByText('$0.50 was added to your balance.').count(), 0);
  });

  it('goes to the page of a provider, comes back, and waits until it is told', async () => {
    await at.open('/wallet');
    await page.getByRole('radio', { name: 'Stripe' }).check();
    await page.getByLabel('Other amount').fill('3');
    await becomes(() => page.getByRole('button', { name: 'Pay', exact: true }).isDisabled(), true, 'too little');
    await page.getByText('$20.00', { exact: true }).click();
    await page.getByText('You pay $20.00 and get $20.00.').waitFor();
    await press('Pay $20.00');
    await payPage().waitFor();
    const session = gateway.stripe.sessions.at(-1)!;
    const urls = [session.fields.success_url, session.fields.cancel_url].map((url) => new URL(url ?? ''));
    assert.deepEqual(
      urls.map(({ pathname, search }) => pathname + search),
      ['/console/wallet?paid=stripe', '/console/wallet?unpaid=stripe'],
    );

    await page.goto(urls[1]!.href);
    await page.getByText('Payment cancelled').waitFor();
    await page.goto(urls[0]!.href);
    await page.getByText('Waiting for your payment to be confirmed').waitFor();
    assertClean('waiting', await at.violations());
    assert.equal(await gateway.tell(gateway.stripe.session(session)), '200 ok');
    await page.getByText('$20.00 was added to your balance.').waitFor();
    await figure('Available').getByText('$20.00').waitFor();
    await page.getByRole('cell', { name: 'Paid with Stripe' }).waitFor();
    await press('Dismiss');
    await page.getByText('$20.00 was added to your balance.').waitFor({ state: 'detached' });
    await becomes(() => new URL(page.url()).search, '');

    await page.getByRole('tab', { name: 'Orders' }).click();
    await page.getByRole('row').nth(1).getByText('Paid').waitFor();
    await page.getByRole('row').nth(1).getByRole('button').click();
    await dialog('Order').getByText('Completed').waitFor();
    await becomes(() => new URL(page.url()).searchParams.get('order'), session.tradeNo);
  });

  it('posts a form where a provider wants one, shows a picture where one is scanned, opens nothing unsafe', async () => {
    await at.open('/wallet');
    await page.getByRole('radio', { name: 'WeChat' }).check();
    const posted = page.waitForRequest(/^https:\/\/epay\.example\//);
    await page.getByText('You pay $10.00 and get $10.00.').waitFor();
    await press('Pay $10.00');
    const request = await posted;
    assert.deepEqual([request.method(), new URL(request.url()).pathname], ['POST', '/submit.php']);
    const form = Object.fromEntries(new URLSearchParams(request.postData() ?? ''));
    gateway.epay.submit(form);
    assert.match(await gateway.tell(gateway.epay.notice(form)), /^200/);
    await payPage().waitFor();
    // This provider comes back to where it was told to, without a word.
    await at.open('/topup');
    await page.getByText('$10.00 was added to your balance.').waitFor();
    await press('Dismiss');

    await page.getByRole('radio', { name: 'QR code' }).check();
    await page.getByText('You pay CN¥73.00 and get $10.00.').waitFor();
    await press('Pay CN¥73.00');
    const scan = dialog('Scan to pay');
    const picture = scan.getByAltText('Payment QR code');
    await picture.waitFor();
    await becomes(() => picture.evaluate((image: { naturalWidth: number }) => image.naturalWidth > 0), true);
    assertClean('the picture', await at.violations());
    await gateway.tell(gateway.alipay.notice(gateway.alipay.trades.at(-1)!));
    await scan.getByText('$10.00 was added to your balance.').waitFor();
    await scan.getByRole('button', { name: 'Close', exact: true }).last().click();
    assert.equal(await balance(), 10_000_000);

    for (const pay_link of ['javascript:document.title="owned"', 'http://pay.example/', 'data:text/html,x', '']) {
      await page.route('**/api/user/stripe/pay', (route) =>
        route.fulfill({ json: { success: true, message: 'success', data: { pay_link, order_id: 'TP0' } } }),
      );
      await page.getByRole('radio', { name: 'Stripe' }).check();
      const answered = page.waitForResponse('**/api/user/stripe/pay');
      await press('Pay $10.00');
      await answered;
      // What is said of the one before may be there still.
      await page.locator('button:not([data-loading])', { hasText: 'Pay $10.00' }).waitFor();
      await page
        .getByText(/not opened|could not be opened/)
        .last()
        .waitFor();
      assert.match(page.url(), /^http:\/\/localhost:\d+\/console\/wallet/);
      await page.unroute('**/api/user/stripe/pay');
    }
    assert.notEqual(await page.title(), 'owned');
  });

  it('sells plans from the balance, shows their windows, and explains a debt', async () => {
    const { data } = (await ann.post('/api/user/stripe/pay', { amount: 10 })).body;
    const session = gateway.stripe.sessions.find(({ tradeNo }) => tradeNo === data.order_id)!;
    await gateway.tell(gateway.stripe.session(session));
    await at.open('/wallet');
    await part('Subscription').getByText('You have no subscription').waitFor();
    await press('Buy plan Pro');
    const buy = dialog('Buy plan Pro');
    await buy.getByRole('radio', { name: 'Your balance' }).check();
    await buy.getByRole('button', { name: 'Pay $8.00' }).click();
    await page.getByText('Your plan Pro is active.').waitFor();
    await part('Subscription').getByText('$0.00 of $5.00').waitFor();
    await page.getByRole('cell', { name: 'Included in a plan' }).waitFor();
    await page.getByRole('cell', { name: 'Bought a plan' }).waitFor();
    await figure('Available').getByText('$4.00').waitFor();

    await gateway.tell(gateway.stripe.refunded(session, 1_000));
    await at.open('/wallet?tab=orders');
    await page.getByText('You owe $6.00').waitFor();
    await page.getByText('the debt is paid first').waitFor();
    await page.getByRole('row').last().getByText('Refunded').waitFor();
    assertClean('a debt', await at.violations());
  });
});

describe('payments, for administrators', () => {
  it('shows the invoice of a paid order with the details that its buyer has entered', async () => {
    const order = await BEGIN.stripe!(gateway, ann);
    await gateway.tell(order.paid());
    await at.open('/wallet?tab=orders');
    await press('Billing details');
    const form = dialog('Billing details');
    await form.getByRole('textbox', { name: 'Name or company' }).fill('Ann & Sons');
    await form.getByRole('textbox', { name: 'Address' }).fill('1 Main Street\nLondon');
    assertClean('the form', [...(await at.violations()), ...(await at.overflow())]);
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'hidden' });
    await at.open(`/wallet?tab=orders&order=${order.tradeNo}`);
    const [invoice] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('link', { name: 'Invoice' }).click(),
    ]);
    await invoice.getByRole('heading', { name: 'Receipt' }).waitFor();
    await invoice.getByText('Ann & Sons').waitFor();
    const printed = [invoice.url(), new URL('/api/user/statement/print', invoice.url()).href];
    await invoice.close();
    for (const language of ['en', 'zh']) {
      for (const address of printed) {
        const url = new URL(address);
        url.searchParams.set('lang', language);
        if (!url.searchParams.has('trade_no')) url.searchParams.set('month', new Date().toISOString().slice(0, 7));
        await page.setViewportSize({ width: 360, height: 800 });
        await page.goto(url.href);
        const title = language === 'en' ? /Receipt|Account statement/ : /收据|账户对账单/;
        await page.getByRole('heading', { name: title }).waitFor();
        // The table of a statement scrolls in its frame.
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360);
        assertClean(url.pathname, [...(await at.violations()), ...(language === 'zh' ? await at.untranslated() : [])]);
        await page.emulateMedia({ media: 'print' });
        assert.equal(await page.locator('.hint').isVisible(), false, 'the hint is not printed');
        await page.emulateMedia({ media: 'screen' });
      }
    }
    at.forget();
  });

  it('completes an order by hand, for a reason that stands in the audit', async () => {
    const { data } = (await ann.post('/api/user/stripe/pay', { amount: 10 })).body;
    await look(admin);
    await at.open('/payments');
    await page.getByLabel('Search by order number').fill(data.order_id.slice(3, 15));
    await page.getByRole('row').nth(2).waitFor({ state: 'detached' });
    await page.getByRole('row').filter({ hasText: name }).getByRole('button').click();
    await press('Complete manually');
    const asks = dialog('Complete the order manually?');
    await asks.getByRole('button', { name: 'Complete order' }).click();
    await asks.getByText('Enter the proof of payment.').waitFor();
    await asks.getByLabel('Proof of payment').fill('Seen in the bank');
    await asks.getByRole('button', { name: 'Complete order' }).click();
    await page.getByText('The order is complete.').waitFor();
    await dialog('Order').getByText('Completed').waitFor();
    assert.equal(await balance(), 5_000_000);
    const [told] = (await admin.data('GET', '/api/audit?action=order.completed')).items;
    assert.equal(told.facts.reason, 'Seen in the bank');
  });

  it('makes codes, shows them whole to whoever was checked, switches one off, and gives plans', async () => {
    await look(admin);
    await at.open('/payments?tab=codes');
    await press('Create codes');
    const form = dialog('Create codes');
    await form.getByLabel('Name').fill('spring');
    await form.getByLabel('Amount each').fill('2');
    await form.getByLabel('Number of codes').fill('3');
    await form.getByRole('button', { name: 'Create 3 codes' }).click();
    const made = dialog('3 codes');
    const codes = ((await made.locator('pre').textContent()) ?? '').split('\n');
    assert.equal(codes.length, 3);
    const saving = page.waitForEvent('download');
    await made.getByRole('button', { name: 'Download CSV' }).click();
    assert.equal((await saving).suggestedFilename(), 'redemption-codes.csv');
    await made.getByRole('button', { name: 'Done' }).click();
    await page
      .getByRole('row')
      .filter({ hasText: codes[0] ?? '' })
      .waitFor();
    const [stored] = (await admin.data('GET', '/api/redemption/search?keyword=spring')).items;
    assert.deepEqual([codes.includes(stored.key), stored.quota], [true, 1_000_000]);
    await page.getByRole('button', { name: `More actions for spring #${stored.id}` }).click();
    await page.getByRole('menuitem', { name: 'Disable' }).click();
    await page.getByRole('row').filter({ hasText: stored.key }).getByText('Disabled').waitFor();
    assert.equal((await ann.post('/api/user/topup', { key: stored.key })).status, 400);

    await page.getByRole('tab', { name: 'Plans' }).click();
    await page.getByRole('combobox', { name: 'User' }).fill(name);
    await page.getByRole('option', { name }).click();
    await page.getByText('No plan: calls are paid from the balance.').waitFor();
    await press('Assign');
    await page.getByText('Assigned the plan Pro.').waitFor();
    await part('Plan of a user').getByText('$0.00 of $20.00').waitFor();
    await press('End now');
    await dialog(`End the plan of ${name}?`).getByRole('button', { name: 'End plan' }).click();
    await page.getByText('No plan: calls are paid from the balance.').waitFor();
  });
});
