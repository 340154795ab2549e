/** Money: decimals become whole numbers of the smallest unit, exactly. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  decimalText,
  isCountable,
  moneyText,
  readDecimal,
  readMoney,
  timesInMinor,
} from '../../../plugins/payments/money.ts';
import fc from '../../kit/fast-check.ts';

const cost = (units: number, price: string | number, currency: string): string =>
  moneyText(timesInMinor({ digits: BigInt(units), scale: 0 }, readDecimal(price)!, currency), currency);

it('multiplies units and prices without a binary fraction on the way', () => {
  assert.equal(cost(10, '7.3', 'CNY'), '73.00');
  assert.equal(cost(3, 0.1, 'USD'), '0.30');
  assert.equal(cost(1_000_000, '0.000001', 'USD'), '1.00');
  assert.equal(cost(7, 110, 'JPY'), '770');
  assert.equal(cost(1, '0.005', 'USD'), '0.01', 'half a cent is rounded up');
  assert.equal(cost(1, '0.0049', 'USD'), '0.00');
});

it('reads back what it writes', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 12n - 1n }), fc.constantFrom('USD', 'JPY'), (minor, currency) => {
      assert.equal(readMoney(moneyText(minor, currency), currency), minor);
    }),
  );
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 12n - 1n }), fc.nat(9), (digits, scale) => {
      const read = readDecimal(decimalText({ digits, scale }))!;
      assert.equal(read.digits * 10n ** BigInt(scale), digits * 10n ** BigInt(read.scale));
    }),
  );
});

it('takes nothing for an amount that is none', () => {
  for (const text of ['', '-1', '1,000', '1e3', '0x10', ' 1', '1.', '.5', 'NaN', '1.2.3', '9999999999999']) {
    assert.equal(readDecimal(text), undefined, text);
    assert.equal(readMoney(text, 'USD'), undefined, text);
  }
  assert.equal(readMoney('12.345', 'USD'), undefined, 'a cent is the smallest unit');
  assert.equal(readMoney('12.340', 'USD'), 1234n);
  assert.equal(readMoney('12.5', 'JPY'), undefined);
});

it('counts no currency of which providers have different ideas', () => {
  assert.ok(isCountable('USD') && isCountable('JPY') && isCountable('CNY'), 'the usual ones');
  for (const currency of ['KWD', 'ISK', 'UGX', 'usd', 'US', 'DOLLAR']) assert.ok(!isCountable(currency), currency);
});
