/** The frame of a page: title, description, actions. */
import { Box, Group, Stack, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { useStatus } from '../api/status.ts';
import { Muted } from './plain.tsx';

/** A page. `about`: one line below the title. `actions`: next to it. */
export function Page({
  title,
  about,
  actions,
  children,
}: {
  readonly title: string;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  const status = useStatus();
  useEffect(() => {
    document.title = `${title} · ${status?.system_name ?? 'Turnpike'}`;
  }, [title, status?.system_name]);
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-start" gap="xs">
        <Box miw={0} flex="1 1 14rem">
          <Title order={1}>{title}</Title>
          {about !== undefined && <Muted maw="44rem">{about}</Muted>}
        </Box>
        {actions !== undefined && (
          <Group gap="xs" className="page-actions">
            {actions}
          </Group>
        )}
      </Group>
      {children}
    </Stack>
  );
}

/** A section with a heading, in a frame. `flush`: the content has no padding, for tables. */
export function Section({
  title,
  about,
  actions,
  flush = false,
  children,
}: {
  readonly title?: ReactNode;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly flush?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <Box component="section" className="section">
      {(title !== undefined || actions !== undefined) && (
        <Group justify="space-between" gap="xs" className="section-head">
          <Box miw={0}>
            {title !== undefined && <Title order={2}>{title}</Title>}
            {about !== undefined && <Muted>{about}</Muted>}
          </Box>
          {actions !== undefined && <Group gap="xs">{actions}</Group>}
        </Group>
      )}
      <Box className={flush ? undefined : 'section-body'}>{children}</Box>
    </Box>
  );
}
