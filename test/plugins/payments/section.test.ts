/** The section `payments`: which providers there are, and what is no way to fill one in. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkValue } from '../../../core/sdk.ts';
import { type PaymentsSection, paymentsSection, readSection } from '../../../plugins/payments/section.ts';
import { fakeAlipay } from '../../kit/stand-ins/fake-payments.ts';

/** A section that is missing is core's business. */
const { default: _, ...members } = paymentsSection;

/** Which providers a section has, and what is wrong with it. */
function read(written: Readonly<Record<string, unknown>>) {
  const section = structuredClone(written);
  const mistakes = checkValue(members, section as never);
  assert.deepEqual(mistakes, []);
  const problems: string[] = [];
  const found = readSection(section as unknown as PaymentsSection, (path, message) =>
    problems.push(`${path.join('.')} ${message}`),
  );
  return { found, providers: Object.keys(found), problems };
}

const STRIPE = { secret: 'sk_test_0123456789', webhookSecret: 'whsec_0123456789abcdef' };
const CREEM = {
  key: 'creem_0123456789',
  webhookSecret: 'whsec_0123456789abcdef',
  products: [{ id: 'p', name: 'P', price: 10, quota: 5 }],
};
const EPAY = { id: '1001', key: '0123456789abcdef', url: 'https://epay.example/' };

describe('the section payments', () => {
  it('turns a provider off where nothing is filled in, as a variable that is not set leaves it [T-PAY-01]', () => {
    assert.deepEqual(read({}), { found: {}, providers: [], problems: [] });
    for (const blank of ['', ' ', '\t\n']) {
      const off = {
        stripe: { secret: blank, webhookSecret: blank },
        creem: { key: blank, webhookSecret: blank, products: CREEM.products },
        alipay: { appId: blank, privateKey: blank, publicKey: blank },
        epay: { id: blank, key: blank, url: '' },
      };
      assert.deepEqual(read(off), { found: {}, providers: [], problems: [] }, JSON.stringify(blank));
    }
  });

  it('refuses one that is filled in by half, or whose secret could be guessed [T-PAY-01]', () => {
    const half: readonly (readonly [section: object, problem: RegExp])[] = [
      [{ stripe: { ...STRIPE, webhookSecret: '' } }, /^payments\.stripe\.webhookSecret is empty/],
      [{ stripe: { ...STRIPE, webhookSecret: ' ' } }, /^payments\.stripe\.webhookSecret is empty/],
      [{ stripe: { ...STRIPE, webhookSecret: 'whsec_123456789' } }, /^payments\.stripe\.webhookSecret is too short/],
      [{ stripe: { ...STRIPE, webhookSecret: `  short${' '.repeat(30)}` } }, /webhookSecret is too short/],
      [{ stripe: { webhookSecret: STRIPE.webhookSecret } }, /^payments\.stripe\.secret is empty/],
      [{ creem: { ...CREEM, webhookSecret: '' } }, /^payments\.creem\.webhookSecret is empty/],
      [{ creem: { ...CREEM, webhookSecret: '0123456789' } }, /^payments\.creem\.webhookSecret is too short/],
      [{ creem: { ...CREEM, products: [] } }, /^payments\.creem\.products is empty/],
      [{ epay: { ...EPAY, key: '' } }, /^payments\.epay\.key is empty/],
      [{ epay: { ...EPAY, key: 'short' } }, /^payments\.epay\.key is too short/],
      [{ epay: { ...EPAY, url: '' } }, /^payments\.epay\.url is empty/],
      [{ epay: { ...EPAY, methods: [] } }, /^payments\.epay\.methods is empty/],
      [{ currency: 'CNY', alipay: { appId: '1', privateKey: 'x', publicKey: '' } }, /alipay\.publicKey is empty/],
      [
        { currency: 'CNY', alipay: { appId: '1', privateKey: 'x', publicKey: 'y' } },
        /alipay\.privateKey is not an RSA key/,
      ],
      [{ alipay: { appId: '1', privateKey: 'x', publicKey: 'y' } }, /^payments\.alipay\.price is missing/],
    ];
    for (const [section, problem] of half) {
      const { providers, problems } = read(section as Record<string, unknown>);
      assert.match(problems.join('\n'), problem);
      if (!('creem' in section) || !/products/.test(problems[0]!)) assert.deepEqual(providers, [], problems.join());
    }
  });

  it('refuses prices and currencies that cannot be counted', () => {
    assert.match(
      read({ stripe: { ...STRIPE, price: '0.0' } }).problems.join(),
      /payments\.stripe\.price must be a number above 0/,
    );
    assert.match(read({ price: 1e-10, stripe: STRIPE }).problems.join(), /payments\.price must be a number above 0/);
    assert.match(read({ currency: 'KWD', stripe: STRIPE }).problems.join(), /KWD is not supported/);
    const foreign = read({ stripe: { ...STRIPE, currency: 'JPY' } });
    assert.match(foreign.problems.join(), /payments\.stripe\.price is missing/, 'a price is one of its own currency');
    assert.deepEqual(read({ stripe: { ...STRIPE, currency: 'JPY', price: 150 } }).problems, []);
    for (const [price, currency] of [
      ['0.001', 'USD'],
      ['9.995', 'USD'],
      [9.5, 'JPY'],
    ]) {
      const products = [{ ...CREEM.products[0], price, currency }];
      assert.match(read({ creem: { ...CREEM, products } }).problems.join(), /products\.0\.price is not an amount of/);
    }
    const twice = [CREEM.products[0], CREEM.products[0]];
    assert.match(read({ creem: { ...CREEM, products: twice } }).problems.join(), /products has "p" twice/);
    assert.match(read({ smallest: 20, largest: 10 }).problems.join(), /payments\.smallest is more than/);
  });

  it('knows each that is filled in, with its own price or the common one', async () => {
    const alipay = await fakeAlipay();
    const { price, ...keys } = alipay.section;
    const { found, problems } = read({
      currency: 'EUR',
      price: '1.1',
      stripe: { ...STRIPE, secret: ` ${STRIPE.secret}\n` },
      creem: CREEM,
      alipay: { ...keys, price },
      epay: { ...EPAY, currency: 'CNY', price: 8 },
    });
    await alipay.close();
    assert.deepEqual(problems, []);
    assert.equal(found.stripe?.secret, STRIPE.secret);
    assert.deepEqual([found.stripe?.currency, found.stripe?.price], ['EUR', { digits: 11n, scale: 1 }]);
    assert.deepEqual([found.alipay?.currency, found.alipay?.price], ['CNY', { digits: 73n, scale: 1 }]);
    assert.deepEqual([found.epay?.currency, found.epay?.price], ['CNY', { digits: 8n, scale: 0 }]);
    assert.equal(found.creem?.products[0]?.currency, 'EUR');
    assert.equal(found.epay?.url, 'https://epay.example');
  });

  it('reads the keys of the wallet with and without their frames', async () => {
    const alipay = await fakeAlipay();
    const bare = read({ alipay: alipay.section }).found.alipay!;
    const framed = read({
      alipay: {
        ...alipay.section,
        privateKey: bare.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
        publicKey: bare.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      },
    }).found.alipay!;
    await alipay.close();
    assert.ok(framed.privateKey.equals(bare.privateKey), 'the private key is the same');
    assert.ok(framed.publicKey.equals(bare.publicKey), 'the public key is the same');
  });
});
