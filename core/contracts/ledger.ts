/** The ledger: who has how much. Provided by the plugin `quota`. All amounts are micro-quota: 1 quota = 1,000,000. */
import type { Exchange, Step } from '../plugin.ts';
import { service } from '../plugin.ts';

/** Micro-quota in one quota unit. */
export const MICRO = 1_000_000n;

/** A limit that calls are taken from: an account, a key, later a window or a department. */
export interface Layer {
  readonly kind: 'account' | 'key';
  readonly owner: number;
}

/** `granted` = available + `held` + `used`, at every commit. */
export interface Balance {
  readonly granted: bigint;
  readonly used: bigint;
  readonly held: bigint;
  readonly unlimited: boolean;
}

/** Buckets of quota, one for each layer. */
export interface Ledger {
  /** The steps that open a layer's bucket, for the list that creates its owner. */
  open(layer: Layer, granted: bigint, unlimited: boolean): readonly Step[];
  balance(layer: Layer): Promise<Balance | undefined>;
  /** Gives `amount` (above zero) to a layer, once per `ref`. False where that `ref` was credited before. */
  credit(layer: Layer, amount: bigint, ref: string, actor: string): Promise<boolean>;
  /** What an exchange was charged; 0n before `quota` has settled it. */
  charged(x: Exchange): bigint;
}
/** The service of that name. */
export const Ledger = service<Ledger>('ledger');
