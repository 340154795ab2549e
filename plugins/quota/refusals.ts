/** Why a bucket refuses a call: its name, what it has left, and when it resets. Amounts are micro-quota. */
import { type CallLimit, COUNTED, inQuota, type Layer, type Ledger } from '../../core/contracts/ledger.ts';
import type { GatewayError } from '../../core/plugin.ts';
import { least, nameOf } from './buckets.ts';
import { errors } from './errors.ts';
import type { Terms } from './terms.ts';

/** A bucket that a call is charged to, and how its refusal describes it. */
export interface PayingLayer {
  readonly layer: Layer;
  /** The granted amount when the first call creates it; undefined: it exists already. */
  readonly limit: bigint | undefined;
  /** Its name in reservations. */
  readonly name: string;
  readonly error: CallLimit['error'];
  /** `the account`. */
  readonly title: string;
  /** The advice if it has too little. */
  readonly advice: string;
}

/** The balances of buckets, for refusals. */
export type Balances = Pick<Ledger, 'balance' | 'debt'>;

const FEWER = 'or request fewer output tokens.';

/**
 * The buckets of a call, in the order in which they may refuse. The account is included even if a subscription pays for the call, because it may have
 * a debt.
 */
export function layersOf(accountId: number, keyId: number, terms: Terms): readonly PayingLayer[] {
  const account = { kind: 'account', owner: accountId } as const;
  const key = { kind: 'key', owner: keyId } as const;
  return [
    {
      ...{ layer: account, limit: undefined, name: nameOf(account), error: errors.QUOTA_USER_INSUFFICIENT },
      ...{ title: 'the account', advice: `Credit it, ${FEWER}` },
    },
    {
      ...{ layer: key, limit: undefined, name: nameOf(key), error: errors.QUOTA_TOKEN_INSUFFICIENT },
      ...{ title: 'the key', advice: `Raise its allowance, ${FEWER}` },
    },
    ...terms.limits.map((layer) => ({
      ...{ layer, limit: layer.limit, name: nameOf(layer), error: layer.error, title: layer.title },
      advice:
        layer.resetsMs === undefined
          ? `Ask an administrator to raise it, ${FEWER}`
          : `It resets at ${new Date(layer.resetsMs).toISOString()}; until then, request fewer output tokens.`,
    })),
  ];
}

/** The remaining amount of a bucket; undefined if it has no limit. */
async function leftIn(ledger: Balances, { layer, limit }: PayingLayer): Promise<bigint | undefined> {
  if (limit === COUNTED) return undefined;
  const balance = await ledger.balance(layer);
  if (balance === undefined) return limit ?? 0n;
  if (limit === undefined && balance.unlimited) return undefined;
  const left = (limit ?? balance.granted) - balance.used - balance.held;
  return left > 0n ? left : 0n;
}

/** The remaining amount of each bucket that pays for a call, in order; undefined if it has no limit. */
export function leftInEach(
  ledger: Balances,
  accountId: number,
  keyId: number,
  terms: Terms,
): Promise<readonly (readonly [PayingLayer, bigint | undefined])[]> {
  const layers = layersOf(accountId, keyId, terms);
  const paying = terms.fromAccount ? layers : layers.slice(1);
  return Promise.all(paying.map(async (layer) => [layer, await leftIn(ledger, layer)] as const));
}

/** The least of some amounts, and at most `most`; undefined amounts have no limit. */
export function leastOf(amounts: Iterable<bigint | undefined>, most: bigint): bigint {
  let lowest = most;
  for (const amount of amounts) if (amount !== undefined) lowest = least(lowest, amount);
  return lowest;
}

/** The refusal of a bucket that has less than `amount` left, with its current balance. */
export async function insufficient(ledger: Balances, paying: PayingLayer, amount: bigint): Promise<GatewayError> {
  const { layer, error, title, advice } = paying;
  const owed = layer.kind === 'account' ? await ledger.debt(layer.owner) : 0n;
  if (owed > 0n) return indebted(owed);
  const left = await leftIn(ledger, paying);
  // Other calls may have returned quota since this one was refused.
  const has = left !== undefined && left < amount ? `only ${inQuota(left)} quota left` : 'less than that left';
  return error(
    `The quota is too low: this call needs a reservation of ${inQuota(amount)} quota, and ${title} has ${has}. ${advice}`,
  );
}

/** The refusal of an account with a debt. */
export function indebted(owed: bigint): GatewayError {
  const why = 'a payment that was already spent was refunded';
  return errors.QUOTA_USER_INSUFFICIENT(`The account owes ${inQuota(owed)} quota because ${why}. Credit it first.`);
}
