/** A machine or a container with less memory than the configuration gives to the bodies of running requests. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machineMemory, withinMemory } from '../../../core/workers/memory.ts';

const MIB = 1_024 ** 2;
const budget = { total: 512 * MIB, perAccount: 128 * MIB };

describe('the memory for bodies', () => {
  it('is what is configured where the machine has three times as much for each process', () => {
    assert.deepEqual(withinMemory(budget, 16 * MIB, 1, 1_536 * MIB), budget);
    assert.deepEqual(withinMemory(budget, 16 * MIB, 4, 4 * 1_536 * MIB), budget);
  });

  it('is a third of a smaller one, divided among its processes, and accounts keep their share', () => {
    assert.deepEqual(withinMemory(budget, 16 * MIB, 1, 384 * MIB), { total: 128 * MIB, perAccount: 32 * MIB });
    assert.deepEqual(withinMemory(budget, 16 * MIB, 4, 1_536 * MIB), { total: 128 * MIB, perAccount: 32 * MIB });
  });

  it('is always enough for one body', () => {
    assert.deepEqual(withinMemory(budget, 16 * MIB, 4, 64 * MIB), { total: 16 * MIB, perAccount: 16 * MIB });
  });

  it('is measured', () => assert.ok(machineMemory() > 16 * MIB));
});
