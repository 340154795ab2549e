/** Usage events: a JSON object for each settled call, to a webhook, files, or storage with the API of S3. */
import { Ledger } from '../../core/contracts/ledger.ts';
import { definePlugin, type Parts } from '../../core/plugin.ts';
import { createDelivery, type Destination } from './delivery.ts';
import { files, s3, webhook } from './destinations.ts';
import { eventOf } from './event.ts';
import { eventsSection } from './section.ts';

/** How often settled calls are collected. */
const COLLECT_MS = 1_000;

/** A call that has ended; its settlement may still be on its way to the database. */
interface Ended {
  readonly id: string;
  readonly event: string;
}

export default definePlugin({
  name: 'events',
  api: 2,
  sections: { events: eventsSection },
  wants: [Ledger],
  create(host, { events: section }): Parts {
    const { clock, store, log } = host;
    const destinations: readonly Destination[] = [
      ...(section.webhook === undefined ? [] : [webhook(section.webhook, clock)]),
      ...(section.file === undefined ? [] : [files(section.file, clock)]),
      ...(section.s3 === undefined ? [] : [s3(section.s3, clock)]),
    ];
    // Without its section, it has no part in any call.
    if (destinations.length === 0) return {};
    const { webhook: hook, s3: bucket } = section;
    for (const secret of [hook?.secret ?? '', ...Object.values(hook?.headers ?? {}), bucket?.secretKey ?? ''])
      log.hide(secret);
    const deliveries = destinations.map((destination) => createDelivery(destination, section.queue, host));
    let ended: Ended[] = [];
    /** Ids of calls that were not written, until they are collected. */
    const unsettled = new Set<string>();
    let cancel: (() => void) | undefined;
    let collecting: Promise<void> = Promise.resolve();

    /** Passes on the calls that have ended, once they are durable. */
    async function collect(): Promise<void> {
      const calls = ended;
      if (calls.length === 0) return;
      ended = [];
      // Resolves when everything that was submitted before is durable. A store that is away keeps no event back.
      await store.atomic([]).catch(() => {});
      for (const { id, event } of calls)
        if (!unsettled.delete(id)) for (const delivery of deliveries) delivery.add(event);
    }

    function collectNext(): Promise<void> {
      collecting = collecting.then(collect).catch((error: unknown) => log.error('events were lost', { error }));
      return collecting;
    }

    return {
      settle(x) {
        if (ended.length >= section.queue) {
          for (const delivery of deliveries) delivery.drop();
          return undefined;
        }
        const ledger = host.find(Ledger);
        const charge = { charged: ledger?.charged(x) ?? 0n, perUnit: ledger?.perUnit ?? 1 };
        ended.push({ id: x.id, event: eventOf(x, charge, clock.now()) });
        return undefined;
      },
      unsettled(x) {
        unsettled.add(x.id);
      },
      report: () => [`an event for each call is sent to: ${destinations.map(({ name }) => name).join(', ')}`],
      start() {
        cancel = clock.every(COLLECT_MS, () => void collectNext());
      },
      async stop() {
        cancel?.();
        await collectNext();
        await Promise.all(deliveries.map((delivery) => delivery.stop()));
      },
    };
  },
});
