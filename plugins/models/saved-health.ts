/** The health of channels over restarts: open circuits and pauses are saved in the store, and restored at the start if they are recent. */
import type { Host, Migration } from '../../core/plugin.ts';
import { createChore } from '../../core/sdk.ts';
import { hear, type News, wrongNow } from './health-news.ts';
import type { HealthState } from './health-state.ts';

export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'health of channels over restarts',
    sql: [
      `CREATE TABLE channel_health (
        id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
        saved_ms INTEGER NOT NULL,
        problems TEXT NOT NULL
      ) STRICT`,
    ],
  },
];

const SAVE_EVERY_MS = 15_000;
/** Problems that were saved longer ago say nothing about vendors now. */
const FRESH_MS = 15 * 60_000;

/**
 * Creates it. Only the leading process saves, because all processes have the same state, and only the leading one restores: the others get the
 * problems from their peers. A circuit whose time is over is restored half-open: its next call is a probe.
 */
export function createSavedHealth(host: Host, state: HealthState) {
  const { store, clock, log, peers } = host;
  let saved = '[]';

  async function save(): Promise<void> {
    if (!peers.leads()) return;
    const problems = wrongNow(state, clock.mono());
    // As long as nothing is wrong, nothing is written.
    if (saved === '[]' && problems.length === 0) return;
    const text = JSON.stringify(problems);
    await store.run(
      `INSERT INTO channel_health (id, saved_ms, problems) VALUES (1, ?, ?)
        ON CONFLICT (id) DO UPDATE SET saved_ms = excluded.saved_ms, problems = excluded.problems`,
      clock.now(),
      text,
    );
    saved = text;
  }

  async function restore(): Promise<void> {
    const row = await store.one<{ saved_ms: number; problems: string }>(
      'SELECT saved_ms, problems FROM channel_health WHERE id = 1',
    );
    if (row === undefined) return;
    saved = row.problems;
    const passedMs = clock.now() - row.saved_ms;
    // Also if the clock was set back.
    if (passedMs < 0 || passedMs > FRESH_MS) return;
    for (const news of JSON.parse(row.problems) as readonly News[]) {
      const left = 'forMs' in news ? { ...news, forMs: Math.max(0, news.forMs - passedMs) } : news;
      hear(left, state, clock.mono(), () => {});
    }
  }

  const saving = createChore(host, {
    everyMs: SAVE_EVERY_MS,
    work: save,
    failure: 'could not save the health of channels',
  });
  return {
    async start(): Promise<void> {
      // After a reload, the state is there.
      const isNew = state.breakers.size === 0 && state.rests.size === 0 && state.failures.size === 0;
      if (isNew && peers.leads()) {
        await restore().catch((error: unknown) => log.warn('could not restore the health of channels', { error }));
      }
      saving.start();
    },
    async stop(): Promise<void> {
      await saving.stop();
      // The store may be closing.
      await save().catch((error: unknown) => log.warn('could not save the health of channels', { error }));
    },
  };
}
