/** The source of a price and its date, in words. */
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import type { Priced } from './priced.ts';
import { TEXT } from './text.ts';

/** Formats a source: the place in gateway.yaml, or the price list. */
export function useSource(): (source: NonNullable<Priced['source']>) => string {
  const { sources } = useText(TEXT);
  return ({ kind, text }) => (kind === 'published' ? `${sources.published}: ${text}` : sources[kind]);
}

/** Formats a day that begins at midnight UTC: `2026-01-31`. */
export function useDay(): (day: string) => string {
  const write = useFormat().dates({ dateStyle: 'medium' }, true);
  return (day) => {
    const at = Date.parse(`${day}T00:00:00Z`);
    return Number.isNaN(at) ? day : write(at / 1_000);
  };
}
