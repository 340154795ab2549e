/** A dialog with a secret that is shown once: only its button closes it. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { Snippet } from './values.tsx';

/** Open while there is a secret. `about` says what to do with it; `done` is the label of the button. */
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
