/** A dialog with a secret that is shown this once: only its button closes it. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { Snippet } from './values.tsx';

/** Opened as long as there is a secret. `about` says what to do with it, `done` that it has been done. */
export function ShownOnce({
  secret,
  title,
  about,
  done,
  onClose,
}: {
  readonly secret: string | undefined;
  readonly title: string;
  readonly about: string;
  readonly done: string;
  onClose(): void;
}) {
  return (
    <Modal
      opened={secret !== undefined}
      onClose={onClose}
      title={title}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="sm">
        <Text size="sm">{about}</Text>
        <Snippet code={secret ?? ''} label={title} />
        <Group justify="flex-end">
          <Button onClick={onClose}>{done}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
