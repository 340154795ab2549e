/** Asks before something is done that cannot be undone. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { texts, useText } from '../text.ts';

const TEXT = texts({ cancel: 'Cancel' }, { cancel: '取消' });

/** A dialog with one question. */
export function Confirm({
  opened,
  title,
  children,
  action,
  danger = true,
  busy = false,
  onConfirm,
  onClose,
}: {
  readonly opened: boolean;
  readonly title: string;
  readonly children: ReactNode;
  /** What the button says: `Delete the key`. */
  readonly action: string;
  readonly danger?: boolean;
  readonly busy?: boolean;
  onConfirm(): void;
  onClose(): void;
}) {
  const text = useText(TEXT);
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        <Group justify="flex-end" gap="xs">
          {/* Enter, pressed too soon, must not do what cannot be undone. */}
          <Button variant="default" onClick={onClose} data-autofocus={danger || undefined}>
            {text.cancel}
          </Button>
          <Button
            color={danger ? 'red.9' : 'pine'}
            loading={busy}
            onClick={onConfirm}
            data-autofocus={!danger || undefined}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Keeps what a dialog is about while it is open: `const asking = useAsking<Row>()`, `asking.open(row)`. */
export function useAsking<T>(): {
  readonly about: T | undefined;
  readonly opened: boolean;
  open(about: T): void;
  close(): void;
} {
  const [state, setState] = useState<{ readonly about: T | undefined; readonly opened: boolean }>({
    about: undefined,
    opened: false,
  });
  return {
    ...state,
    open: (about) => setState({ about, opened: true }),
    // What it was about stays while the dialog fades away.
    close: () => setState(({ about }) => ({ about, opened: false })),
  };
}
