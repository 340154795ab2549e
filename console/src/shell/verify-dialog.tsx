/** The check by a second factor, asked for where a refusal wants one; then what was refused is done. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { IconFingerprint } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { call, verifyWith } from '../api/client.ts';
import { useApi, useDoing } from '../api/hooks.ts';
import { showPasskey } from '../api/passkeys.ts';
import { Refused, useFormRefusal } from '../parts/form-refusal.tsx';
import { Loaded } from '../parts/notes.tsx';
import { CodeField } from '../parts/secret-fields.tsx';
import { texts, useText } from '../text.ts';

const TEXT = texts(
  {
    title: 'Confirm it’s you',
    about: 'This action needs your second factor. You will not be asked again for five minutes.',
    go: 'Continue',
    cancel: 'Cancel',
    passkey: 'Use the passkey',
    locked: 'Too many codes were wrong: for now none is taken. Wait a while.',
    none: 'This action needs a second factor: an authenticator app or a passkey. Your account has neither yet. Set one up, then come back and try again.',
    setUp: 'Set one up',
    off: 'This action needs a second factor, but this gateway has none: its pipeline lacks the plugin second-factors.',
  },
  {
    title: '确认是您本人',
    about: '此操作需要您的第二重验证。五分钟内不会再次询问。',
    go: '继续',
    cancel: '取消',
    passkey: '使用通行密钥',
    locked: '验证码错误次数过多，暂时不接受验证码，请稍候再试。',
    none: '此操作需要两步验证：验证器应用或通行密钥。您的账户两者都还没有。设置只需一分钟，完成后请回来重新操作。',
    setUp: '去设置',
    off: '此操作需要两步验证，但此网关没有启用：它的 pipeline 缺少插件 second-factors。',
  },
);

/** Above other dialogs: one of them may have asked. */
const ABOVE = 400;
/** Escape closes this dialog and not, with it, the one that asked: each listens for itself. */
const ESCAPE_IS_OURS = { 'data-mantine-stop-propagation': 'true' } as const;

let asker: () => Promise<boolean> = () => Promise.resolve(false);

/** Asks for the check; true once it went well, false where it was closed. However many ask at once, people are asked once. */
export function askForCheck(): Promise<boolean> {
  return asker();
}

interface Pending {
  readonly answer: Promise<boolean>;
  settle(verified: boolean): void;
}

/** Stands once, beside the pages. */
export function VerifyDialog() {
  const pending = useRef<Pending | undefined>(undefined);
  const [opened, setOpened] = useState(false);
  const [, go] = useLocation();
  const settle = (verified: boolean): void => {
    pending.current?.settle(verified);
    pending.current = undefined;
    setOpened(false);
  };
  useEffect(() => {
    asker = () => {
      pending.current ??= newPending();
      setOpened(true);
      return pending.current.answer;
    };
    verifyWith(askForCheck);
    return () => {
      asker = () => Promise.resolve(false);
      pending.current?.settle(false);
      pending.current = undefined;
    };
  }, []);
  const text = useText(TEXT);
  const close = (): void => settle(false);
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={text.title}
      zIndex={ABOVE}
      closeOnEscape={false}
      closeButtonProps={{ 'aria-label': text.cancel, ...ESCAPE_IS_OURS }}
      attributes={{ content: ESCAPE_IS_OURS, header: { role: 'presentation' } }}
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key === 'Escape' && !event.nativeEvent.isComposing) close();
      }}
      // Nothing in here is lost by a press beside it, but the answer to a question.
      closeOnClickOutside={false}
    >
      {opened && (
        <Check
          onDone={() => settle(true)}
          onClose={close}
          onSetUp={() => {
            close();
            go('/security');
          }}
        />
      )}
    </Modal>
  );
}

function newPending(): Pending {
  let settle: (verified: boolean) => void = () => {};
  const answer = new Promise<boolean>((resolve) => {
    settle = resolve;
  });
  return { answer, settle };
}

interface Ends {
  onDone(): void;
  onClose(): void;
  onSetUp(): void;
}

