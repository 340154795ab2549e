/** Micro-quota as people read it. */
import { MICRO } from '../../core/contracts/ledger.ts';

/** Micro-quota as quota, exact: `1500000n` is `1.5`. */
export function inQuota(micro: bigint): string {
  const size = micro < 0n ? -micro : micro;
  const fraction = (size % MICRO).toString().padStart(6, '0').replace(/0+$/, '');
  return `${micro < 0n ? '-' : ''}${size / MICRO}${fraction === '' ? '' : `.${fraction}`}`;
}
