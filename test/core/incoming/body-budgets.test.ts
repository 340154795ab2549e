/** What bodies may hold: never more than their budgets, and everything is there again once it is given back. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GatewayError } from '../../../core/contracts/gateway-error.ts';
import { createIntake, type Holding } from '../../../core/incoming/body-budgets.ts';
import fc from '../../kit/fast-check.ts';

/** The status it is refused with; 0 where it is not. */
function taken(holding: Holding, bytes: number): number {
  try {
    holding.take(bytes);
    return 0;
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return error.status;
  }
}

describe('the memory budget of bodies', () => {
  it('never exceeds the limit of an account, nor twice the total, whatever comes and goes', () => {
    const move = fc.record({ sender: fc.integer({ min: 1, max: 5 }), bytes: fc.integer({ min: 1, max: 40 }) });
    fc.assert(
      fc.property(fc.array(fc.oneof(move, fc.constant('end' as const)), { maxLength: 100 }), (moves) => {
        const budget = { total: 100, perAccount: 50 };
        const intake = createIntake();
        const running: { readonly sender: number; bytes: number; readonly holding: Holding }[] = [];
        for (const each of moves) {
          if (each === 'end') {
            running.shift()?.holding.giveBack();
            continue;
          }
          const { sender, bytes } = each;
          const holding = intake.begin('memory', sender, budget);
          const status = taken(holding, bytes);
          const sum = (whose?: number) =>
            running.reduce((all, it) => all + (whose === undefined || it.sender === whose ? it.bytes : 0), 0);
          if (sum(sender) + bytes > 50) assert.equal(status, 429);
          else if (sum() + bytes <= 100) assert.equal(status, 0);
          if (status === 0) running.push({ sender, bytes, holding });
          assert.ok(sum(sender) <= 50);
          assert.ok(sum() <= 200);
        }
        for (const { holding } of running) holding.giveBack();
        for (let sender = 1; sender <= 2; sender++) {
          assert.equal(taken(intake.begin('memory', sender, budget), 50), 0);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('refuses accounts above their equal share if the total is exceeded, and admits those below', () => {
    const budget = { total: 100, perAccount: 90 };
    const intake = createIntake();
    const of = (sender: number | string) => intake.begin('memory', sender, budget);
    assert.equal(taken(of(1), 90), 0);
    assert.equal(taken(of(1), 1), 429);
    assert.equal(taken(of(2), 10), 0);
    assert.equal(taken(of(2), 41), 503);
    assert.equal(taken(of(2), 40), 0);
    assert.equal(taken(of('203.0.113.7'), 34), 503);
    assert.equal(taken(of('203.0.113.7'), 33), 0);
  });

  it('releases a reservation once, and a refused one not at all', () => {
    const budget = { total: 100, perAccount: 50 };
    const intake = createIntake();
    const first = intake.begin('memory', 1, budget);
    assert.equal(taken(first, 30), 0);
    assert.equal(taken(first, 30), 429);
    first.giveBack();
    first.giveBack();
    const second = intake.begin('memory', 1, budget);
    assert.equal(taken(second, 50), 0);
    assert.equal(taken(intake.begin('memory', 1, budget), 1), 429);
    assert.equal(taken(intake.begin('disk', 1, budget), 50), 0);
  });
});
