/** Sections of the sessions, each of which can be ended, and of the personal access token. */
import { Group, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction, useApi, useStatus } from '../../api/hooks.ts';
import type { OwnSession } from '../../api/operations.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { deviceOf } from '../../parts/device.ts';
import { Loaded } from '../../parts/notes.tsx';
import { PlainButton, Section } from '../../parts/page.tsx';
import { ShownOnce } from '../../parts/secret-fields.tsx';
import { State, When } from '../../parts/values.tsx';
import { notifyDone } from './item.tsx';
import { useText } from './text.ts';

type Session = OwnSession;

/** The sessions. */
export function Sessions() {
  const { sessions: text, words } = useText();
  const sessions = useApi('GET /api/user/sessions');
  const status = useStatus();
  const asking = useDialog<Session | 'others'>();
  const changes = ['GET /api/user/sessions', 'GET /api/user/token/status'] as const;
  const endOne = useAction((id: string) => call('DELETE /api/user/sessions/{id}', { params: { id } }), {
    changes,
    done() {
      asking.close();
      notifyDone(text.ended);
    },
  });
  const endOthers = useAction(() => call('POST /api/user/sessions/revoke-others'), {
    changes,
    done({ revoked_count }) {
      asking.close();
      notifyDone(text.endedOthers(revoked_count));
    },
  });

  const nameOf = ({ user_agent }: Session): string => {
    const { browser, system } = deviceOf(user_agent);
    if (browser !== '' && system !== '') return text.on(browser, system);
    return browser || system || user_agent || text.unknown;
  };
  const methodOf = ({ login_method: method }: Session): string => {
    if (method === 'password') return words.password;
    if (method === 'passkey') return words.passkey;
    return status?.oauth_providers.find(({ name }) => name === method)?.label ?? method;
  };
  const columns: readonly Column<Session>[] = [
    {
      key: 'device',
      title: text.device,
      cell: (row) => (
        <Group gap="xs">
          <span title={row.user_agent}>{nameOf(row)}</span>
          {row.current && <State tone="good">{text.this}</State>}
        </Group>
      ),
    },
    { key: 'method', title: text.method, from: 'md', cell: methodOf },
    { key: 'ip', title: words.ipAddress, from: 'sm', cell: ({ ip }) => ip },
    { key: 'since', title: text.since, from: 'md', cell: ({ created_at }) => <When at={created_at} /> },
    { key: 'seen', title: text.seen, cell: ({ last_active_at }) => <When at={last_active_at} /> },
    {
      key: 'actions',
      title: words.actions,
      quiet: true,
      align: 'right',
      cell: (row) =>
        !row.current && (
          <PlainButton size="compact-xs" onClick={() => asking.open(row)} aria-label={text.endOne(nameOf(row))}>
            {text.end}
          </PlainButton>
        ),
    },
  ];
  const about = asking.about;
  const isOne = about !== undefined && about !== 'others';
  return (
    <Section
      flush
      title={words.sessions}
      about={text.about}
      actions={
        (sessions.data?.length ?? 0) > 1 && (
          <PlainButton onClick={() => asking.open('others')}>{text.endOthers}</PlainButton>
        )
      }
    >
      <Loaded query={sessions}>
        {(rows) => <DataTable caption={words.sessions} columns={columns} rows={rows} rowKey={({ sid }) => sid} />}
      </Loaded>
      <Confirm
        dialog={asking}
        title={isOne ? text.endTitle : text.othersTitle}
        action={isOne ? text.end : text.endOthers}
        doing={isOne ? endOne : endOthers}
        onConfirm={() => (isOne ? endOne.mutate(about.sid) : endOthers.mutate())}
      >
        <Text size="sm">{isOne ? text.endAbout(nameOf(about)) : text.othersAbout}</Text>
      </Confirm>
    </Section>
  );
}

/** The access token: tools use it to call `/api` as its owner. */
export function AccessToken() {
  const { token: text, words } = useText();
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
