/** The log: plays `settle`, where each exchange of a known sender leaves a record; keeps sums, and answers pages and statistics. */
import { Departments } from '../../core/contracts/departments.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { Records, type UsageRecord } from '../../core/contracts/records.ts';
import { definePlugin, duration, durationMs, type Exchange, type Known, type Step, schema } from '../../core/plugin.ts';
import { hourOf } from './additions.ts';
import { eventSteps } from './events.ts';
import { createPages } from './pages.ts';
import { recordOf, recordSteps } from './records.ts';
import { createRetention } from './retention.ts';
import { newRolled, rolledUntil } from './roll-up.ts';
import { createSums } from './sums.ts';
import { migrations } from './tables.ts';
import { createTimings } from './timings.ts';

interface LogSection {
  /** `90d`. */
  readonly keep: string;
}

const logSection = schema<LogSection>({
  type: 'object',
  additionalProperties: false,
  properties: {
    keep: {
      ...duration,
      description: 'How long usage records are kept; sums of them are kept for good.',
      default: '90d',
    },
  },
  default: {},
});

const isKnown = (x: Exchange): x is Known => x.identity !== undefined;

export default definePlugin({
  name: 'log',
  api: 1,
  sections: { log: logSection },
  migrations,
  wants: [Ledger, Departments],
  provides: [Records],
  create(host, { log: { keep } }) {
    const keepMs = durationMs(keep);
    const { store, clock, log } = host;
    const rolled = host.lasting('log.rolled', newRolled);
    const retention = createRetention(host, keepMs, rolled);
    function stepsOf(record: UsageRecord): readonly Step[] {
      const departmentId = host.find(Departments)?.departmentOf(record.accountId)?.id ?? 0;
      // Another gateway may have rolled up hours that ended a while ago, by its clock.
      return recordSteps(record, departmentId, Math.max(rolled.beforeMs, hourOf(clock.now())));
    }
    host.provide(Records, {
      steps: stepsOf,
      eventSteps: (event) => eventSteps(event, clock.now()),
      page: createPages(host, keepMs),
      timings: createTimings(host, keepMs),
      ...createSums(host, keepMs),
    });
    return {
      settle(x) {
        if (isKnown(x)) {
          const ledger = host.find(Ledger);
          return stepsOf(recordOf(x, ledger?.charged(x) ?? 0n, ledger?.isIncluded(x) ?? false, clock));
        }
        log.debug('refused before it was known who called', { exchange: x.id, status: x.status, ip: x.ip });
        return undefined;
      },
      async start() {
        if (rolled.beforeMs === Infinity) rolled.beforeMs = await rolledUntil(store);
        retention.start();
      },
      stop: retention.stop,
    };
  },
});