/** What the account has is what is offered. */
function Check(ends: Ends) {
  const text = useText(TEXT);
  const totp = useApi('GET /api/user/2fa/status', undefined, { staleTime: 0, retry: false });
  const passkey = useApi('GET /api/user/passkey', undefined, { staleTime: 0, retry: false });
  if ([totp.error?.code, passkey.error?.code].includes('not_available')) {
    return <Hint about={text.off} onClose={ends.onClose} />;
  }
  return (
    <Loaded query={totp}>
      {({ enabled, locked }) => (
        <Loaded query={passkey}>
          {({ enabled: hasPasskey }) =>
            enabled || hasPasskey ? (
              <Proof codes={enabled} locked={locked} passkey={hasPasskey} {...ends} />
            ) : (
              <Hint about={text.none} onClose={ends.onClose} onSetUp={ends.onSetUp} />
            )
          }
        </Loaded>
      )}
    </Loaded>
  );
}

/** Why there is nothing to show. */
function Hint({ about, onClose, onSetUp }: { readonly about: string; onClose(): void; onSetUp?(): void }) {
  const text = useText(TEXT);
  return (
    <Stack>
      <Text size="sm">{about}</Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} {...ESCAPE_IS_OURS}>
          {text.cancel}
        </Button>
        {onSetUp !== undefined && (
          <Button onClick={onSetUp} data-autofocus {...ESCAPE_IS_OURS}>
            {text.setUp}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

/** The factors of the account: a code, a passkey, or either. */
function Proof({
  codes,
  locked,
  passkey,
  onDone,
  onClose,
}: Ends & { readonly codes: boolean; readonly locked: boolean; readonly passkey: boolean }) {
  const text = useText(TEXT);
  const queries = useQueryClient();
  const [code, setCode] = useState('');
  const refusal = useFormRefusal('code');
  const first = useRef<HTMLElement>(null);
  useEffect(() => first.current?.focus(), []);
  const check = useDoing(
    async (method: '2fa' | 'passkey') => {
      // A check gives the session a new cookie: whatever reads meanwhile with the old one would look like a stranger.
      await queries.cancelQueries();
      if (method === '2fa') await call('POST /api/verify', { body: { method, code } });
      else await checkByPasskey();
    },
    {
      changes: ['GET /api/verify/status'],
      done: () => {
        onDone();
        void queries.refetchQueries({ type: 'active', stale: true });
      },
      refused: refusal.refused,
    },
  );
  const begin = (method: '2fa' | 'passkey'): void => {
    refusal.clear();
    check.mutate(method);
  };
  return (
    <form
      ref={refusal.form}
      onSubmit={(event) => {
        event.preventDefault();
        begin(codes ? '2fa' : 'passkey');
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{text.about}</Text>
        {codes && (
          <CodeField
            ref={first as React.RefObject<HTMLInputElement>}
            backup
            value={code}
            onChange={(event) => setCode(event.currentTarget.value)}
            error={refusal.at('code')}
            {...ESCAPE_IS_OURS}
          />
        )}
        {locked && (
          <Text size="sm" c="orange">
            {text.locked}
          </Text>
        )}
        <Refused by={refusal} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} {...ESCAPE_IS_OURS}>
            {text.cancel}
          </Button>
          {passkey && (
            <Button
              {...(codes
                ? { variant: 'default', onClick: () => begin('passkey') }
                : { type: 'submit' as const, ref: first as React.RefObject<HTMLButtonElement> })}
              leftSection={<IconFingerprint size={16} />}
              loading={check.isPending && check.variables === 'passkey'}
              {...ESCAPE_IS_OURS}
            >
              {text.passkey}
            </Button>
          )}
          {codes && (
            <Button type="submit" loading={check.isPending && check.variables === '2fa'} {...ESCAPE_IS_OURS}>
              {text.go}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

async function checkByPasskey(): Promise<void> {
  const begun = await call('POST /api/verify', { body: { method: 'passkey' } });
  // One that was just shown still counts.
  if (!('options' in begun)) return;
  await call('POST /api/user/passkey/verify/finish', { body: await showPasskey(begun) });
}
