/** Which backups are kept. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { backupOfName, expendable, nameOfBackup } from '../../../../core/operations/backups/names.ts';
import fc from '../../../kit/fast-check.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A Monday. */
const MONDAY = Date.UTC(2026, 10, 23);

const named = (atMs: number, proven = true): string => nameOfBackup({ atMs, kind: 'db', proven, encrypted: false });
const keptOf = (names: readonly string[], keep: { last: number; daily: number; weekly: number }): readonly string[] => {
  const gone = new Set(expendable(names, keep));
  return names.filter((name) => !gone.has(name));
};

describe('the name of a backup', () => {
  it('says everything that it was made of', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4_000_000_000 }),
        fc.constantFrom('db' as const, 'dump' as const),
        fc.boolean(),
        fc.boolean(),
        (seconds, kind, proven, encrypted) => {
          const backup = { atMs: seconds * 1_000, kind, proven, encrypted };
          assert.deepEqual(backupOfName(nameOfBackup(backup)), backup);
        },
      ),
    );
  });

  it('is not that of another file', () => {
    for (const name of ['turnpike.db', 'turnpike-20261123T000000Z.db.part', '.turnpike-20261123T000000Z.db', 'notes'])
      assert.equal(backupOfName(name), undefined);
  });
});

describe('the backups that are kept', () => {
  it('are the newest of the last days and weeks, if one is made every six hours for two months', () => {
    const names = Array.from({ length: 4 * 60 }, (_, i) => named(MONDAY + 6 * i * HOUR_MS));
    const newest = MONDAY + (59 * 24 + 18) * HOUR_MS;
    assert.deepEqual(keptOf(names, { last: 2, daily: 3, weekly: 3 }), [
      // Two Sundays: the newest backups of the two weeks before.
      named(newest - 11 * DAY_MS),
      named(newest - 4 * DAY_MS),
      named(newest - 2 * DAY_MS),
      named(newest - DAY_MS),
      named(newest - 6 * HOUR_MS),
      named(newest),
    ]);
  });

  it('are always the newest ones, and never other files', () => {
    const counts = fc.record({
      last: fc.integer({ min: 1, max: 5 }),
      daily: fc.integer({ min: 0, max: 5 }),
      weekly: fc.integer({ min: 0, max: 5 }),
    });
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 2_000 }), { maxLength: 60 }), counts, (hours, keep) => {
        const names = hours.map((hour) => named(MONDAY + hour * HOUR_MS));
        const kept = keptOf([...names, 'readme.txt', 'turnpike.db'], keep);
        const newest = [...names].sort().reverse().slice(0, keep.last);
        for (const name of [...newest, 'readme.txt', 'turnpike.db']) assert.ok(kept.includes(name), name);
        assert.ok(kept.length - 2 <= keep.last + keep.daily + keep.weekly);
        // A second look deletes nothing more.
        assert.deepEqual(expendable(kept, keep), []);
      }),
    );
  });

  it('are not fewer because of copies whose proof failed, of which the newest is kept until a proven one follows', () => {
    const [first, second, third] = [MONDAY, MONDAY + HOUR_MS, MONDAY + 2 * HOUR_MS];
    const keep = { last: 1, daily: 0, weekly: 0 };
    const failed = [named(first), named(second, false), named(third, false)];
    assert.deepEqual(keptOf(failed, keep), [named(first), named(third, false)]);
    assert.deepEqual(keptOf([...failed, named(third + HOUR_MS)], keep), [named(third + HOUR_MS)]);
  });
});
