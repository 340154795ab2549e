/** A new key: the only time that its secret is shown. */
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { LinkButton } from '../../parts/plain.tsx';
import { Snippet } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import type { Key } from './key-state.ts';
import { TEXT } from './text.ts';

/** The full key, and until when the old one is valid (unix seconds; 0: it has ended); undefined without an old one. */
export interface ShownKey {
  readonly key: Key;
  readonly oldUntil?: number;
}

/** The dialog. Only its button closes it, because the secret is lost then. */
export function KeyShown({
  created,
  opened,
  onClose,
}: {
  readonly created: ShownKey | undefined;
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
      {created !== undefined && (
        <Stack>
          <Text fw={600}>{created.key.name}</Text>
          <div className="whole-key">
            <Snippet code={created.key.key} label={text.key} />
          </div>
          <Alert color="yellow" icon={<IconAlertTriangle />}>
            {text.onlyNow}
          </Alert>
          {created.oldUntil !== undefined && (
            <Text size="sm">
              {created.oldUntil === 0 ? text.oldEnded : text.oldUntil(format.moment(created.oldUntil))}
            </Text>
          )}
          <Group justify="flex-end" gap="xs">
            <LinkButton href={`/connect?key=${created.key.id}`}>{text.connect}</LinkButton>
            <Button onClick={onClose} data-autofocus>
              {text.done}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}
