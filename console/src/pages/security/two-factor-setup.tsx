/** Sets up an authenticator app: QR code, secret, and a first code. */
import { Box, Center, Modal, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { call, type Data } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { useFormRefusal } from '../../parts/form-refusal.tsx';
import { CodeField } from '../../parts/secret-fields.tsx';
import { Copy } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';

/** The dialog. `onEnabled` gets the backup codes. */
export function TwoFactorSetup({
  opened,
  onClose,
  onEnabled,
}: {
  readonly opened: boolean;
  onClose(): void;
  onEnabled(codes: readonly string[]): void;
}) {
  const { setup: text } = useText(TEXT);
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
  const { setup: text } = useText(TEXT);
  const [code, setCode] = useState('');
  const refusal = useFormRefusal('code');
  const enable = useAction(() => call('POST /api/user/2fa/enable', { body: { code } }), {
    changes: ['GET /api/user/2fa/status', 'GET /api/user/sessions', 'GET /api/verify/status'],
    done: onEnabled,
    refused: refusal.refused,
  });
  return (
    <DialogForm refusal={refusal} action={text.go} running={enable} onClose={onClose}>
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
