/** Second factors: authenticator app, passkey, and the validity of the last confirmation. */
import { Anchor, Divider, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { call, type Data } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { makePasskey, usePasskeyState } from '../../api/passkeys.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { PlainButton, Section } from '../../parts/page.tsx';
import { State, When } from '../../parts/values.tsx';
import { askForVerification } from '../../shell/verify-dialog.tsx';
import { Item, notifyDone } from './item.tsx';
import { useText } from './text.ts';
import { TwoFactor } from './two-factor.tsx';

/** A section of the page. */
export function Factors() {
  const { factors: text } = useText();
  const totp = useApi('GET /api/user/2fa/status', undefined, { retry: false });
  const passkey = useApi('GET /api/user/passkey', undefined, { retry: false });
  const isOff = totp.error?.code === 'not_available';
  return (
    <Section title={text.title} about={text.about}>
      {isOff ? (
        <Text size="sm">{text.unavailable}</Text>
      ) : (
        <Loaded query={totp}>
          {(codes) => (
            <Loaded query={passkey}>
              {(key) => (
                <Stack gap="sm">
                  {!codes.enabled && !key.enabled && (
                    <Text size="sm" c="orange">
                      {text.missing}
                    </Text>
                  )}
                  <TwoFactor status={codes} isFirst={!key.enabled} />
                  <Divider />
                  <Passkey passkey={key} />
                  {(codes.enabled || key.enabled) && (
                    <>
                      <Divider />
                      <CurrentCheck />
                    </>
                  )}
                </Stack>
              )}
            </Loaded>
          )}
        </Loaded>
      )}
    </Section>
  );
}

/** A row of the section. */
function CurrentCheck() {
  const { check: text } = useText();
  const { data } = useApi('GET /api/verify/status', undefined, { staleTime: 0 });
  const left = useSecondsUntil(data?.expires_at);
  return (
    <Item
      name={text.name}
      state={left > 0 && <State tone="good">{text.valid}</State>}
      actions={left === 0 && <PlainButton onClick={() => void askForVerification()}>{text.now}</PlainButton>}
    >
      <span className="number" style={{ whiteSpace: 'normal' }}>
        {left > 0 ? text.left(Math.floor(left / 60), left % 60) : text.none}
      </span>
    </Item>
  );
}

/** Counts down to a moment; 0 when it has passed, or without one. */
function useSecondsUntil(unix: number | undefined): number {
  const [now, setNow] = useState(() => Date.now());
  const left = unix === undefined ? 0 : Math.max(0, Math.ceil(unix - now / 1_000));
  const runs = left > 0;
  useEffect(() => {
    setNow(Date.now());
    if (!runs) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [runs]);
  return left;
}

const CHANGES = ['GET /api/user/passkey', 'GET /api/user/sessions', 'GET /api/verify/status'] as const;

/** The passkey of the account: add, show, remove. */
function Passkey({ passkey }: { readonly passkey: Data<'GET /api/user/passkey'> }) {
  const { passkey: text, on, off, words } = useText();
  const support = usePasskeyState();
  const asking = useDialog<true>();
  const add = useAction(
    async () => {
      const body = await makePasskey(await call('POST /api/user/passkey/register/begin'));
      return call('POST /api/user/passkey/register/finish', { body });
    },
    { changes: CHANGES, done: () => notifyDone(text.added) },
  );
  const remove = useAction(() => call('DELETE /api/user/passkey'), {
    changes: CHANGES,
    done() {
      asking.close();
      notifyDone(text.removed);
    },
  });
  const { enabled, created_at, last_used_at } = passkey;
  return (
    <>
      <Item
        name={words.passkey}
        state={<State tone={enabled ? 'good' : 'idle'}>{enabled ? on : off}</State>}
        actions={
          enabled ? (
            <PlainButton onClick={() => asking.open(true)}>{words.remove}</PlainButton>
          ) : (
            support?.state === 'ready' && (
              <PlainButton loading={add.isPending} onClick={() => add.mutate()}>
                {text.add}
              </PlainButton>
            )
          )
        }
      >
        {enabled ? (
          <>
            {words.created} <When at={unixOf(created_at)} />, {unixOf(last_used_at) > 0 ? `${text.used} ` : ''}
            <When at={unixOf(last_used_at)} none={text.unused} />
          </>
        ) : (
          text.about
        )}{' '}
        {support?.state === 'insecure' && text.insecure}
        {support?.state === 'unsupported' && text.unsupported}
        {support?.state === 'other-origin' && (
          <>
            {text.otherOrigin} <Anchor href={support.home}>{support.home}</Anchor>
          </>
        )}
      </Item>
      <Confirm
        dialog={asking}
        title={text.removeTitle}
        action={words.remove}
        doing={remove}
        onConfirm={() => remove.mutate()}
      >
        {text.removeAbout}
      </Confirm>
    </>
  );
}

/** Unix seconds of a date; 0 if missing. */
function unixOf(date: string | null | undefined): number {
  return date === null || date === undefined ? 0 : Date.parse(date) / 1_000;
}
