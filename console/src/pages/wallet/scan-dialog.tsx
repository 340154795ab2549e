/** A QR code to scan with a payment app, until the order is paid. */
import { Button, Center, Modal, Stack, Text } from '@mantine/core';
import { useText } from '../../text.ts';
import { useWatchedOrder } from './order-watch.tsx';
import type { Scan } from './payment-context.ts';
import { OrderNote } from './returned.tsx';
import { TEXT } from './text.ts';

/** The dialog. */
export function ScanDialog({
  scan,
  opened,
  onOpenOrder,
  onClose,
}: {
  readonly scan: Scan | undefined;
  readonly opened: boolean;
  onOpenOrder(tradeNo: string): void;
  onClose(): void;
}) {
  const { scan: text } = useText(TEXT);
  const { data: order } = useWatchedOrder(opened ? (scan?.tradeNo ?? '') : '');
  return (
    <Modal opened={opened} onClose={onClose} title={text.title}>
      {scan !== undefined && (
        <Stack>
          {(order === undefined || order.status === 'pending') && (
            <>
              <Text size="sm">{text.about}</Text>
              <Center bg="white" p="sm">
                <img src={scan.picture} alt={text.picture} width={240} height={240} />
              </Center>
            </>
          )}
          <div aria-live="polite">
            {order !== undefined && (
              <OrderNote order={order} onOpen={() => onOpenOrder(order.trade_no)} onDismiss={onClose} />
            )}
          </div>
          <Button variant="default" onClick={onClose}>
            {text.close}
          </Button>
        </Stack>
      )}
    </Modal>
  );
}
