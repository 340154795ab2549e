/** The embedded store: the contract of all stores, and what only a file can suffer. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import driver from '../../plugins/stores/sqlite/index.ts';
import { storeContract } from '../kit/store-contract.ts';

const log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };

storeContract('sqlite', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-'));
  const file = join(directory, 'turnpike.db');
  let store = await driver.open({ file, log });
  return {
    store,
    async reopen() {
      await store.close();
      store = await driver.open({ file, log });
      return store;
    },
    async cleanup() {
      await store.close();
      rmSync(directory, { recursive: true });
    },
  };
});
