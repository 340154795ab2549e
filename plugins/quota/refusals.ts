/** Why a layer refuses a call: which one it was, what it has left, and when there will be more. Amounts are micro-quota. */
import { inQuota, type Layer, type Ledger } from '../../core/contracts/ledger.ts';
import type { GatewayError } from '../../core/plugin.ts';
import { nameOf } from './buckets.ts';
import { errors, type LayerCode } from './errors.ts';
import type { Terms } from './terms.ts';

/** A layer that a call is charged to, and how its refusal describes it. */
export interface AskedLayer {
  readonly layer: Layer;
  /** What its bucket is granted when the first call opens it; undefined if it exists from the beginning. */
  readonly limit: bigint | undefined;
  /** Its name in reservations. */
  readonly name: string;
  readonly code: LayerCode;
  /** `the account`. */
  readonly title: string;
  /** What to do if it has too little. */
  readonly advice: string;
}

/** The balances of layers, for refusals. */
export type Balances = Pick<Ledger, 'balance' | 'debt'>;

const FEWER = 'or request fewer output tokens.';

/** The layers of a call, in the order in which they may refuse. A call that a subscription includes has the account among them, because it may owe something. */
export function layersOf(accountId: number, keyId: number, terms: Terms): readonly AskedLayer[] {
  return [
    {
      layer: { kind: 'account', owner: accountId },
      limit: undefined,
      name: nameOf({ kind: 'account', owner: accountId }),
      code: 'QUOTA_USER_INSUFFICIENT',
      title: 'the account',
      advice: `Credit it, ${FEWER}`,
    },
    {
      layer: { kind: 'key', owner: keyId },
      limit: undefined,
      name: nameOf({ kind: 'key', owner: keyId }),
      code: 'QUOTA_TOKEN_INSUFFICIENT',
      title: 'the key',
      advice: `Raise its allowance, ${FEWER}`,
    },
    ...terms.extras.map((layer) => ({
      layer,
      limit: layer.limit,
      name: nameOf(layer),
      code: layer.code,
      title: layer.title,
      advice:
        layer.resetsMs === undefined
          ? `Have it raised, ${FEWER}`
          : `It resets at ${new Date(layer.resetsMs).toISOString()}; until then, request fewer output tokens.`,
    })),
  ];
}

/** What is left in a layer; undefined if it has no limit. */
export async function leftIn(ledger: Balances, { layer, limit }: AskedLayer): Promise<bigint | undefined> {
  const balance = await ledger.balance(layer);
  if (balance === undefined) return limit ?? 0n;
  if (limit === undefined && balance.unlimited) return undefined;
  const left = (limit ?? balance.granted) - balance.used - balance.held;
  return left > 0n ? left : 0n;
}

/** What is left in each layer that pays a call, in their order; undefined if it has no limit. */
export function leftInEach(
  ledger: Balances,
  accountId: number,
  keyId: number,
  terms: Terms,
): Promise<readonly (readonly [AskedLayer, bigint | undefined])[]> {
  const layers = layersOf(accountId, keyId, terms);
  const paying = terms.fromAccount ? layers : layers.slice(1);
  return Promise.all(paying.map(async (layer) => [layer, await leftIn(ledger, layer)] as const));
}

/** The refusal of a layer that has less than `amount` left, with its current balance. */
export async function insufficient(ledger: Balances, asked: AskedLayer, amount: bigint): Promise<GatewayError> {
  const { layer, code, title, advice } = asked;
  const owed = layer.kind === 'account' ? await ledger.debt(layer.owner) : 0n;
  if (owed > 0n) return indebted(owed);
  const left = await leftIn(ledger, asked);
  // Other calls may have returned quota since this one was refused.
  const has = left !== undefined && left < amount ? `only ${inQuota(left)} left` : 'not that much left';
  return errors[code](`This call needs a reservation of ${inQuota(amount)} quota, and ${title} has ${has}. ${advice}`);
}

/** The refusal of an account that owes something. */
export function indebted(owed: bigint): GatewayError {
  const why = 'a payment that it had spent was refunded';
  return errors.QUOTA_USER_INSUFFICIENT(`The account owes ${inQuota(owed)} quota because ${why}. Credit it first.`);
}
