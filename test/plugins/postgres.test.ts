/** The store on PostgreSQL: the contract of all stores, and what only a server and a network can suffer. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import type { Log, OpenStore } from '../../core/plugin.ts';
import driver from '../../plugins/stores/postgres/index.ts';
import { noPostgres, type PostgresServer, startPostgres } from '../kit/postgres.ts';
import { storeContract } from '../kit/store-contract.ts';

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };
const missing = noPostgres();
if (missing !== undefined) it('PostgreSQL', { skip: missing }, () => {});
else tests();

function tests(): void {
  let server: PostgresServer;
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-postgres-'));
  before(async () => {
    server = await startPostgres();
  });
  after(() => {
    server.remove();
    rmSync(folder, { recursive: true });
  });
  const open = (url: string): Promise<OpenStore> =>
    driver.open({ file: join(folder, 'turnpike'), settings: { url, pool: 4, statementTimeout: '10s' }, log: silent });

  storeContract('postgres', async () => {
    const url = await server.database();
    let store = await open(url);
    return {
      store,
      async reopen() {
        await store.close();
        store = await open(url);
        return store;
      },
      cleanup: () => store.close(),
    };
  });
}
