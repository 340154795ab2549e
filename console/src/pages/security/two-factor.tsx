/** The authenticator app: state, setup, backup codes, actions. */
import { Box, Button, Center, Checkbox, Group, Modal, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { call, type Data, saveBytes } from '../../api/client.ts';
import { useAction, useStatus } from '../../api/hooks.ts';
import { IconDownload } from '../../icons.ts';
import { DialogForm, useFormRefusal } from '../../parts/form-refusal.tsx';
import { PlainButton } from '../../parts/page.tsx';
import { CodeField } from '../../parts/secret-fields.tsx';
import { Copy, Snippet, State } from '../../parts/values.tsx';
import { Item, notifyDone } from './item.tsx';
import { useText } from './text.ts';

/** The number of backup codes below which the page recommends new ones. */
const FEW = 3;

/** `isFirst`: the account has no second factor, so this is the primary action of the page. */
export function TwoFactor({
  status,
  isFirst,
}: {
  readonly status: Data<'GET /api/user/2fa/status'>;
  readonly isFirst: boolean;
}) {
  const { totp: text, on, off, words } = useText();
  const [open, setOpen] = useState<'' | 'setup' | 'disable' | 'renew'>('');
  const [codes, setCodes] = useState<readonly string[]>();
  const { enabled, locked, backup_codes_remaining: left = 0 } = status;
  const close = (): void => setOpen('');
  return (
    <>
      <Item
        name={words.authenticatorApp}
        state={<State tone={enabled ? 'good' : 'idle'}>{enabled ? on : off}</State>}
        actions={
          enabled ? (
            <>
              <PlainButton onClick={() => setOpen('renew')}>{text.renew}</PlainButton>
              <PlainButton onClick={() => setOpen('disable')}>{words.disable}</PlainButton>
            </>
          ) : (
            <Button {...(!isFirst && { variant: 'default' })} onClick={() => setOpen('setup')}>
              {text.setUp}
            </Button>
          )
        }
      >
        {enabled ? text.codesLeft(left) : text.about}
        {enabled && left <= FEW && ` ${text.fewLeft}`}
        {locked && ` ${text.locked}`}
      </Item>
      <TwoFactorSetup
        opened={open === 'setup'}
        onClose={close}
        onEnabled={(backupCodes) => {
          close();
          setCodes(backupCodes);
          notifyDone(text.enabled);
        }}
      />
      <CodeDialog
        opened={open === 'disable'}
        title={words.disable}
        about={text.disableAbout}
        action={words.disable}
        danger
        backup
        work={(code) => call('POST /api/user/2fa/disable', { body: { code } })}
        onDone={() => {
          close();
          notifyDone(text.disabled);
        }}
        onClose={close}
      />
      <CodeDialog
        opened={open === 'renew'}
        title={text.renew}
        about={text.renewAbout}
        action={text.renewGo}
        work={(code) => call('POST /api/user/2fa/backup_codes', { body: { code } })}
        onDone={({ backup_codes }) => {
          close();
          setCodes(backup_codes);
        }}
        onClose={close}
      />
      <BackupCodesDialog codes={codes} onKept={() => setCodes(undefined)} />
    </>
  );
}

interface CodeAction<Out> {
  readonly about: string;
  readonly action: string;
  readonly danger?: boolean;
  /** Backup codes are accepted. */
  readonly backup?: boolean;
  work(code: string): Promise<Out>;
  onDone(out: Out): void;
  onClose(): void;
}

/** Confirms an action with a code. Closing it clears the field. */
function CodeDialog<Out>({
  opened,
  title,
  ...what
}: CodeAction<Out> & { readonly opened: boolean; readonly title: string }) {
  return (
    <Modal opened={opened} onClose={what.onClose} title={title}>
      <CodeForm {...what} />
    </Modal>
  );
}

function CodeForm<Out>({ about, action, danger = false, backup = false, work, onDone, onClose }: CodeAction<Out>) {
  const [code, setCode] = useState('');
  const refusal = useFormRefusal('code');
  const doing = useAction(() => work(code), {
    changes: ['GET /api/user/2fa/status', 'GET /api/user/sessions', 'GET /api/verify/status'],
    done: onDone,
    refused: refusal.refused,
  });
  return (
    <DialogForm refusal={refusal} action={action} running={doing} danger={danger} onClose={onClose}>
      <Text size="sm">{about}</Text>
      <CodeField backup={backup} {...refusal.field('code', code, setCode)} data-autofocus />
    </DialogForm>
  );
}

/** Backup codes, shown once: open while there are codes, until the user confirms that they are saved. */
function BackupCodesDialog({ codes, onKept }: { readonly codes: readonly string[] | undefined; onKept(): void }) {
  const { setup } = useText();
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
  const { backup: text, words } = useText();
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
          {words.done}
        </Button>
      </Group>
    </Stack>
  );
}

/** QR code, secret, and a first code. `onEnabled` gets the backup codes. */
function TwoFactorSetup({
  opened,
  onClose,
  onEnabled,
}: {
  readonly opened: boolean;
  onClose(): void;
  onEnabled(codes: readonly string[]): void;
}) {
  const { setup: text } = useText();
  const [setup, setMade] = useState<Data<'POST /api/user/2fa/setup'>>();
  const begin = useAction(() => call('POST /api/user/2fa/setup'), {
    done: setMade,
    refused: (refusal) => {
      onClose();
      // Refusals are shown by the default notification, unless the user closed the verification dialog.
      return refusal.code === 'verification_required';
    },
  });
  const { mutate } = begin;
  useEffect(() => {
    if (!opened) return;
    setMade(undefined);
    mutate();
  }, [opened, mutate]);
  return (
    <Modal opened={opened && setup !== undefined} onClose={onClose} title={text.title}>
      {setup !== undefined && (
        <SetupForm setup={setup} onClose={onClose} onEnabled={() => onEnabled(setup.backup_codes)} />
      )}
    </Modal>
  );
}

function SetupForm({
  setup,
  onClose,
  onEnabled,
}: {
  readonly setup: Data<'POST /api/user/2fa/setup'>;
  onClose(): void;
  onEnabled(): void;
}) {
  const { setup: text, words } = useText();
  const [code, setCode] = useState('');
  const refusal = useFormRefusal('code');
  const enable = useAction(() => call('POST /api/user/2fa/enable', { body: { code } }), {
    changes: ['GET /api/user/2fa/status', 'GET /api/user/sessions', 'GET /api/verify/status'],
    done: onEnabled,
    refused: refusal.refused,
  });
  return (
    <DialogForm refusal={refusal} action={words.enable} running={enable} onClose={onClose}>
      <Text size="sm">{text.scan}</Text>
      <Center>
        {/* White in the dark theme, too, because cameras expect dark modules on a light ground. */}
        <Box bg="white" p={8} bd="1px solid var(--section-border)">
          <img src={setup.qr} alt={text.qr} width={192} height={192} style={{ display: 'block' }} />
        </Box>
      </Center>
      <Text size="sm">{text.byHand}</Text>
      <Copy value={setup.secret} shown={setup.secret.replace(/.{4}(?=.)/g, '$& ')} label={text.copyKey} />
      <CodeField label={text.code} {...refusal.field('code', code, setCode)} data-autofocus />
    </DialogForm>
  );
}
