/** Backup codes, shown once: the dialog stays open until the user confirms that they are saved. */
import { Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { saveBytes } from '../../api/client.ts';
import { useStatus } from '../../api/status.ts';
import { PlainButton } from '../../parts/plain.tsx';
import { Snippet } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';

/** Open while there are codes. */
export function BackupCodesDialog({
  codes,
  onKept,
}: {
  readonly codes: readonly string[] | undefined;
  onKept(): void;
}) {
  const { setup } = useText(TEXT);
  return (
    <Modal
      opened={codes !== undefined}
      onClose={() => {}}
      title={setup.backupTitle}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      {codes !== undefined && <BackupCodes codes={codes} onKept={onKept} />}
    </Modal>
  );
}

function BackupCodes({ codes, onKept }: { readonly codes: readonly string[]; onKept(): void }) {
  const { backup: text } = useText(TEXT);
  const status = useStatus();
  const [isSaved, setKept] = useState(false);
  const lines = codes.join('\n');
  const download = (): void => {
    const name = (status?.system_name ?? 'turnpike').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-');
    saveBytes(`${name}-backup-codes.txt`, new Blob([`${lines}\n`], { type: 'text/plain' }));
  };
  return (
    <Stack gap="sm">
      <Text size="sm">{text.about}</Text>
      <Snippet code={lines} label={text.list} />
      <Group justify="flex-end">
        <PlainButton leftSection={<IconDownload size={14} />} onClick={download}>
          {text.download}
        </PlainButton>
      </Group>
      <Group justify="space-between">
        <Checkbox label={text.kept} checked={isSaved} onChange={(event) => setKept(event.currentTarget.checked)} />
        <Button disabled={!isSaved} onClick={onKept}>
          {text.done}
        </Button>
      </Group>
    </Stack>
  );
}
