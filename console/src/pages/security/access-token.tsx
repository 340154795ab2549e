/** The personal access token: for tools that do under `/api` what its owner may. */
import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useApi, useDoing } from '../../api/hooks.ts';
import { Confirm, useAsking } from '../../parts/confirm.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { Section } from '../../parts/page.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { When } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import { sayDone } from './said.ts';
import { TEXT } from './text.ts';

/** A section of the page. */
export function AccessToken() {
  const { token: text } = useText(TEXT);
  const status = useApi('GET /api/user/token/status');
  const [made, setMade] = useState<string>();
  const asking = useAsking<'renew' | 'remove'>();
  const make = useDoing(() => call('GET /api/user/token'), {
    changes: ['GET /api/user/token/status', 'GET /api/verify/status'],
    done(token) {
      asking.close();
      setMade(token);
    },
  });
  const remove = useDoing(() => call('DELETE /api/user/token'), {
    changes: ['GET /api/user/token/status'],
    done() {
      asking.close();
      sayDone(text.removed);
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
                  {text.since} <When at={created_at} />, {text.until} <When at={expires_at} />
                </>
              ) : (
                `${text.none} ${text.validFor(valid_days)}`
              )}
            </Text>
            <Group gap="xs">
              {/* One button for both: it has the focus when the dialog with the token closes. */}
              <Button
                variant="default"
                onClick={() => {
                  if (exists) asking.open('renew');
                  else if (!make.isPending) make.mutate();
                }}
              >
                {exists ? text.renew : text.make}
              </Button>
              {exists && (
                <Button variant="default" onClick={() => asking.open('remove')}>
                  {text.remove}
                </Button>
              )}
            </Group>
          </Group>
        )}
      </Loaded>
      <Confirm
        opened={asking.opened}
        title={isRenewal ? text.renewTitle : text.removeTitle}
        action={isRenewal ? text.renew : text.remove}
        doing={isRenewal ? make : remove}
        onConfirm={() => (isRenewal ? make.mutate() : remove.mutate())}
        onClose={asking.close}
      >
        {isRenewal ? text.renewAbout : text.removeAbout}
      </Confirm>
      <ShownOnce
        secret={made}
        title={text.shownTitle}
        about={text.shown}
        done={text.done}
        onClose={() => setMade(undefined)}
      />
    </Section>
  );
}
