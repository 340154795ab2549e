/** Receipts: every charge can be told again from its record, item by item, to the micro-quota. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Usage } from '../../../core/contracts/formats/usage.ts';
import { productOfFactors } from '../../../core/contracts/prices.ts';
import type { UsageRecord } from '../../../core/contracts/records.ts';
import { type Decimal, decimal, decimalText } from '../../../core/sdk.ts';
import { saneUsage } from '../../../core/translation/conversation/sane-usage.ts';
import { NO_TOKENS } from '../../../core/translation/index.ts';
import { exactPrice } from '../../../plugins/prices/price.ts';
import type { PriceRow } from '../../../plugins/prices/price-row.ts';
import { noteOfPrice, receiptOf } from '../../../plugins/prices/receipt.ts';
import { type PriceFields, readPrice } from '../../../plugins/prices/section.ts';
import { share } from '../../kit/console/whole.ts';
import fc from '../../kit/fast-check.ts';
import { usageRecord } from '../../kit/gateway/usage-records.ts';
import { addedUp, kept } from '../quota/pencil.ts';

function rowOf(price: PriceFields): PriceRow {
  const rows = readPrice(price, [], (path, message) => assert.fail(`${path.join('.')}: ${message}`));
  assert.ok(rows?.[0], 'it is a price');
  return rows[0].row;
}

const amount = fc.oneof(
  fc.constantFrom(0, 0.1, 2.5, 10, 1e-7, 0.0375, 1 / 3, 123.456),
  fc.integer({ min: 0, max: 1_000_000 }).map((n) => n / 10_000),
);
const rates = {
  input: amount,
  cacheRead: amount,
  cacheWrite: amount,
  cacheWriteLong: amount,
  inputAudio: amount,
  inputImage: amount,
  output: amount,
  reasoning: amount,
  outputAudio: amount,
  outputImage: amount,
};
const price: fc.Arbitrary<PriceFields> = fc
  .record(
    {
      ...rates,
      perRequest: fc.oneof(amount, fc.constant(0.01)),
      perSecond: amount,
      characters: amount,
      perImage: fc.oneof(
        amount,
        fc.dictionary(fc.constantFrom('default', 'hd', '1024x1024', 'hd/1024x1792', '2k', 'low/512*512'), amount, {
          minKeys: 1,
        }),
      ),
      tiers: fc.uniqueArray(
        fc
          .record({ above: fc.integer({ min: 1, max: 3_000 }) })
          .chain(({ above }) => fc.record({ ...rates, above: fc.constant(above) }, { requiredKeys: ['above'] })),
        { selector: ({ above }) => above, maxLength: 3 },
      ),
    },
    { requiredKeys: [] },
  )
  .filter((fields) => Object.keys(fields).some((name) => name !== 'tiers'));
const count = fc.integer({ min: 0, max: 2_000 });
const usage: fc.Arbitrary<Usage> = fc.record(
  {
    input: fc.integer({ min: 0, max: 5_000 }),
    cacheRead: count,
    cacheWrite: count,
    cacheWriteLong: count,
    inputAudio: count,
    output: fc.integer({ min: 0, max: 5_000 }),
    reasoning: count,
    outputAudio: count,
    inputImage: count,
    outputImage: count,
    characters: count,
    seconds: fc.double({ min: 0, max: 10_000, noNaN: true }),
    images: fc.record({
      count: fc.integer({ min: 0, max: 5 }),
      size: fc.constantFrom('', '1024x1024', '1024*1792', '512x512', '2K'),
      quality: fc.constantFrom('', 'hd', 'low', '2k'),
    }),
    estimated: fc.boolean(),
  },
  {
    requiredKeys: [
      ...(['input', 'cacheRead', 'cacheWrite', 'cacheWriteLong', 'inputAudio', 'output', 'reasoning'] as const),
      ...(['outputAudio', 'estimated'] as const),
    ],
  },
);
const perUnit = fc.constantFrom(500_000, 1, 3, 1_000_000, 7_919);
/** As they are written, and the ends of binary fractions. */
const factor = fc
  .oneof(
    fc.constant(undefined),
    fc.integer({ min: 0, max: 20_000_000 }).map((ppm) => ppm / 1e6),
    fc.double({ min: 1e-9, max: 1_000, noNaN: true }),
  )
  .map((each) => productOfFactors([each === undefined ? undefined : decimal(each)]));

/** The record of a call that was charged so. */
function chargedBy(
  row: PriceRow,
  quotaPerUnit: number,
  used: Usage,
  part: Decimal | undefined,
  more = {},
): UsageRecord {
  const charged = exactPrice(row, BigInt(quotaPerUnit)).cost(saneUsage(used).usage, part);
  const notes = { ...noteOfPrice(row, quotaPerUnit), ...(part && { priceFactor: Number(decimalText(part)) }) };
  return usageRecord({ usage: used, charged, other: kept(notes), ...more });
}

