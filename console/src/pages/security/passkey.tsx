/** The passkey of the account: added, looked at, removed. */
import { Anchor, Button } from '@mantine/core';
import { call, type Data } from '../../api/client.ts';
import { useDoing } from '../../api/hooks.ts';
import { makePasskey, usePasskeyState } from '../../api/passkeys.ts';
import { Confirm, useAsking } from '../../parts/confirm.tsx';
import { State, When } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import { Item } from './item.tsx';
import { sayDone } from './said.ts';
import { TEXT } from './text.ts';

const CHANGES = ['GET /api/user/passkey', 'GET /api/user/sessions', 'GET /api/verify/status'] as const;

/** A row of the section. */
export function Passkey({ passkey }: { readonly passkey: Data<'GET /api/user/passkey'> }) {
  const { passkey: text, on, off } = useText(TEXT);
  const here = usePasskeyState();
  const asking = useAsking<true>();
  const add = useDoing(
    async () => {
      const body = await makePasskey(await call('POST /api/user/passkey/register/begin'));
      return call('POST /api/user/passkey/register/finish', { body });
    },
    { changes: CHANGES, done: () => sayDone(text.added) },
  );
  const remove = useDoing(() => call('DELETE /api/user/passkey'), {
    changes: CHANGES,
    done() {
      asking.close();
      sayDone(text.removed);
    },
  });
  const { enabled, created_at, last_used_at } = passkey;
  return (
    <>
      <Item
        name={text.name}
        state={<State mood={enabled ? 'good' : 'idle'}>{enabled ? on : off}</State>}
        actions={
          enabled ? (
            <Button variant="default" onClick={() => asking.open(true)}>
              {text.remove}
            </Button>
          ) : (
            here?.state === 'ready' && (
              <Button variant="default" loading={add.isPending} onClick={() => add.mutate()}>
                {text.add}
              </Button>
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
        {here?.state === 'insecure' && text.insecure}
        {here?.state === 'unsupported' && text.unsupported}
        {here?.state === 'elsewhere' && (
          <>
            {text.elsewhere} <Anchor href={here.home}>{here.home}</Anchor>
          </>
        )}
      </Item>
      <Confirm
        opened={asking.opened}
        title={text.removeTitle}
        action={text.remove}
        doing={remove}
        onConfirm={() => remove.mutate()}
        onClose={asking.close}
      >
        {text.removeAbout}
      </Confirm>
    </>
  );
}

/** Unix seconds of a date; 0 where there is none. */
function unixOf(date: string | null | undefined): number {
  return date === null || date === undefined ? 0 : Date.parse(date) / 1_000;
}
