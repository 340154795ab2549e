/** A confirmation before an action that cannot be undone. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { type Running, useCancelled } from '../api/hooks.ts';
import { texts } from '../text.ts';
import { PlainButton } from './page.tsx';

const useText = texts({ cancel: ['Cancel', '取消'] });

interface Question {
  readonly children: ReactNode;
  /** The label of the button: `Delete key`. */
  readonly action: string;
  readonly danger?: boolean;
  /** The action that confirming begins, if any. It is cancelled when the dialog closes. */
  readonly doing?: Running;
}

/** The dialog. Nothing is confirmed before it was opened with a subject. */
export function Confirm<T>({
  dialog: { about, opened, close },
  title,
  onConfirm,
  ...question
}: Question & { readonly dialog: Omit<Dialog<T>, 'open'>; readonly title: string; onConfirm(about: T): void }) {
  return (
    <Modal opened={opened} onClose={close} title={title}>
      <ConfirmBody {...question} onConfirm={() => about !== undefined && onConfirm(about)} onClose={close} />
    </Modal>
  );
}

function ConfirmBody({
  children,
  action,
  danger = true,
  doing,
  onConfirm,
  onClose,
}: Question & { onConfirm(): void; onClose(): void }) {
  const text = useText();
  useCancelled(doing);
  return (
    <Stack>
      <Text size="sm" component="div">
        {children}
      </Text>
      <Group justify="flex-end" gap="xs">
        {/* Cancel has the focus, so that an early Enter does not confirm. */}
        <PlainButton onClick={onClose} data-autofocus={danger || undefined}>
          {text.cancel}
        </PlainButton>
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

interface Dialog<T> {
  readonly about: T | undefined;
  readonly opened: boolean;
  open(about: T): void;
  close(): void;
}

/** Keeps the subject of a dialog while it is open: `const deleting = useDialog<Row>()`, `deleting.open(row)`. */
export function useDialog<T>(): Dialog<T> {
  const [state, setState] = useState<{ readonly about: T | undefined; readonly opened: boolean }>({
    about: undefined,
    opened: false,
  });
  return {
    ...state,
    open: (about) => setState({ about, opened: true }),
    // The subject is kept while the dialog fades out.
    close: () => setState(({ about }) => ({ about, opened: false })),
  };
}
