/** The sessions of a user; an administrator can end each of them, or all. */

import { call } from '../../api/client.ts';
import { useAction, useApi, useSelf } from '../../api/hooks.ts';
import type { UserSession } from '../../api/operations.ts';
import { IconLogout } from '../../icons.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { deviceOf } from '../../parts/device.ts';
import { Loaded } from '../../parts/notes.tsx';
import { GuardedButton, IconButton, Muted, Section } from '../../parts/page.tsx';
import { When } from '../../parts/values.tsx';
import { changeForbidden, type User } from './rights.ts';
import { useText } from './text.ts';

type Session = UserSession;

/** A section of the drawer. */
export function UserSessions({ user }: { readonly user: User }) {
  const text = useText();
  const why = changeForbidden(useSelf(), user, text);
  const sessions = useApi('GET /api/user/{id}/sessions', { params: { id: user.id } });
  const asking = useDialog<true>();
  const changes = ['GET /api/user/{id}/sessions'] as const;
  const end = useAction(
    (session: number) => call('DELETE /api/user/{id}/sessions/{session}', { params: { id: user.id, session } }),
    { changes },
  );
  const endAll = useAction(() => call('DELETE /api/user/{id}/sessions', { params: { id: user.id } }), {
    changes,
    done: asking.close,
  });
  const columns: readonly Column<Session>[] = [
    {
      key: 'browser',
      title: text.browser,
      cell: ({ user_agent: agent }) => <span title={agent}>{nameOf(agent)}</span>,
    },
    { key: 'ip', title: 'IP', cell: ({ ip }) => ip, from: 'sm' },
    {
      key: 'method',
      title: text.words.method,
      cell: ({ login_method: method }) => text.methods[method] ?? method,
      from: 'sm',
    },
    { key: 'active', title: text.lastActive, align: 'right', cell: ({ last_active_at: at }) => <When at={at} /> },
    {
      key: 'end',
      title: text.end,
      quiet: true,
      align: 'right',
      cell: (session) => (
        <IconButton
          label={`${text.end}: ${nameOf(session.user_agent)}, ${session.ip}`}
          hint={why ?? text.end}
          data-disabled={why !== undefined || undefined}
          aria-disabled={why !== undefined || undefined}
          loading={end.isPending && end.variables === session.id}
          onClick={() => why === undefined && end.mutate(session.id)}
        >
          <IconLogout size={16} />
        </IconButton>
      ),
    },
  ];
  return (
    <Section
      title={text.words.sessions}
      flush
      actions={
        (sessions.data?.length ?? 0) > 0 && (
          <GuardedButton why={why} onClick={() => asking.open(true)}>
            {text.endAll}
          </GuardedButton>
        )
      }
    >
      <Loaded query={sessions} height={60}>
        {(rows) => (
          <DataTable
            caption={text.words.sessions}
            columns={columns}
            rows={rows}
            rowKey={({ id }) => id}
            empty={<Muted p="sm">{text.noSessions}</Muted>}
          />
        )}
      </Loaded>
      <Confirm
        dialog={asking}
        title={text.endAllTitle(user.username)}
        action={text.endAll}
        doing={endAll}
        onConfirm={() => endAll.mutate()}
      >
        {text.endAllAbout}
      </Confirm>
    </Section>
  );
}

/** `Firefox, Linux`; the user agent itself if neither is recognized. */
function nameOf(agent: string): string {
  const { browser, system } = deviceOf(agent);
  return [browser, system].filter(Boolean).join(', ') || agent || '–';
}
