/** The check by a second factor or a password, asked for where a refusal wants one; then what was refused is done. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { IconFingerprint } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { call, type Data, verifyWith } from '../api/client.ts';
import { useApi, useDoing } from '../api/hooks.ts';
import { showPasskey } from '../api/passkeys.ts';
import { Refused, useFormRefusal } from '../parts/form-refusal.tsx';
import { Loaded } from '../parts/notes.tsx';
import { CodeField, PasswordField } from '../parts/secret-fields.tsx';
import { texts, useText } from '../text.ts';

const TEXT = texts(
  {
    title: 'Confirm it’s you',
    about: 'This action needs your second factor. You will not be asked again for five minutes.',
    aboutPassword: 'This action needs your password. You will not be asked again for five minutes.',
    password: 'Password',
    go: 'Continue',
    cancel: 'Cancel',
    passkey: 'Use passkey',
    locked: 'Too many incorrect codes. Try again later.',
    none: 'This action needs a second factor or a password, and your account has neither. Sign in again: within five minutes after that you can set up a second factor and change how you sign in.',
    signOut: 'Sign out',
  },
  {
    title: '确认是您本人',
    about: '此操作需要您的第二重验证。五分钟内不会再次询问。',
    aboutPassword: '此操作需要您的密码。五分钟内不会再次询问。',
    password: '密码',
    go: '继续',
    cancel: '取消',
    passkey: '使用通行密钥',
    locked: '验证码错误次数过多，暂时不接受验证码，请稍候再试。',
    none: '此操作需要两步验证或密码，而您的账户两者都没有。请重新登录：登录后五分钟内可以设置两步验证，并修改登录方式。',
    signOut: '退出登录',
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

interface Ends {
  onDone(): void;
  onClose(): void;
}

type Method = Data<'GET /api/verify/status'>['methods'][number];

/** What the account has is what is offered. */
function Check(ends: Ends) {
  const status = useApi('GET /api/verify/status', undefined, { staleTime: 0, retry: false });
  return (
    <Loaded query={status}>
      {({ methods }) => (methods.length > 0 ? <Proof methods={methods} {...ends} /> : <Nothing {...ends} />)}
    </Loaded>
  );
}

/** There is nothing to show: what helps is a new sign-in. */
function Nothing({ onClose }: Ends) {
  const text = useText(TEXT);
  const queries = useQueryClient();
  const signOut = useDoing(() => call('POST /api/user/auth/logout'), {
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
          {text.cancel}
        </Button>
        <Button onClick={() => signOut.mutate()} loading={signOut.isPending} data-autofocus {...ESCAPE_IS_OURS}>
          {text.signOut}
        </Button>
      </Group>
    </Stack>
  );
}

/** Says that an authenticator takes no codes for now. */
function Locked() {
  const text = useText(TEXT);
  const { data } = useApi('GET /api/user/2fa/status', undefined, { staleTime: 0, retry: false });
  return data?.locked === true ? (
    <Text size="sm" c="orange">
      {text.locked}
    </Text>
  ) : null;
}

/** What the account is checked with: a code, a passkey, or either; or its password. */
function Proof({ methods, onDone, onClose }: Ends & { readonly methods: readonly Method[] }) {
  const text = useText(TEXT);
  const queries = useQueryClient();
  const [typed, setTyped] = useState('');
  const refusal = useFormRefusal('code', 'password');
  const first = useRef<HTMLElement>(null);
  useEffect(() => first.current?.focus(), []);
  const check = useDoing(
    async (method: Method) => {
      // A check gives the session a new cookie: whatever reads meanwhile with the old one would look like a stranger.
      await queries.cancelQueries();
      if (method === '2fa') await call('POST /api/verify', { body: { method, code: typed } });
      else if (method === 'password') await call('POST /api/verify', { body: { method, password: typed } });
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
          <PasswordField label={text.password} error={refusal.at('password')} {...typing} {...ESCAPE_IS_OURS} />
        )}
        {codes && <CodeField backup error={refusal.at('code')} {...typing} {...ESCAPE_IS_OURS} />}
        {codes && <Locked />}
        <Refused by={refusal} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} {...ESCAPE_IS_OURS}>
            {text.cancel}
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
