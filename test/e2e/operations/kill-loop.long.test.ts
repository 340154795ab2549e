/** A few kills and warnings of power of `npm run chaos`, as part of every test run. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { killLoop } from '../../../scripts/chaos/loop.ts';
import { whyNoDisk } from '../../../scripts/chaos/power.ts';

describe('a gateway that is killed under load', () => {
  it('has billed every answer that a client saw the end of, once, and nothing that no vendor sent', async () => {
    const report = await killLoop({ kills: 5, seed: 20_261_120, power: false, callers: 60, progress: () => {} });
    assert.deepEqual(report.violations, []);
    // Nothing of this would mean much if nothing had happened.
    assert.equal(report.kills, 5);
    assert.ok(report.served > 50, `only ${report.served} answers were served`);
    assert.ok(report.cut > 5, `only ${report.cut} calls were cut off`);
    assert.ok(report.refused > 0, 'nobody ran out of quota');
  });

  it('has done so when its power was lost, too, and only what it had synced is left', {
    skip: whyNoDisk() ?? false,
  }, async () => {
    const report = await killLoop({ kills: 2, seed: 20_261_121, power: true, callers: 60, progress: () => {} });
    assert.deepEqual(report.violations, []);
    assert.ok(report.served > 20, `only ${report.served} answers were served`);
    assert.ok(report.cut > 5, `only ${report.cut} calls were cut off`);
  });
});
