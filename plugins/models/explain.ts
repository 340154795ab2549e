/** How the offers for a call stand, for `turnpike explain`: which are well, and how long the others are left alone. */
import type { Clock, Offer, Offering } from '../../core/plugin.ts';
import type { Health } from './health.ts';

/** The offers with their state. Where none is well, the one that recovers soonest would be asked. */
export function explainOffers(offers: readonly Offer[], health: Health, clock: Clock): readonly Offering[] {
  const waitsMs = offers.map((offer) => Math.max(0, health.readyAtMs(offer) - clock.mono()));
  const soonestMs = Math.min(...waitsMs);
  return offers.map((offer, i) => {
    const ms = waitsMs[i]!;
    if (ms === 0) return { offer, state: 'well', asked: true };
    const state = `left alone until ${new Date(clock.now() + ms).toISOString()}`;
    const asked = soonestMs > 0 && i === waitsMs.indexOf(soonestMs);
    return { offer, state: asked ? `${state}, and asked all the same: none is well` : state, asked };
  });
}
