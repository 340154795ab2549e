/** Paying, as a component does it: what is asked for, what of it runs, and what there is to be said. */
import { notifications } from '@mantine/notifications';
import { useContext, useEffect } from 'react';
import type { Operation, Refusal } from '../../api/client.ts';
import { useDoing } from '../../api/hooks.ts';
import { useStatus } from '../../api/status.ts';
import { useText } from '../../text.ts';
import { type Begun, begin, type Item, NoPage, type Way } from './begin.ts';
import { PaymentContext } from './payment-context.ts';
import { TEXT } from './text.ts';

/** What is told anew once something was paid. */
export const PAID_CHANGES: readonly Operation[] = [
  'GET /api/user/self',
  'GET /api/user/statement',
  'GET /api/user/subscription/stats',
  'GET /api/user/topup/self',
];

/** What is paid, and with what. */
export interface Paying {
  readonly item: Item;
  readonly way: Way;
}

/** Begins payments; `busy` until the browser has left. `done` is told of what comes of one. */
export function usePaying(told: { done?(begun: Begun): void; refused?(refusal: Refusal): boolean } = {}) {
  const { topUp: text } = useText(TEXT);
  const { show } = useContext(PaymentContext);
  const status = useStatus();
  const doing = useDoing<Paying, Begun | undefined>(
    async ({ item, way }) => {
      try {
        return await begin(item, way, status?.server_address ?? '');
      } catch (error) {
        if (!(error instanceof NoPage)) throw error;
        const message = error.reason === 'unsafe' ? text.unsafe : text.noPage;
        notifications.show({ color: 'red', message, role: 'alert' });
        return undefined;
      }
    },
    {
      changes: PAID_CHANGES,
      done(begun) {
        if (begun === undefined) return;
        if (begun.kind === 'scan') show(begun);
        told.done?.(begun);
      },
      ...(told.refused !== undefined && { refused: told.refused }),
    },
  );
  const { reset } = doing;
  useEffect(() => {
    // Whoever goes back from a payment page may find this one as they left it.
    const back = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) reset();
    };
    window.addEventListener('pageshow', back);
    return () => window.removeEventListener('pageshow', back);
  }, [reset]);
  return { ...doing, busy: doing.isPending || doing.data?.kind === 'left' };
}
