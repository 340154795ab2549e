/** Where parts of the wallet say that something has to be scanned to be paid. */
import { createContext } from 'react';
import type { Begun } from './begin.ts';

/** A payment that waits to be scanned. */
export type Scan = Extract<Begun, { kind: 'scan' }>;

/** Shows it. */
export const PaymentContext = createContext<{ show(scan: Scan): void }>({ show: () => {} });
