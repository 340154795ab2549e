/** The personal access token: tools use it to call `/api` as its owner. */
import { Group, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { PlainButton, Section } from '../../parts/page.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { When } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import { notifyDone } from './item.tsx';
import { TEXT } from './text.ts';

/** A section of the page. */
export function AccessToken() {
  const { token: text, words } = useText(TEXT);
  const status = useApi('GET /api/user/token/status');
  const [token, setMade] = useState<string>();
  const asking = useDialog<'renew' | 'remove'>();
  const make = useAction(() => call('GET /api/user/token'), {
    changes: ['GET /api/user/token/status', 'GET /api/verify/status'],
    done(token) {
      asking.close();
      setMade(token);
    },
  });
  const remove = useAction(() => call('DELETE /api/user/token'), {
    changes: ['GET /api/user/token/status'],
    done() {
      asking.close();
      notifyDone(text.removed);
    },
  });
  const isRenewal = asking.about === 'renew';
  return (
    <Section title={text.title} about={text.about}>
      <Loaded query={status} height={32}>
        {({ exists, created_at, expires_at, valid_days }) => (
          <Group justify="space-between" gap="xs">
            <Text size="sm">
              {exists ? (
                <>
                  {words.created} <When at={created_at} />, {text.until} <When at={expires_at} />
                </>
              ) : (
                `${text.none} ${text.validFor(valid_days)}`
              )}
            </Text>
            <Group gap="xs">
              {/* One button for both cases, because it gets the focus when the dialog with the token closes. */}
              <PlainButton
                onClick={() => {
                  if (exists) asking.open('renew');
                  else if (!make.isPending) make.mutate();
                }}
              >
                {exists ? text.renew : text.make}
              </PlainButton>
              {exists && <PlainButton onClick={() => asking.open('remove')}>{words.remove}</PlainButton>}
            </Group>
          </Group>
        )}
      </Loaded>
      <Confirm
        dialog={asking}
        title={isRenewal ? text.renewTitle : text.removeTitle}
        action={isRenewal ? text.renew : words.remove}
        doing={isRenewal ? make : remove}
        onConfirm={() => (isRenewal ? make.mutate() : remove.mutate())}
      >
        {isRenewal ? text.renewAbout : text.removeAbout}
      </Confirm>
      <ShownOnce
        secret={token}
        title={text.shownTitle}
        about={text.shown}
        done={text.done}
        onClose={() => setMade(undefined)}
      />
    </Section>
  );
}
