/** A thousand calls at once over a limit of ten, again and again, at every layer. */
import { describe, it } from 'node:test';
import { isWhole } from '../../kit/console/whole.ts';
import { isOnPostgres } from '../../kit/stand-ins/postgres.ts';
import { LAYERS, openLimited, rushAt } from './limited.ts';

/** Fewer on PostgreSQL in any case: each refusal first reads the balance from the store, which is a round trip to the server. */
const TIMES = isWhole && !isOnPostgres() ? 20 : 3;

describe('each layer', () => {
  for (const { name, code } of LAYERS) {
    it(`lets exactly ten of 1,000 calls through, ${TIMES} times over: ${name} [T-LED-01]`, async () => {
      const limited = await openLimited(name, 10);
      try {
        for (let time = 0; time < TIMES; time++) await rushAt(limited, 1_000, 10, code);
      } finally {
        await limited.world.close();
      }
    });
  }
});
