/** Adds a vendor in three steps: its key, which is tried; its models; and the difference, which is saved. */
import { Alert, Button, Drawer, Group, Stack, Stepper, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { call } from '../../api/client.ts';
import { IconCheck } from '../../icons.ts';
import { LinkButton, PlainButton } from '../../parts/page.tsx';
import { Connect, type Connected } from './connect-vendor.tsx';
import { DiffView } from './diff-view.tsx';
import type { Editor } from './editor.ts';
import { useSaving } from './save-bar.tsx';
import { useText } from './settings-text.ts';
import { Lines, TakeModels, type TakenModels } from './take-models.tsx';

/** The drawer. */
export function AddVendorDrawer({
  editor,
  opened,
  onClose,
}: {
  readonly editor: Editor;
  readonly opened: boolean;
  onClose(): void;
}) {
  const text = useText();
  return (
    <Drawer opened={opened} onClose={onClose} title={text.words.addAVendor} size="xl" closeOnClickOutside={false}>
      {opened && <Path editor={editor} onClose={onClose} />}
    </Drawer>
  );
}

function Path({ editor, onClose }: { readonly editor: Editor; onClose(): void }) {
  const text = useText();
  const { copy } = editor;
  const [connected, setConnected] = useState<Connected>();
  const [taken, setTaken] = useState<TakenModels & { readonly from: string }>();
  const [isServing, setServing] = useState(false);
  // Stored before the configuration uses it; deleted again if that is never saved.
  const stored = useRef<string>(undefined);
  useEffect(
    () => () => {
      const name = stored.current;
      if (name !== undefined) call('DELETE /api/config/secrets/{name}', { params: { name } }).catch(() => undefined);
    },
    [],
  );
  const saving = useSaving(editor, () => {
    stored.current = undefined;
    setServing(true);
  });
  // Made from a text that is no longer the current one: the models are chosen again.
  const isOutdated = taken !== undefined && !isServing && taken.from !== copy.text;
  const step = isServing ? 3 : taken !== undefined && !isOutdated ? 2 : connected !== undefined ? 1 : 0;
  return (
    <Stack gap="md">
      <Stepper active={step} size="xs" allowNextStepsSelect={false}>
        {Object.values(text.vendorSteps).map((label) => (
          <Stepper.Step key={label} label={label} />
        ))}
      </Stepper>
      {isOutdated && <Alert color="orange">{text.changedMeanwhile}</Alert>}
      <div hidden={step !== 0}>
        <Connect
          editor={editor}
          onStored={(name) => {
            stored.current = name;
          }}
          onConnected={setConnected}
        />
      </div>
      {connected !== undefined && (
        <div hidden={step !== 1}>
          <TakeModels
            key={connected.name}
            editor={editor}
            channel={connected.name}
            channelEdits={connected.edits}
            offered={connected.offered}
            onBack={() => setConnected(undefined)}
            onTaken={(result: TakenModels) => setTaken({ ...result, from: copy.text })}
          />
        </div>
      )}
      {step === 2 && taken !== undefined && connected !== undefined && (
        <>
          <Lines color="orange" title={text.refusedModels} lines={taken.warnings} />
          <DiffView title={text.diffTitle} before={copy.base.text} after={taken.text} same={text.noChanges} />
          <Group justify="flex-end" gap="xs">
            <PlainButton onClick={() => setTaken(undefined)}>{text.back}</PlainButton>
            <Button
              loading={saving.isPending}
              onClick={() => saving.mutate({ note: text.addedVendor(connected.name), content: taken.text })}
            >
              {text.saveNow}
            </Button>
          </Group>
        </>
      )}
      {step === 3 && connected !== undefined && (
        <Alert color="pine" icon={<IconCheck />} title={text.serving(connected.name)} role="status">
          <Stack gap="sm">
            {taken !== undefined && taken.models.length > 0 && (
              <Text size="sm">{text.servingAbout(taken.models.slice(0, 12).join(', '))}</Text>
            )}
            <Lines color="orange" title={text.refusedModels} lines={taken?.warnings ?? []} />
            <Group gap="xs">
              <LinkButton href="/playground">{text.openPlayground}</LinkButton>
              <LinkButton href="/connect">{text.words.connectAClient}</LinkButton>
              <Button onClick={onClose}>{text.words.done}</Button>
            </Group>
          </Stack>
        </Alert>
      )}
    </Stack>
  );
}
