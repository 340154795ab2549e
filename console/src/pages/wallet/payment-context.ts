/** Texts of the wallet page. */
import { createContext } from 'react';
import type { PaymentStart } from './begin.ts';

/** A payment with a QR code. */
export type Scan = Extract<PaymentStart, { kind: 'scan' }>;

/** Shows the dialog. */
export const PaymentContext = createContext<{ show(scan: Scan): void }>({ show: () => {} });
