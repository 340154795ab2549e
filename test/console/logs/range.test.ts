/** Ranges of the console's address: which moments they are, and what they are compared with. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dateOf, momentsOf, type RangeName, rangeBefore, rangeFrom } from '../../../console/src/parts/range.ts';

const NOW = Date.UTC(2026, 2, 31, 15, 30) / 1_000;
const said = (range: string, start = '', end = '') => ({ range, start, end });
const shown = ({ start, end }: { start: number; end: number }): string =>
  [start, end].map((at) => new Date(at * 1_000).toISOString().slice(0, 19).replace('T', ' ')).join(' – ');

describe('a range of the address', () => {
  const NAMED: readonly (readonly [RangeName, string])[] = [
    ['today', '2026-03-31 00:00:00 – 2026-03-31 23:59:59'],
    ['7d', '2026-03-25 00:00:00 – 2026-03-31 23:59:59'],
    ['30d', '2026-03-02 00:00:00 – 2026-03-31 23:59:59'],
    ['month', '2026-03-01 00:00:00 – 2026-03-31 23:59:59'],
    ['last-month', '2026-02-01 00:00:00 – 2026-02-28 23:59:59'],
  ];
  for (const [name, expected] of NAMED) {
    it(`that is called ${name} is of whole UTC days`, () => {
      const range = rangeFrom(said(name), '7d', NOW);
      assert.deepEqual([range.name, shown(range)], [name, expected]);
    });
  }

  it('may be of dates, with the last day, or of unix seconds', () => {
    const dates = rangeFrom(said('7d', '2026-03-01', '2026-03-02'), '7d', NOW);
    assert.deepEqual(
      [dates.name, shown(dates), dates.granularity],
      ['custom', '2026-03-01 00:00:00 – 2026-03-02 23:59:59', 'hour'],
    );
    const seconds = rangeFrom(said('', `${NOW - 60}`, `${NOW}`), '7d', NOW);
    assert.deepEqual([seconds.start, seconds.end], [NOW - 60, NOW]);
  });

  it('is the usual one where it cannot be read', () => {
    for (const wrong of [
      said('year'),
      said('', 'yesterday'),
      said('', '2026-13-01'),
      said('', '2026-03-05', '2026-03-01'),
    ])
      assert.equal(rangeFrom(wrong, '30d', NOW).name, '30d');
  });

  it('is never longer than what is told at once', () => {
    const { start, end } = rangeFrom(said('', '2020-01-01', '2026-01-01'), '7d', NOW);
    assert.deepEqual([dateOf(start), dateOf(end)], ['2020-01-01', '2020-12-31']);
  });

  it('has as many days as a chart shows, up to now', () => {
    const days = momentsOf(rangeFrom(said('7d'), '7d', NOW), NOW);
    assert.deepEqual([days.length, dateOf(days[0] ?? 0), dateOf(days.at(-1) ?? 0)], [7, '2026-03-25', '2026-03-31']);
    assert.equal(momentsOf(rangeFrom(said('today'), '7d', NOW), NOW).length, 16);
  });

  it('is compared with as long a time before it, as far as it has come', () => {
    const before = (name: RangeName): string => shown(rangeBefore(rangeFrom(said(name), '7d', NOW), NOW));
    assert.equal(before('7d'), '2026-03-18 00:00:00 – 2026-03-24 15:30:00');
    assert.equal(before('last-month'), '2026-01-01 00:00:00 – 2026-01-31 23:59:59');
    // February has no 31st: it ends where March began.
    assert.equal(before('month'), '2026-02-01 00:00:00 – 2026-02-28 23:59:59');
  });
});
