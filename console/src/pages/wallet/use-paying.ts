/** The state of a payment in a component: its input, progress and result. */
import { notifications } from '@mantine/notifications';
import { createContext, useContext, useEffect } from 'react';
import type { Operation, Refusal } from '../../api/client.ts';
import { useAction, useStatus } from '../../api/hooks.ts';
import { useText } from '../../text.ts';
import { begin, type Item, NoPage, type PaymentMethod, type PaymentStart } from './begin.ts';
import { TEXT } from './text.ts';

/** Operations that are refetched after a payment. */
export const PAID_CHANGES: readonly Operation[] = [
  'GET /api/user/self',
  'GET /api/user/statement',
  'GET /api/user/subscription/stats',
  'GET /api/user/topup/self',
];

/** The purchase and the payment method. */
export interface Paying {
  readonly item: Item;
  readonly method: PaymentMethod;
}

/** Begins payments; `busy` until the browser has left the page. `done` gets the result. */
export function usePaying(options: { done?(start: PaymentStart): void; refused?(refusal: Refusal): boolean } = {}) {
  const { topUp: text } = useText(TEXT);
  const { show } = useContext(PaymentContext);
  const status = useStatus();
  const action = useAction<Paying, PaymentStart | undefined>(
    async ({ item, method }) => {
      try {
        return await begin(item, method, status?.server_address ?? '');
      } catch (error) {
        if (!(error instanceof NoPage)) throw error;
        const message = error.reason === 'unsafe' ? text.unsafe : text.noPage;
        notifications.show({ color: 'red', message, role: 'alert' });
        return undefined;
      }
    },
    {
      changes: PAID_CHANGES,
      done(start) {
        if (start === undefined) return;
        if (start.kind === 'scan') show(start);
        options.done?.(start);
      },
      ...(options.refused !== undefined && { refused: options.refused }),
    },
  );
  const { reset } = action;
  useEffect(() => {
    // The browser may restore this page from its cache when the user goes back.
    const back = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) reset();
    };
    window.addEventListener('pageshow', back);
    return () => window.removeEventListener('pageshow', back);
  }, [reset]);
  return { ...action, busy: action.isPending || action.data?.kind === 'left' };
}

/** A payment with a QR code. */
export type Scan = Extract<PaymentStart, { kind: 'scan' }>;

/** Shows the dialog. */
export const PaymentContext = createContext<{ show(scan: Scan): void }>({ show: () => {} });
