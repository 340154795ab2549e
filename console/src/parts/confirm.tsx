/** Asks before something is done that cannot be undone. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { type Running, useCancelled } from '../api/hooks.ts';
import { texts, useText } from '../text.ts';

const TEXT = texts({ cancel: 'Cancel' }, { cancel: '取消' });

interface Question {
  readonly children: ReactNode;
  /** What the button says: `Delete the key`. */
  readonly action: string;
  readonly danger?: boolean;
  /** The request that confirming begins, if it begins one. It is cancelled as the dialog closes. */
  readonly doing?: Running;
  onConfirm(): void;
  onClose(): void;
}

/** A dialog with one question. */
export function Confirm({
  opened,
  title,
  ...question
}: Question & { readonly opened: boolean; readonly title: string }) {
  return (
    <Modal opened={opened} onClose={question.onClose} title={title}>
      <Ask {...question} />
    </Modal>
  );
}

function Ask({ children, action, danger = true, doing, onConfirm, onClose }: Question) {
  const text = useText(TEXT);
  useCancelled(doing);
  return (
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
          loading={doing?.isPending === true}
          onClick={onConfirm}
          data-autofocus={!danger || undefined}
        >
          {action}
        </Button>
      </Group>
    </Stack>
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
