/** Usage records: plays `settle`, where each exchange of a known sender leaves one row. */
import { Ledger } from '../../core/contracts/ledger.ts';
import { Records } from '../../core/contracts/records.ts';
import type { Exchange, Known } from '../../core/plugin.ts';
import { definePlugin, duration, durationMs, schema } from '../../core/plugin.ts';
import { recordOf, recordSteps } from './records.ts';
import { createRetention } from './retention.ts';
import { migrations } from './tables.ts';

interface LogSection {
  /** `90d`. */
  readonly keep: string;
}

const logSection = schema<LogSection>({
  type: 'object',
  additionalProperties: false,
  properties: {
    keep: { ...duration, description: 'How long usage records are kept.', default: '90d' },
  },
  default: {},
});

const isKnown = (x: Exchange): x is Known => x.identity !== undefined;

export default definePlugin({
  name: 'log',
  api: 1,
  sections: { log: logSection },
  migrations,
  wants: [Ledger],
  provides: [Records],
  create(host, { log: { keep } }) {
    host.provide(Records, { steps: recordSteps });
    const retention = createRetention(host, durationMs(keep));
    return {
      settle(x) {
        if (isKnown(x)) return recordSteps(recordOf(x, host.find(Ledger)?.charged(x) ?? 0n, host.clock));
        host.log.debug('refused before it was known who called', { exchange: x.id, status: x.status, ip: x.ip });
        return undefined;
      },
      start: retention.start,
      stop: retention.stop,
    };
  },
});
