/** Decides whether a response is kept: its account has a budget of bytes, and the disk must have room. */
import { Catalog } from '../../../core/contracts/catalog.ts';
import { Running } from '../../../core/contracts/running.ts';
import { type Exchange, GatewayError, type Host, type JsonBody, type Known, slot } from '../../../core/plugin.ts';
import { byteSize } from '../../../core/sdk.ts';
import type { ResponsesSection } from './section.ts';

/** Which of an account's budgets a response counts towards: that of models that are free, or the other. */
export interface Budget {
  readonly isFree: boolean;
  readonly bytes: number;
}

export interface Keeping {
  /** Asked once of a call, before it is served: the client is told if its response will not be kept. `newBytes`: of what it says. */
  decide(x: Known, body: JsonBody, newBytes: number): void;
  /** What a response counts towards that is to be kept; undefined if it is not to be. */
  budgetFor(x: Exchange): Budget | undefined;
  readonly budgets: readonly Budget[];
}

/** What a call's response counts towards, if it is to be kept. */
const decided = slot<Budget>('styles.kept');

/** `keeps`: whether any response is kept. */
export function createKeeping(host: Host, { perAccount, perAccountFree }: ResponsesSection, keeps: boolean): Keeping {
  const paid: Budget = { isFree: false, bytes: byteSize(perAccount) };
  const free: Budget = { isFree: true, bytes: byteSize(perAccountFree) };
  /** Of calls under way whose responses are to be kept: the disk does not show them yet. */
  let promised = 0;

  function isFree(model: string): boolean {
    try {
      return host.find(Catalog)?.require(model).free ?? false;
    } catch (error) {
      // The call is refused where its model is looked up.
      if (error instanceof GatewayError) return false;
      throw error;
    }
  }

  return {
    decide(x, body, newBytes) {
      if (body.get('store') === false) return;
      const budget = isFree(x.call.model) ? free : paid;
      const hasRoom = host.find(Running)?.hasRoom(promised + newBytes) ?? true;
      if (!keeps || newBytes > budget.bytes || !hasRoom) {
        x.drop('store');
        return;
      }
      decided.set(x, budget);
      promised += newBytes;
      x.defer(() => {
        promised -= newBytes;
      });
    },
    budgetFor: (x) => decided.get(x),
    budgets: [paid, free],
  };
}
