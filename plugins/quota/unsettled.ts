/** Calls that have ended and could not be written down: they stay held, and are charged later what they had delivered. */
import { inQuota } from '../../core/contracts/ledger.ts';
import type { Records, UsageRecord } from '../../core/contracts/records.ts';
import type { Host, Known } from '../../core/plugin.ts';
import { type Extra, type Hold, noteOfLayers, type Payers } from './holds.ts';

/** Such calls. */
export interface Unsettled {
  /** Takes one over whose hold was closed in vain. */
  add(x: Known, hold: Hold, payers: Payers): void;
  /** Closes them, with a record each. Returns how many; rejects where the store cannot write yet. */
  close(records: Records | undefined): Promise<number>;
}

/** Makes it; calls of every configuration are on one list. */
export function createUnsettled(host: Host): Unsettled {
  const { store, clock, log } = host;
  const calls = host.lasting({
    name: 'quota.unsettled',
    version: 1,
    make: () => new Map<Hold, { readonly x: Known; readonly payers: Payers }>(),
  });
  return {
    add(x, hold, payers) {
      hold.reopen();
      calls.set(hold, { x, payers });
    },

    async close(records) {
      let count = 0;
      for (const [hold, { x, payers }] of calls) {
        const { identity, call, ip, startedMs, id } = x;
        const { delivered: charged, amount: held } = hold;
        const record = recoveredRecord({
          ...{ id, ip, charged, held, accountId: identity.account.id, keyId: identity.key.id, createdMs: startedMs },
          ...{ style: call.style, model: call.model, stream: call.stream, ...payers },
        });
        calls.delete(hold);
        try {
          const failed = await store.atomic([...hold.close(charged, clock.now()), ...(records?.steps(record) ?? [])]);
          if (failed === undefined) count++;
          else log.error('a call could not be closed', { exchange: id, failed });
        } catch (error) {
          hold.reopen();
          calls.set(hold, { x, payers });
          throw error;
        }
      }
      return count;
    },
  };
}

/** The record of a call of which nothing is known but what was written down while it ran. Amounts are micro-quota. */
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
  readonly extras: readonly Extra[];
}): UsageRecord {
  const { id, accountId, keyId, style, model, stream, ip, createdMs, charged, held, fromAccount, extras } = of;
  return {
    ...{ id, accountId, keyId, style, model, stream, ip, charged, atMs: createdMs },
    channel: '',
    outcome: 'recovered',
    status: 500,
    usage: undefined,
    ...(!fromAccount && { included: true }),
    durationMs: 0,
    firstByteMs: undefined,
    other: { held: inQuota(held), ...noteOfLayers(extras) },
  };
}
