/** Detects accounts whose balance has fallen below their threshold: each fall is reported once, by one process. */
import type { Balance } from '../../core/contracts/ledger.ts';
import type { Host } from '../../core/plugin.ts';

interface NoticeRow {
  readonly told: number;
  readonly remaining: string;
  readonly granted: string;
  readonly noticed_ms: number;
}

/** At most one per hour: moving the threshold up and down would make every call a fall, and emails may go to any address. */
const QUIET_MS = 3_600_000;

/** The balance if all running calls were charged as little as possible: reserved amounts still count. */
export function remainingOf({ granted, used }: Balance): bigint {
  return granted - used;
}

/** Checks balances. */
export function createLowBalance({ store, clock }: Host) {
  return {
    /**
     * Returns true if the balance is below the threshold, the user was not notified since it was above, and not within the last hour; it then
     * counts as notified. Of several gateways on one store, one gets true.
     */
    async take(accountId: number, balance: Balance, below: bigint): Promise<boolean> {
      const { granted, unlimited } = balance;
      const remaining = remainingOf(balance);
      const isAbove = unlimited || remaining >= below;
      const now = clock.now();
      const last = await store.one<NoticeRow>(
        `SELECT told, CAST(remaining AS TEXT) AS remaining, CAST(granted AS TEXT) AS granted, noticed_ms
          FROM notice WHERE account_id = ?`,
        accountId,
      );
      if (last === undefined) {
        if (isAbove) return false;
        const sql = `INSERT INTO notice (account_id, told, remaining, granted, noticed_ms) VALUES (?, 1, ?, ?, ?)
          ON CONFLICT DO NOTHING`;
        return (await store.run(sql, accountId, remaining, granted, now)) > 0;
      }
      const before = { remaining: BigInt(last.remaining), granted: BigInt(last.granted) };
      // A credit that was spent before this check: the balance was above in between.
      const wasAbove = isAbove || last.told === 0 || before.remaining + granted - before.granted >= below;
      const isDue = wasAbove && !isAbove && Math.abs(now - last.noticed_ms) >= QUIET_MS;
      const told = wasAbove && !isDue ? 0 : 1;
      const isSame = told === last.told && remaining === before.remaining && granted === before.granted;
      if (isSame || (isAbove && last.told === 0)) return false;
      const changed = await store.run(
        `UPDATE notice SET told = ?, remaining = ?, granted = ?, noticed_ms = ?
          WHERE account_id = ? AND told = ? AND remaining = ? AND granted = ? AND noticed_ms = ?`,
        ...[told, remaining, granted, isDue ? now : last.noticed_ms],
        ...[accountId, last.told, before.remaining, before.granted, last.noticed_ms],
      );
      return isDue && changed > 0;
    },
  };
}
