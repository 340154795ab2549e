/** Asking what must hold: everybody, at one moment, one line each. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Invariant, OpenStore, Reader } from '../../../core/plugin.ts';
import { describeFindings, reconcile } from '../../../core/store/invariants.ts';
import { openStore } from '../../../core/store/migrations.ts';
import driver from '../../../plugins/stores/sqlite/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnpike-reconcile-'));
after(() => rmSync(folder, { recursive: true }));
const quiet = (): void => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet, hide: quiet };

async function withStore(run: (store: OpenStore) => Promise<void>): Promise<void> {
  const store = await openStore({ driver, file: join(folder, 'turnpike.db'), log });
  try {
    await store.run('CREATE TABLE IF NOT EXISTS coin (id INTEGER PRIMARY KEY) STRICT');
    await run(store);
  } finally {
    await store.close();
  }
}
const player = (name: string, ...invariants: Invariant[]) => ({ name, parts: { invariants } });
const holds = (name: string): Invariant => ({ name, check: () => [] });

describe('reconciling', () => {
  it('checks every invariant of every plugin, in order, and keeps the findings', async () => {
    await withStore(async (store) => {
      const broken: Invariant = { name: 'three', check: async () => ['first', 'second'] };
      const players = [player('a', holds('one'), holds('two')), { name: 'b', parts: {} }, player('c', broken)];
      assert.deepEqual(await reconcile(players, store), [
        { name: 'one', faults: [] },
        { name: 'two', faults: [] },
        { name: 'three', faults: ['first', 'second'] },
      ]);
    });
  });

  it('checks all of them on one snapshot, whatever is written meanwhile', async () => {
    await withStore(async (store) => {
      const seen: unknown[] = [];
      const count = async (reader: Reader): Promise<readonly string[]> => {
        seen.push(await reader.one('SELECT count(*) AS coins FROM coin'));
        await store.run('INSERT INTO coin DEFAULT VALUES');
        return [];
      };
      await reconcile([player('a', { name: 'one', check: count }), player('b', { name: 'two', check: count })], store);
      assert.deepEqual(seen, [{ coins: 0 }, { coins: 0 }]);
      assert.deepEqual(await store.one('SELECT count(*) AS coins FROM coin'), { coins: 2 });
    });
  });

  it('fails as a whole if an invariant cannot be checked', async () => {
    await withStore(async (store) => {
      const check = (reader: Reader) => reader.all<string>('SELECT * FROM nowhere');
      await assert.rejects(reconcile([player('a', { name: 'one', check })], store), /nowhere/);
      assert.deepEqual(await reconcile([player('a', holds('one'))], store), [{ name: 'one', faults: [] }]);
    });
  });

  it('is reported line by line', () => {
    const findings = [
      { name: 'all-well', faults: [] },
      { name: 'one-fault', faults: ['account 1 is off by 3'] },
      { name: 'more-faults', faults: ['key 1', 'key 2', 'key 3'] },
    ];
    assert.equal(
      describeFindings(findings),
      'ok      all-well\nFAILED  one-fault: account 1 is off by 3\nFAILED  more-faults: key 1 (and 2 more)\n',
    );
    assert.equal(describeFindings([]), '');
  });
});
