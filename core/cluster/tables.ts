/** Which tables the processes on a store know: none migrates a table that another could not use afterwards. */

import type { Peers } from '../contracts/peers.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/logger.ts';
import { canWorkBeside, knownMigrations, type Pending, riskyMigrations, type TableOwner } from '../store/migrations.ts';

const TOPIC = 'core.tables';

/** How often processes are queried, and the maximum time: a killed process counts as alive for ten seconds. */
const MOST_QUESTIONS = 12;
const AGAIN_MS = 1_000;

/** Starts to answer the others. */
export function tellKnownTables(peers: Peers, owners: readonly TableOwner[]): void {
  peers.on(TOPIC, () => knownMigrations(owners));
}

/** Throws if another running process cannot work with the tables as these migrations leave them. */
export async function requireCompatiblePeers(
  peers: Peers,
  pending: readonly Pending[],
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<void> {
  const risky = riskyMigrations(pending);
  const [first] = risky;
  if (first === undefined) return;
  const { owner, migration } = first;
  for (let questions = 1; ; questions++) {
    const others = (await peers.alive()).size - 1;
    const answers = (await peers.ask(TOPIC, null)) as readonly Readonly<Record<string, number>>[];
    const isRefused = answers.some((versions) => !canWorkBeside(versions, risky));
    // A process that does not answer has just started, was just killed, or is too old to know the topic.
    if (!isRefused && answers.length >= others) return;
    if (isRefused || questions === MOST_QUESTIONS) {
      throw new Error(
        `migration ${migration.id} of "${owner}" (${migration.title}) changes what gateways of an older version on this database still use: ` +
          'stop these first, or upgrade them to a version that can run alongside it (see plugins/stores/README.md)',
      );
    }
    if (questions === 1) {
      const processes = others - answers.length;
      log.warn('waiting for processes on this database that do not report which tables they know', { processes });
    }
    await new Promise<void>((done) => void clock.after(AGAIN_MS, done));
  }
}
