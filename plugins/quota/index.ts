/** The plugin `quota`: the ledger. Reserves what a call may cost before the request is sent, and charges what it used. */

import { randomUUID } from 'node:crypto';
import { Accounts } from '../../core/contracts/accounts.ts';
import { Audit, COMMAND_LINE } from '../../core/contracts/audit.ts';
import { Departments } from '../../core/contracts/departments.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { Groups } from '../../core/contracts/groups.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { inQuota, Ledger, MICRO, remaining } from '../../core/contracts/ledger.ts';
import { Prices } from '../../core/contracts/prices.ts';
import { Records } from '../../core/contracts/records.ts';
import { shownAccount } from '../../core/contracts/shown.ts';
import { Subscriptions } from '../../core/contracts/subscriptions.ts';
import { type Command, definePlugin, type Host, UsageError } from '../../core/plugin.ts';
import { createChore, readUnits } from '../../core/sdk.ts';
import { createCalls } from './calls.ts';
import { errors } from './errors.ts';
import { createExplain } from './explain.ts';
import { invariants } from './invariants.ts';
import { createLeases } from './leases.ts';
import { createLedger } from './ledger.ts';
import { recover } from './recovery.ts';
import { quotaSection } from './section.ts';
import { migrations } from './tables.ts';
import { createTerms, type TermSources } from './terms.ts';
import { createUnsettled } from './unsettled.ts';

/** `user credit NAME UNITS`. It finds the other plugins when it runs, because they may be created after this one. */
function userCredit(host: Host, ledger: Ledger): Command {
  return {
    name: 'user credit',
    summary: 'gives an account quota units',
    positionals: ['NAME', 'UNITS'],
    async run({ positionals: [name = '', units = ''] }) {
      const amount = readUnits(units, 'UNITS');
      if (amount === 0n) throw new UsageError('UNITS must be above zero');
      const account = await host.find(Accounts)?.findByName(name);
      if (account === undefined) throw coreErrors.account_not_found(name);
      const layer = { kind: 'account', owner: account.id } as const;
      if ((await ledger.balance(layer))?.unlimited === true) {
        throw coreErrors.unlimited(`"${name}" is unlimited: there is no balance to credit.`);
      }
      const facts = { mode: 'add', value: Number(units) };
      const noted = host
        .find(Audit)
        ?.steps({ actor: COMMAND_LINE, action: 'user.quota', object: `user ${account.id}`, facts });
      await ledger.credit(layer, amount, `cli:${randomUUID()}`, 'cli', noted);
      const balance = await ledger.balance(layer);
      if (balance === undefined) throw new Error(`the account ${name} has no bucket`);
      const { held, debt = 0n } = balance;
      const more = [
        ...(held > 0n ? [`${inQuota(held)} reserved for running calls`] : []),
        ...(debt > 0n ? [`${inQuota(debt)} owed`] : []),
      ];
      return {
        text: `credited ${units} to ${name}: ${[`${inQuota(remaining(balance))} quota available`, ...more].join(', ')}\n`,
        json: shownAccount(account, balance),
      };
    },
  };
}

/** The interval of checkpoints, which record the delivered part of running calls. */
const CHECKPOINT_MS = 1_000;
/** How often calls that could not be settled are closed, and idle leases returned. */
const SWEEP_MS = 10_000;
/** How often ended processes are looked for, in addition to what `host.peers` reports at once. */
const RECOVER_MS = 5_000;

export default definePlugin({
  name: 'quota',
  api: 2,
  errors,
  sections: { quota: quotaSection },
  migrations,
  needs: [Prices],
  wants: [Records, Accounts, Departments, Groups, Subscriptions, Keys, Audit],
  provides: [Ledger],
  create(host, { quota }) {
    const { store, clock, log, peers } = host;
    if (quota.plans !== undefined) {
      host.problem(
        ['quota', 'plans'],
        'plans have a section of their own: move them to `plans:` at the top level, and add `- plans` to the pipeline',
      );
    }
    const prices = host.use(Prices);
    const tariff = prices.tariff(quota);
    const sources: TermSources = {
      departments: undefined,
      groups: undefined,
      subscriptions: undefined,
      keys: undefined,
    };
    const termsOf = createTerms(sources);
    const leases = host.lasting({ name: 'quota.leases', version: 1, make: () => createLeases(host) });
    const unsettled = createUnsettled(host);
    const calls = createCalls(host, { tariff, termsOf, options: quota, leases, unsettled }, () => ledger);
    const ledger = createLedger({
      store,
      clock,
      perUnit: quota.perUnit,
      welcome: BigInt(quota.welcome) * MICRO,
      leases,
      charged: calls.charged,
      isIncluded: calls.isIncluded,
      receipt: prices.receipt,
    });
    host.provide(Ledger, ledger);

    /** Closes the open calls and leases of ended processes, if this process leads. The next run closes those that remain when this process stops. */
    async function recoverAll(): Promise<void> {
      if (!peers.leads()) return;
      const count = await recover(host, host.find(Records));
      if (count > 0) log.info('closed the open calls of a process that ended', { calls: count });
    }

    const checkpoints = createChore(host, {
      everyMs: CHECKPOINT_MS,
      everywhere: true,
      work: calls.checkpoint,
      failure: 'checkpoints were not written',
    });
    const sweeps = createChore(host, {
      everyMs: SWEEP_MS,
      everywhere: true,
      async work() {
        const count = await unsettled.close(host.find(Records));
        if (count > 0) log.warn('closed calls that could not be settled', { calls: count });
        await leases.returnIdle();
      },
      failure: 'calls could not be closed, or leases not returned',
    });
    const recoveries = createChore(host, {
      everyMs: RECOVER_MS,
      work: recoverAll,
      failure: 'calls and leases of an ended process could not be closed',
    });
    const chores = [checkpoints, sweeps, recoveries];
    let stopListening: (() => void) | undefined;

    return {
      screen: calls.screen,
      admit: calls.admit,
      pay: calls.pay,
      settle: calls.settle,
      essential: true,
      unsettled: calls.unsettled,
      explain: createExplain({ tariff, calls, ledger, termsOf }),
      commands: [userCredit(host, ledger)],
      invariants: invariants(),
      link() {
        sources.departments = host.find(Departments);
        sources.groups = host.find(Groups);
        sources.subscriptions = host.find(Subscriptions);
        sources.keys = host.find(Keys);
      },
      async start() {
        await leases.join();
        await recoverAll();
        for (const chore of chores) chore.start();
        stopListening = peers.onLeft(recoveries.again);
      },
      async stop() {
        stopListening?.();
        await Promise.all(chores.map((chore) => chore.stop()));
        // The next run recovers leases that cannot be returned now.
        await leases.returnAll().catch((error) => log.warn('leases were not returned', { error }));
      },
    };
  },
});
