/**
 * Usage records: plays `settle`, in which each exchange of an authenticated caller leaves a record, and `answered`, for requests that are
 * not calls. Keeps sums, and provides pages and statistics.
 */
import { Departments } from '../../core/contracts/departments.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { Records, type UsageRecord } from '../../core/contracts/records.ts';
import { definePlugin, type Exchange, type Known, type Step, schema } from '../../core/plugin.ts';
import { duration, durationMs } from '../../core/sdk.ts';
import { hourOf } from './additions.ts';
import { eventSteps } from './events.ts';
import { createPages } from './pages.ts';
import { createRecordSteps } from './record-steps.ts';
import { isRepeatable, recordOf, recordOfRoute } from './records.ts';
import { createRepeats } from './repeats.ts';
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
      description: 'How long usage records are kept; their sums are kept forever.',
      default: '90d',
    },
  },
  default: {},
});

const isKnown = (x: Exchange): x is Known => x.identity !== undefined;

export default definePlugin({
  name: 'log',
  api: 2,
  sections: { log: logSection },
  migrations,
  wants: [Ledger, Departments],
  provides: [Records],
  create(host, { log: { keep } }) {
    const keepMs = durationMs(keep);
    const { store, clock, log } = host;
    const rolled = host.lasting({ name: 'log.rolled', version: 1, make: newRolled });
    const retention = createRetention(host, keepMs, rolled);
    const departmentOf = ({ accountId }: UsageRecord): number =>
      host.find(Departments)?.departmentOf(accountId)?.id ?? 0;
    // Another gateway may have rolled up hours that ended recently, according to its clock.
    const closedMs = (): number => Math.max(rolled.beforeMs, hourOf(clock.now()));
    const steps = createRecordSteps(host);
    const stepsOf = (record: UsageRecord): readonly Step[] => steps.record(record, departmentOf(record), closedMs());
    const repeats = createRepeats(host, {
      record: stepsOf,
      more: (record, count) => steps.more(record, departmentOf(record), count, closedMs()),
    });
    /** Reads see everything that was counted before. */
    const upToDate =
      <Asked extends readonly unknown[], T>(read: (...asked: Asked) => Promise<T>) =>
      async (...asked: Asked): Promise<T> => {
        await repeats.written();
        return read(...asked);
      };
    const { sums, rate } = createSums(host, keepMs);
    host.provide(Records, {
      steps: stepsOf,
      eventSteps: (event) => eventSteps(event, clock.now()),
      page: upToDate(createPages(host, keepMs)),
      timings: upToDate(createTimings(host, keepMs)),
      sums: upToDate(sums),
      rate: upToDate(rate),
    });
    return {
      essential: true,
      settle(x) {
        if (isKnown(x)) {
          const ledger = host.find(Ledger);
          const record = recordOf(x, ledger?.charged(x) ?? 0n, ledger?.isIncluded(x) ?? false, clock);
          const alone = isRepeatable(record) ? repeats.first(record) : record;
          return alone && stepsOf(alone);
        }
        log.debug('refused before it was known who called', { exchange: x.id, status: x.status, ip: x.ip });
        return undefined;
      },
      answered(x, end) {
        if (end.route.uncounted !== true) repeats.count(recordOfRoute(x, end, clock));
      },
      async start() {
        if (rolled.beforeMs === Infinity) rolled.beforeMs = await rolledUntil(store);
        retention.start();
        repeats.start();
      },
      async stop() {
        await retention.stop();
        await repeats.stop();
      },
    };
  },
});
