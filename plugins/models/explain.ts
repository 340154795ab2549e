/** The state of the targets of a call for `turnpike explain`: which circuits are closed, and until when the others are skipped. */
import type { Clock, Offer, Offering } from '../../core/plugin.ts';
import type { Health } from './health.ts';

/** The targets with their state. If none is available, the one that recovers first would be tried. */
export function explainOffers(offers: readonly Offer[], health: Health, clock: Clock): readonly Offering[] {
  const waitsMs = offers.map((offer) => Math.max(0, health.readyAtMs(offer) - clock.mono()));
  const soonestMs = Math.min(...waitsMs);
  return offers.map((offer, i) => {
    const ms = waitsMs[i]!;
    if (ms === 0) return { offer, state: 'available', asked: true };
    const state = `unavailable until ${new Date(clock.now() + ms).toISOString()}`;
    const isTried = soonestMs > 0 && i === waitsMs.indexOf(soonestMs);
    return { offer, state: isTried ? `${state}; tried anyway, because no target is available` : state, asked: isTried };
  });
}
