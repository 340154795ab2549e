/** Workers that end right after they have begun to serve. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createPauses } from '../../../core/workers/owner.ts';

it('a worker that ends early is replaced after a pause that grows from 1 s to 30 s, per worker', () => {
  const pauseBefore = createPauses();
  const pauses = Array.from({ length: 7 }, () => pauseBefore(1, 9_999));
  assert.deepEqual(pauses, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  assert.equal(pauseBefore(2, 0), 1_000);
});

it('a worker that ran for ten seconds is replaced at once, and its pause is reset', () => {
  const pauseBefore = createPauses();
  assert.deepEqual([pauseBefore(1, 0), pauseBefore(1, 0)], [1_000, 2_000]);
  assert.equal(pauseBefore(1, 10_000), 0);
  assert.equal(pauseBefore(1, 0), 1_000);
});
