/** Calls that have ended, but whose `settle` could not be written: they stay reserved, and are charged later for the delivered part. */
import { inQuota, type Layer } from '../../core/contracts/ledger.ts';
import type { Records, UsageRecord } from '../../core/contracts/records.ts';
import type { Host } from '../../core/plugin.ts';
import { noteOfLayers, type Reservation } from './reservation.ts';

/** Makes the list; it is shared by all configurations. */
export function createUnsettled(host: Host) {
  const { store, clock, log } = host;
  const reservations = host.lasting({ name: 'quota.unsettled', version: 1, make: () => new Set<Reservation>() });

  function add(reservation: Reservation): void {
    reservation.reopen();
    reservations.add(reservation);
  }

  return {
    /** Adds a call, and reopens its reservation. */
    add,

    /** Closes them, with a usage record each. Returns how many; rejects if the store cannot write yet. */
    async close(records: Records | undefined): Promise<number> {
      let count = 0;
      for (const reservation of reservations) {
        const { x, terms, delivered: charged, amount: held } = reservation;
        const { identity, call, ip, startedMs, id } = x;
        const record = recoveredRecord({
          ...{ id, ip, charged, held, accountId: identity.account.id, keyId: identity.key.id, createdMs: startedMs },
          ...{ style: call.style, model: call.model, stream: call.stream },
          ...{ fromAccount: terms.fromAccount, layers: terms.limits },
        });
        reservations.delete(reservation);
        try {
          const steps = [...reservation.close(charged, clock.now()), ...(records?.steps(record) ?? [])];
          const failed = await store.atomic(steps);
          if (failed === undefined) count++;
          else log.error('a call could not be settled', { exchange: id, failed });
        } catch (error) {
          add(reservation);
          throw error;
        }
      }
      return count;
    },
  };
}

/** Such calls. */
export type Unsettled = ReturnType<typeof createUnsettled>;

/** The usage record of a call of which only the checkpoints are known. Amounts are micro-quota. */
export function recoveredRecord(of: {
  readonly id: string;
  readonly accountId: number;
  readonly keyId: number;
  readonly style: string;
  readonly model: string;
  readonly stream: boolean;
  readonly ip: string;
  readonly createdMs: number;
  readonly charged: bigint;
  readonly held: bigint;
  readonly fromAccount: boolean;
  /** The buckets other than account and key. */
  readonly layers: readonly Layer[];
}): UsageRecord {
  const { id, accountId, keyId, style, model, stream, ip, createdMs, charged, held, fromAccount, layers } = of;
  return {
    ...{ id, accountId, keyId, style, model, stream, ip, charged, atMs: createdMs },
    channel: '',
    outcome: 'recovered',
    status: 500,
    usage: undefined,
    ...(!fromAccount && { included: true }),
    durationMs: 0,
    firstByteMs: undefined,
    other: { held: inQuota(held), ...noteOfLayers(layers) },
  };
}
