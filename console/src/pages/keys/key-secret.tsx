/** A new key, whose secret is shown only once, and the rotation of a key. */
import { Alert, Button, Group, Modal, NumberInput, Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction, useCancelled } from '../../api/hooks.ts';
import { IconAlertTriangle } from '../../icons.ts';
import { LinkButton, PlainButton } from '../../parts/page.tsx';
import { Snippet } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import type { Key } from './key-values.ts';
import { useText } from './text.ts';

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
  const { shown: text, words } = useText();
  const format = useFormat();
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={words.yourNewKey}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      {created !== undefined && (
        <Stack>
          <Text fw={600}>{created.key.name}</Text>
          <div className="whole-key">
            <Snippet code={created.key.key} label={words.key} />
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
            <LinkButton href={`/connect?key=${created.key.id}`}>{words.connectAClient}</LinkButton>
            <Button onClick={onClose} data-autofocus>
              {text.done}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}

const GRACES = ['none', 'hour', 'day', 'own'] as const;
type Grace = (typeof GRACES)[number];

/** The dialog. */
export function KeyRotate({
  about,
  opened,
  onClose,
  onMade,
}: {
  readonly about: Key | undefined;
  readonly opened: boolean;
  onClose(): void;
  onMade(key: ShownKey): void;
}) {
  const { rotating: text, words } = useText();
  const [grace, setGrace] = useState<Grace>('day');
  const [hours, setHours] = useState<string | number>(6);
  const seconds = { none: 0, hour: 3_600, day: 86_400, own: Math.round(Number(hours) * 3_600) }[grace];
  const rotate = useAction(
    (key: Key) => call('POST /api/token/{id}/key', { params: { id: key.id }, body: { grace_seconds: seconds } }),
    {
      changes: ['GET /api/token/'],
      done: (key) => onMade({ key, oldUntil: seconds === 0 ? 0 : Math.floor(Date.now() / 1_000) + seconds }),
    },
  );
  useCancelled(rotate, opened);
  return (
    <Modal opened={opened} onClose={onClose} title={words.rotateKey}>
      <Stack>
        <Text size="sm">{text.about(about?.name ?? '')}</Text>
        <Radio.Group
          label={text.grace}
          description={text.leaked}
          value={grace}
          onChange={(value) => setGrace(value as Grace)}
        >
          <Stack gap="xs" mt="xs">
            {GRACES.map((each) => (
              <Radio key={each} value={each} label={text.graces[each]} />
            ))}
          </Stack>
        </Radio.Group>
        {grace === 'own' && (
          <NumberInput
            label={text.hours}
            value={hours}
            onChange={setHours}
            min={0}
            max={24}
            clampBehavior="strict"
            decimalScale={1}
            allowNegative={false}
            w="8rem"
          />
        )}
        <Group justify="flex-end" gap="xs">
          <PlainButton onClick={onClose}>{words.cancel}</PlainButton>
          <Button loading={rotate.isPending} onClick={() => about !== undefined && rotate.mutate(about)}>
            {words.rotateKey}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
