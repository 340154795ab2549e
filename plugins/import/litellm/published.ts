/** List prices that ship with this gateway, as prices of imported models: for deployments at addresses that have no list price. */

import { RATE_NAMES } from '../../../core/contracts/formats/rates.ts';
import type { Prices } from '../../../core/contracts/prices.ts';
import { decimalText } from '../../../core/sdk.ts';
import type { ForeignPrice } from '../inventory.ts';
import { amountOf, quotient } from '../values.ts';

const SECONDS_PER_HOUR = 3600n;

/** The list price of a model at a vendor. */
export type Published = (upstream: {
  readonly vendor: string;
  readonly url: string;
  readonly model: string;
}) => ForeignPrice | undefined;

/** Looks prices up in the service. */
export function publishedBy(prices: Pick<Prices, 'published'>): Published {
  return (upstream) => {
    const found = prices.published(upstream);
    if (found === undefined || found.free) return undefined;
    const perHour = amountOf(found.perHour);
    const units = {
      perImage: found.perImage,
      characters: found.characters,
      perRequest: found.perRequest,
      perSecond: perHour && decimalText(quotient(perHour, SECONDS_PER_HOUR)),
    };
    const all = [...RATE_NAMES.map((rate) => [rate, found[rate]] as const), ...Object.entries(units)];
    return Object.fromEntries(all.flatMap(([name, amount]) => (amount === undefined ? [] : [[name, amount]])));
  };
}
