/** Which tables the processes on one store know, so that none of them changes a table under another that cannot work with the change. */
import type { Clock } from '../clock.ts';
import type { Peers } from '../contracts/peers.ts';
import type { Log } from '../log.ts';
import { canWorkBeside, knownMigrations, type Pending, riskyMigrations, type TableOwner } from '../store.ts';

const TOPIC = 'core.tables';

/** How often processes are asked, and how long after the last time: one that was killed counts as alive for ten seconds. */
const MOST_QUESTIONS = 12;
const AGAIN_MS = 1_000;

/** Answers the others from now on. */
export function tellKnownTables(peers: Peers, owners: readonly TableOwner[]): void {
  peers.on(TOPIC, () => knownMigrations(owners));
}

/** Throws if another process runs that cannot work on the tables as they are after these migrations. */
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
    const isRefused = answers.some((known) => !canWorkBeside(known, risky));
    // Who does not answer has just started, was just killed, or is too old to know the question.
    if (!isRefused && answers.length >= others) return;
    if (isRefused || questions === MOST_QUESTIONS) {
      throw new Error(
        `migration ${migration.id} of "${owner}" (${migration.title}) changes what gateways of an older version on this database still use: ` +
          'stop these first, or bring them to a version that can run beside it (see plugins/stores/README.md)',
      );
    }
    if (questions === 1) {
      const processes = others - answers.length;
      log.warn('waiting for processes on this database that do not say which tables they know', { processes });
    }
    await new Promise<void>((done) => void clock.after(AGAIN_MS, done));
  }
}
