/** The passkey of the account: add, show, remove. */
import { Anchor } from '@mantine/core';
import { call, type Data } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { makePasskey, usePasskeyState } from '../../api/passkeys.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { PlainButton } from '../../parts/plain.tsx';
import { State, When } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import { Item } from './item.tsx';
import { notifyDone } from './said.ts';
import { TEXT } from './text.ts';

const CHANGES = ['GET /api/user/passkey', 'GET /api/user/sessions', 'GET /api/verify/status'] as const;

/** A row of the section. */
export function Passkey({ passkey }: { readonly passkey: Data<'GET /api/user/passkey'> }) {
  const { passkey: text, on, off } = useText(TEXT);
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
        name={text.name}
        state={<State tone={enabled ? 'good' : 'idle'}>{enabled ? on : off}</State>}
        actions={
          enabled ? (
            <PlainButton onClick={() => asking.open(true)}>{text.remove}</PlainButton>
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
            {text.made} <When at={unixOf(created_at)} />, {unixOf(last_used_at) > 0 ? `${text.used} ` : ''}
            <When at={unixOf(last_used_at)} none={text.unused} />
          </>
        ) : (
          text.about
        )}{' '}
        {support?.state === 'insecure' && text.insecure}
        {support?.state === 'unsupported' && text.unsupported}
        {support?.state === 'elsewhere' && (
          <>
            {text.elsewhere} <Anchor href={support.home}>{support.home}</Anchor>
          </>
        )}
      </Item>
      <Confirm
        dialog={asking}
        title={text.removeTitle}
        action={text.remove}
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
