/** Asks for a second factor or the password when a refusal requires it; the refused request is then repeated. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { call, type Data, verifyWith } from '../api/client.ts';
import { useAction, useApi } from '../api/hooks.ts';
import { showPasskey } from '../api/passkeys.ts';
import { IconFingerprint } from '../icons.ts';
import { Refused, useFormRefusal } from '../parts/form-refusal.tsx';
import { Loaded } from '../parts/notes.tsx';
import { CodeField, PasswordField } from '../parts/secret-fields.tsx';
import { texts } from '../text.ts';

const useText = texts({
  title: ['Confirm it’s you', '确认是您本人'],
  about: [
    'This action needs your second factor. You will not be asked again for five minutes.',
    '此操作需要双重验证。五分钟内不会再次询问。',
  ],
  aboutPassword: [
    'This action needs your password. You will not be asked again for five minutes.',
    '此操作需要您的密码。五分钟内不会再次询问。',
  ],
  passkey: ['Use passkey', '使用通行密钥'],
  locked: ['Too many incorrect codes. Try again later.', '验证码错误次数过多，请稍后再试。'],
  none: [
    'This action needs a second factor or a password, and your account has neither. Sign in again. For the next five minutes, you can set up a second factor and change your sign-in methods.',
    '此操作需要双重验证或密码，而您的账户两者都没有。请重新登录：登录后五分钟内可以设置双重验证，并修改登录方式。',
  ],
});

/** Above other dialogs, because one of them may have sent the request. */
const ABOVE = 400;
/** Escape closes only this dialog, because each dialog listens itself. */
const ESCAPE_IS_OURS = { 'data-mantine-stop-propagation': 'true' } as const;

let asker: () => Promise<boolean> = () => Promise.resolve(false);

/** Asks for the confirmation; true if it succeeded, false if it was closed. Concurrent requests share one dialog. */
export function askForVerification(): Promise<boolean> {
  return asker();
}

interface Pending {
  readonly answer: Promise<boolean>;
  settle(verified: boolean): void;
}

/** Rendered once, next to the pages. */
export function VerifyDialog() {
  const pending = useRef<Pending | undefined>(undefined);
  const [opened, setOpened] = useState(false);
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
    verifyWith(askForVerification);
    return () => {
      asker = () => Promise.resolve(false);
      pending.current?.settle(false);
      pending.current = undefined;
    };
  }, []);
  const text = useText();
  const close = (): void => settle(false);
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={text.title}
      zIndex={ABOVE}
      closeOnEscape={false}
      closeButtonProps={{ 'aria-label': text.words.cancel, ...ESCAPE_IS_OURS }}
      attributes={{ content: ESCAPE_IS_OURS, header: { role: 'presentation' } }}
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key === 'Escape' && !event.nativeEvent.isComposing) close();
      }}
      // A click outside closes it, because only the code is lost.
      closeOnClickOutside={false}
    >
      {opened && <Check onDone={() => settle(true)} onClose={close} />}
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

interface DialogCallbacks {
  onDone(): void;
  onClose(): void;
}

type Method = Data<'GET /api/verify/status'>['methods'][number];

/** Offers the methods that the account has. */
function Check(ends: DialogCallbacks) {
  const status = useApi('GET /api/verify/status', undefined, { staleTime: 0, retry: false });
  return (
    <Loaded query={status}>
      {({ methods }) => (methods.length > 0 ? <Proof methods={methods} {...ends} /> : <EmptyState {...ends} />)}
    </Loaded>
  );
}

/** The account has no method: only a new sign-in helps. */
function EmptyState({ onClose }: DialogCallbacks) {
  const text = useText();
  const queries = useQueryClient();
  const signOut = useAction(() => call('POST /api/user/auth/logout'), {
    done() {
      onClose();
      void queries.resetQueries();
    },
  });
  return (
    <Stack>
      <Text size="sm">{text.none}</Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} {...ESCAPE_IS_OURS}>
          {text.words.cancel}
        </Button>
        <Button onClick={() => signOut.mutate()} loading={signOut.isPending} data-autofocus {...ESCAPE_IS_OURS}>
          {text.words.signOut}
        </Button>
      </Group>
    </Stack>
  );
}

/** Codes are temporarily locked. */
function Locked() {
  const text = useText();
  const { data } = useApi('GET /api/user/2fa/status', undefined, { staleTime: 0, retry: false });
  return data?.locked === true ? (
    <Text size="sm" c="orange">
      {text.locked}
    </Text>
  ) : null;
}

/** The form: a code, a passkey, or either; or the password. */
function Proof({ methods, onDone, onClose }: DialogCallbacks & { readonly methods: readonly Method[] }) {
  const text = useText();
  const queries = useQueryClient();
  const [typed, setTyped] = useState('');
  const refusal = useFormRefusal('code', 'password');
  const first = useRef<HTMLElement>(null);
  useEffect(() => first.current?.focus(), []);
  const check = useAction(
    async (method: Method) => {
      // The confirmation renews the session cookie: a concurrent request with the old one would appear signed out.
      await queries.cancelQueries();
      if (method === '2fa') await call('POST /api/verify', { body: { method, code: typed } });
      else if (method === 'password') await call('POST /api/verify', { body: { method, password: typed } });
      else await verifyByPasskey();
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
  const begin = (method: Method): void => {
    refusal.clear();
    check.mutate(method);
  };
  const byPassword = methods.includes('password');
  const codes = methods.includes('2fa');
  const typing = {
    ref: first as React.RefObject<HTMLInputElement>,
    value: typed,
    onChange: (event: React.ChangeEvent<HTMLInputElement>) => setTyped(event.currentTarget.value),
  };
  return (
    <form
      ref={refusal.form}
      onSubmit={(event) => {
        event.preventDefault();
        begin(methods[0]!);
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{byPassword ? text.aboutPassword : text.about}</Text>
        {byPassword && (
          <PasswordField label={text.words.password} error={refusal.at('password')} {...typing} {...ESCAPE_IS_OURS} />
        )}
        {codes && <CodeField backup error={refusal.at('code')} {...typing} {...ESCAPE_IS_OURS} />}
        {codes && <Locked />}
        <Refused by={refusal} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} {...ESCAPE_IS_OURS}>
            {text.words.cancel}
          </Button>
          {methods.includes('passkey') && (
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
          {(codes || byPassword) && (
            <Button type="submit" loading={check.isPending && check.variables !== 'passkey'} {...ESCAPE_IS_OURS}>
              {text.words.continue}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

async function verifyByPasskey(): Promise<void> {
  const ceremony = await call('POST /api/verify', { body: { method: 'passkey' } });
  // A recent confirmation is still valid.
  if (!('options' in ceremony)) return;
  await call('POST /api/user/passkey/verify/finish', { body: await showPasskey(ceremony) });
}
