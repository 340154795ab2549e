/** The authenticator app: state, backup codes, actions. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { call, type Data } from '../../api/client.ts';
import { PlainButton } from '../../parts/plain.tsx';
import { State } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import { BackupCodesDialog } from './backup-codes.tsx';
import { CodeDialog } from './code-dialog.tsx';
import { Item } from './item.tsx';
import { notifyDone } from './said.ts';
import { TEXT } from './text.ts';
import { TwoFactorSetup } from './two-factor-setup.tsx';

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
  const { totp: text, on, off } = useText(TEXT);
  const [open, setOpen] = useState<'' | 'setup' | 'disable' | 'renew'>('');
  const [codes, setCodes] = useState<readonly string[]>();
  const { enabled, locked, backup_codes_remaining: left = 0 } = status;
  const close = (): void => setOpen('');
  return (
    <>
      <Item
        name={text.name}
        state={<State tone={enabled ? 'good' : 'idle'}>{enabled ? on : off}</State>}
        actions={
          enabled ? (
            <>
              <PlainButton onClick={() => setOpen('renew')}>{text.renew}</PlainButton>
              <PlainButton onClick={() => setOpen('disable')}>{text.disable}</PlainButton>
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
        title={text.disable}
        about={text.disableAbout}
        action={text.disable}
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
