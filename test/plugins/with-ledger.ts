/** `drive` for plugins that need a ledger: the real one is there. */

import { Ledger } from '../../core/contracts/ledger.ts';
import { aloneOf } from '../../core/contracts/peers.ts';
import type { Plugin, Sections } from '../../core/plugin.ts';
import { silentLog } from '../../core/runtime/logger.ts';
import { receiptOf } from '../../plugins/prices/receipt.ts';
import { createLeases } from '../../plugins/quota/leases.ts';
import { createLedger } from '../../plugins/quota/ledger.ts';
import { migrations as tables } from '../../plugins/quota/tables.ts';
import { type Driven, drive } from '../kit/gateway/drive.ts';

/** As `drive`, with a ledger that has charged nothing yet. */
export function driveWithLedger(
  plugins: readonly Plugin<Sections>[],
  options: Omit<NonNullable<Parameters<typeof drive>[1]>, 'tables'> = {},
): Promise<Driven> {
  return drive(plugins, {
    ...options,
    tables,
    services: (store, clock) => [
      [
        Ledger,
        createLedger({
          ...{
            store,
            clock,
            perUnit: 500_000,
            welcome: 0n,
            charged: () => 0n,
            isIncluded: () => false,
            receipt: receiptOf,
          },
          leases: createLeases({ store, clock, boot: 'the run', peers: aloneOf('the run'), log: silentLog }),
        }),
      ],
      ...(options.services?.(store, clock) ?? []),
    ],
  });
}
