/** One import at a time on all gateways of a store: two at once would hand out two links to each user, and merge into the same configuration. */
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Host } from '../../core/plugin.ts';
import { errors } from './errors.ts';

/** How often a running import says that it lives. */
const SIGN_MS = 1_000;
/** After what silence it is given up, as after a kill. What it has not written is imported by the next one, also if it still runs. */
const SILENT_MS = 5_000;

/** Begins an import that writes, and returns how to end it. Refuses (409 `import_running`) if another one says that it lives; waits for one that is silent. */
export async function claimImport(host: Pick<Host, 'store' | 'clock' | 'log'>): Promise<() => Promise<void>> {
  const { store, clock, log } = host;
  const claim = randomBytes(16).toString('hex');
  /** Whether it is ours now: it was free, or what `seen` has of it is its last sign. */
  const take = async (seen: Sign | undefined): Promise<boolean> =>
    (await store.atomic([
      {
        sql: `INSERT INTO import_claim (id, claim, sign) VALUES (1, ?, 0)
          ON CONFLICT (id) DO UPDATE SET claim = excluded.claim, sign = 0
          WHERE import_claim.claim = ? AND import_claim.sign = ?`,
        params: [claim, seen?.claim ?? '', seen?.sign ?? -1],
        must: 'free',
      },
    ])) === undefined;
  const read = (): Promise<Sign | undefined> => store.one<Sign>('SELECT claim, sign FROM import_claim WHERE id = 1');
  if (!(await take(undefined))) {
    // Only its signs are compared, because the clocks of two gateways may differ.
    const first = await read();
    for (let waitedMs = 0; first !== undefined && waitedMs < SILENT_MS; waitedMs += SIGN_MS) {
      await wait(SIGN_MS);
      const now = await read();
      if (now === undefined) break;
      if (now.claim !== first.claim || now.sign !== first.sign) throw errors.import_running();
    }
    if (!(await take(first))) throw errors.import_running();
  }
  const stopSigns = clock.every(SIGN_MS, () => {
    store
      .run('UPDATE import_claim SET sign = sign + 1 WHERE id = 1 AND claim = ?', claim)
      .then((changes) => {
        if (changes > 0) return;
        stopSigns();
        log.error('another import was begun, because this one was silent for too long');
      })
      .catch((error: unknown) => log.warn('a running import could not say that it lives', { error }));
  });
  return async () => {
    stopSigns();
    // One that stays is given up soon.
    await store.run('DELETE FROM import_claim WHERE id = 1 AND claim = ?', claim).catch(() => undefined);
  };
}

/** What is known of the import that runs. */
interface Sign {
  readonly claim: string;
  readonly sign: number;
}
