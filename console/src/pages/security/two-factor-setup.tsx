/** Setting up an authenticator: a picture to scan, a key to type, and a first code. */
import { Box, Center, Modal, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { call, type Data } from '../../api/client.ts';
import { useDoing } from '../../api/hooks.ts';
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
  const [made, setMade] = useState<Data<'POST /api/user/2fa/setup'>>();
  const begin = useDoing(() => call('POST /api/user/2fa/setup'), {
    done: setMade,
    refused: (refusal) => {
      onClose();
      // Said by everybody's notice, unless somebody closed the check.
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
    <Modal opened={opened && made !== undefined} onClose={onClose} title={text.title}>
      {made !== undefined && <SetupForm made={made} onClose={onClose} onEnabled={() => onEnabled(made.backup_codes)} />}
    </Modal>
  );
}

function SetupForm({
  made,
  onClose,
  onEnabled,
}: {
  readonly made: Data<'POST /api/user/2fa/setup'>;
  onClose(): void;
  onEnabled(): void;
}) {
  const { setup: text } = useText(TEXT);
  const [code, setCode] = useState('');
  const refusal = useFormRefusal('code');
  const enable = useDoing(() => call('POST /api/user/2fa/enable', { body: { code } }), {
    changes: ['GET /api/user/2fa/status', 'GET /api/user/sessions', 'GET /api/verify/status'],
    done: onEnabled,
    refused: refusal.refused,
  });
  return (
    <DialogForm refusal={refusal} action={text.go} doing={enable} onSubmit={() => enable.mutate()} onClose={onClose}>
      <Text size="sm">{text.scan}</Text>
      <Center>
        {/* White in the dark, too: cameras look for dark on light. */}
        <Box bg="white" p={8} bd="1px solid var(--section-border)">
          <img src={made.qr} alt={text.qr} width={192} height={192} style={{ display: 'block' }} />
        </Box>
      </Center>
      <Text size="sm">{text.byHand}</Text>
      <Copy value={made.secret} shown={made.secret.replace(/.{4}(?=.)/g, '$& ')} label={text.copyKey} />
      <CodeField
        label={text.code}
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
        error={refusal.at('code')}
        data-autofocus
      />
    </DialogForm>
  );
}
