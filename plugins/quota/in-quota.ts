/** Micro-quota as people read it. */
import { MICRO } from '../../core/contracts/ledger.ts';

/** A number has room for so many digits, and writes them down as they are. */
const EXACT_AS_NUMBER = 10n ** 15n;

/** Micro-quota as quota, exact: `1500000n` is `1.5`. */
export function inQuota(micro: bigint): string {
  if (micro < EXACT_AS_NUMBER && micro > -EXACT_AS_NUMBER) return String(Number(micro) / 1_000_000);
  const size = micro < 0n ? -micro : micro;
  const fraction = (size % MICRO).toString().padStart(6, '0').replace(/0+$/, '');
  return `${micro < 0n ? '-' : ''}${size / MICRO}${fraction === '' ? '' : `.${fraction}`}`;
}
