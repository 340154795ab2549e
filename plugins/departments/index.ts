/** Departments: a tree of users, with budgets that calls are charged to and a price factor. The ledger belongs to `quota`. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { Departments } from '../../core/contracts/departments.ts';
import { definePlugin } from '../../core/plugin.ts';
import { createChore } from '../../core/sdk.ts';
import { createDepartments } from './departments.ts';
import { errors } from './errors.ts';
import { migrations } from './tables.ts';

/** How long a change by another process may go unnoticed if its message is lost. */
const REFRESH_MS = 5_000;

export default definePlugin({
  name: 'departments',
  api: 2,
  errors,
  migrations,
  needs: [Accounts],
  provides: [Departments],
  create(host) {
    const departments = createDepartments(host);
    host.provide(Departments, departments);
    const chore = createChore(host, {
      everyMs: REFRESH_MS,
      everywhere: true,
      work: departments.refresh,
      failure: 'could not read the departments',
    });
    return {
      async start() {
        departments.listen();
        await departments.refresh();
        host.use(Accounts).watch((id, isOwn) => {
          if (!isOwn) return;
          departments.accountChanged(id).catch((error: unknown) => {
            host.log.warn('could not remove a deleted account from its department', { account: id, error });
          });
        });
        chore.start();
      },
      stop: chore.stop,
    };
  },
});
