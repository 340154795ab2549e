/** A key that was just made: the only time that it can be read. */
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { Link } from 'wouter';
import { Snippet } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import type { Key } from './key-state.ts';
import { TEXT } from './text.ts';

/** The key, whole, and until when the one before works (unix seconds; 0: it has ended); undefined where there was none before. */
export interface ShownKey {
  readonly key: Key;
  readonly oldUntil?: number;
}

/** The dialog. It closes by its button only: what it shows is gone then. */
export function KeyShown({
  shown,
  opened,
  onClose,
}: {
  readonly shown: ShownKey | undefined;
  readonly opened: boolean;
  onClose(): void;
}) {
  const { shown: text } = useText(TEXT);
  const format = useFormat();
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={text.title}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      {shown !== undefined && (
        <Stack>
          <Text fw={600}>{shown.key.name}</Text>
          <div className="whole-key">
            <Snippet code={shown.key.key} label={text.key} />
          </div>
          <Alert color="yellow" icon={<IconAlertTriangle />}>
            {text.onlyNow}
          </Alert>
          {shown.oldUntil !== undefined && (
            <Text size="sm">{shown.oldUntil === 0 ? text.oldEnded : text.oldUntil(format.moment(shown.oldUntil))}</Text>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" component={Link} href={`/connect?key=${shown.key.id}`}>
              {text.connect}
            </Button>
            <Button onClick={onClose} data-autofocus>
              {text.done}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}