describe('a receipt', () => {
  it('adds up to the charge, whatever the price, the use, the quota of a currency unit and the factor', () => {
    let priced = 0;
    fc.assert(
      fc.property(price, usage, perUnit, factor, (fields, used, quotaPerUnit, part) => {
        const call = chargedBy(rowOf(fields), quotaPerUnit, used, part);
        const receipt = receiptOf(call);
        assert.equal(
          receipt.exact,
          true,
          JSON.stringify(receipt, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
        );
        assert.deepEqual(
          [receipt.charged, receipt.total, addedUp(receipt)],
          [call.charged, call.charged, call.charged],
        );
        if (call.charged === 0n) return;
        priced++;
        assert.deepEqual([receipt.perUnit, receipt.reason, receipt.cappedBy], [quotaPerUnit, undefined, undefined]);
        const counted = (...buckets: readonly string[]): number =>
          receipt.items.filter(({ bucket }) => buckets.includes(bucket)).reduce((sum, item) => sum + item.count, 0);
        const { usage: sane } = saneUsage(used);
        assert.equal(counted('output', 'reasoning', 'outputAudio', 'outputImage'), sane.output, 'each token once');
        const inputs = ['input', 'cacheRead', 'cacheWrite', 'cacheWriteLong', 'inputAudio', 'inputImage'];
        assert.equal(counted(...inputs), sane.input, 'each token once');
      }),
      { numRuns: 250 },
    );
    assert.ok(priced > share(60), `only ${priced} of them cost something`);
  });

  it('adds up where an hour has a price, which makes numbers without an end', () => {
    const third = { digits: 1n, scale: 1 };
    const used = (seconds: number): Usage => ({ ...NO_TOKENS, seconds });
    fc.assert(
      fc.property(fc.double({ min: 0.000001, max: 100_000, noNaN: true }), perUnit, factor, (seconds, quota, part) => {
        const row = { rates: {}, units: { perHour: third }, perRequest: undefined, tiers: [] };
        const call = chargedBy(row, quota, used(seconds), part);
        assert.equal(addedUp(receiptOf(call)), call.charged);
      }),
    );
  });

  it('names every item with its price: of the tier that the whole input reached', () => {
    const row = rowOf({ input: 2, output: 8, cacheRead: 0.5, tiers: [{ above: 100, input: 4, cacheRead: 1 }] });
    const told = (input: number) =>
      receiptOf(chargedBy(row, 500_000, { ...NO_TOKENS, input, cacheRead: 40, output: 10 }, undefined)).items.map(
        ({ bucket, count: n, price: each, per, unit, quota }) => [bucket, n, each, per, unit, quota],
      );
    assert.deepEqual(told(100), [
      ['input', 60, '2', 1_000_000, 'token', '60'],
      ['cacheRead', 40, '0.5', 1_000_000, 'token', '10'],
      ['output', 10, '8', 1_000_000, 'token', '40'],
    ]);
    assert.deepEqual(told(101), [
      ['input', 61, '4', 1_000_000, 'token', '122'],
      ['cacheRead', 40, '1', 1_000_000, 'token', '20'],
      ['output', 10, '8', 1_000_000, 'token', '40'],
    ]);
  });

  it('tells units by what they are sold by', () => {
    const row = rowOf({
      perImage: { default: 0.04, hd: 0.08 },
      perSecond: 0.0001,
      characters: 15,
      perRequest: 0.01,
    });
    const images = { count: 2, size: '1024x1024', quality: 'hd' };
    const call = chargedBy(row, 500_000, { ...NO_TOKENS, images, seconds: 2.5, characters: 1_000 }, decimal(0.5));
    const { items, factor: part, charged } = receiptOf(call);
    assert.deepEqual(
      items.map(({ bucket, count: n, price: each, per, unit, quota }) => [bucket, n, each, per, unit, quota]),
      [
        ['images', 2, '0.08', 1, 'image', '80000'],
        ['seconds', 2.5, '0.36', 3_600, 'second', '125'],
        ['characters', 1_000, '15', 1_000_000, 'character', '7500'],
        ['request', 1, '0.01', 1, 'request', '5000'],
      ],
    );
    assert.deepEqual([part, charged], ['0.5', 46_312_500_000n]);
  });

  it('of a record that an older release wrote says that it cannot be told', () => {
    const call = usageRecord({ usage: { ...NO_TOKENS, output: 10 }, charged: 20n, other: { price: { output: '4' } } });
    const { exact, reason, items, total, charged } = receiptOf(call);
    assert.deepEqual([exact, reason, items, total, charged], [false, 'not_noted', [], 20n, 20n]);
  });

  it('that does not come to what was charged is none', () => {
    const call = chargedBy(rowOf({ output: 2 }), 500_000, { ...NO_TOKENS, output: 10 }, undefined);
    const { exact, reason, items } = receiptOf({ ...call, charged: call.charged - 1n });
    assert.deepEqual([exact, reason, items], [false, 'not_noted', []]);
  });
});
