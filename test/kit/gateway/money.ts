/** What a running gateway's ledger says of its calls: what they hold, what they were taken from. Amounts are micro-quota. */
import assert from 'node:assert/strict';
import { type Entry, type Layer, Ledger } from '../../../core/contracts/ledger.ts';
import { Records } from '../../../core/contracts/records.ts';
import { until } from '../until.ts';
import type { TestGateway } from './gateway.ts';

type WithHost = Pick<TestGateway, 'host'>;

/** What running calls hold, by the kind of layer; empty where no call holds anything. What is only leased is not among it. */
export async function heldByCalls({ host }: WithHost): Promise<Readonly<Record<string, bigint>>> {
  const ledger = host.use(Ledger);
  const buckets = await host.store.all<{ kind: Layer['kind']; owner: number; windowStart: number }>(
    'SELECT kind, owner, window_start AS "windowStart" FROM bucket WHERE held > 0 ORDER BY kind, owner, window_start',
  );
  const held: Record<string, bigint> = {};
  for (const bucket of buckets) {
    const amount = (await ledger.balance(bucket))?.held ?? 0n;
    if (amount > 0n) held[bucket.kind] = (held[bucket.kind] ?? 0n) + amount;
  }
  return held;
}

/** Resolves once a call holds something, with what is held then. */
export async function untilHeld(gateway: WithHost): Promise<Readonly<Record<string, bigint>>> {
  return until('a call holds something', async () => {
    const held = await heldByCalls(gateway);
    return Object.keys(held).length > 0 && held;
  });
}

/** What a recorded call was taken from, by its id: one entry for each layer, ordered by kind. Fails where it has no record. */
export async function debitsOf({ host }: WithHost, id: string): Promise<readonly Entry[]> {
  const { items } = await host.use(Records).page({ id }, { limit: 2 });
  assert.equal(items.length, 1, `records of the call ${id}`);
  return host.use(Ledger).debitsOf(items[0]!.call!);
}

/** The same, in short: `account 12000000`, `key 12000000`. */
export async function debitLines(gateway: WithHost, id: string): Promise<readonly string[]> {
  return (await debitsOf(gateway, id)).map(({ kind, amount }) => `${kind} ${amount}`);
}

/** What was debited so far, by the kind of layer: between two moments, what the calls between them were charged. */
export async function debited({ host }: WithHost): Promise<Readonly<Record<string, bigint>>> {
  const rows = await host.store.all<{ kind: string; amount: string }>(
    'SELECT kind, CAST(SUM(amount) AS TEXT) AS amount FROM debit GROUP BY kind ORDER BY kind',
  );
  return Object.fromEntries(rows.map(({ kind, amount }) => [kind, BigInt(amount)]));
}
