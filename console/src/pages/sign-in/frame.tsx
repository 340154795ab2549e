/** The frame of the sign-in pages: gateway name, language, theme, and one box; and what happens after a sign-in. */
import { Box, Group, Stack, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { Link } from 'wouter';
import { useStatus } from '../../api/hooks.ts';
import { Muted } from '../../parts/page.tsx';
import { ColorMenu, LanguageButton } from '../../shell/shell.tsx';

/** The frame. `below`: the content below the box. */
export function Frame({
  title,
  about,
  below,
  children,
}: {
  readonly title: string;
  readonly about?: ReactNode;
  readonly below?: ReactNode;
  readonly children: ReactNode;
}) {
  const status = useStatus();
  const name = status?.system_name ?? 'Turnpike';
  useEffect(() => {
    document.title = `${title} · ${name}`;
  }, [title, name]);
  return (
    <>
      <Group component="header" justify="space-between" wrap="nowrap" gap="xs" px="sm" h={48}>
        <Link href="/" className="brand">
          <img src="./icon.svg" alt="" width={24} height={24} />
          <Text fw={600} truncate>
            {name}
          </Text>
        </Link>
        <Group gap={4} wrap="nowrap">
          <LanguageButton />
          <ColorMenu />
        </Group>
      </Group>
      <Box component="main" px="sm" pt={{ base: 'md', sm: '8vh' }} pb="xl">
        <Stack maw={400} mx="auto" gap="md">
          <Box className="section" p="lg">
            <Stack gap="md">
              <Box>
                <Title order={1}>{title}</Title>
                {about !== undefined && <Muted>{about}</Muted>}
              </Box>
              {children}
            </Stack>
          </Box>
          {below}
        </Stack>
      </Box>
    </>
  );
}

/** Refetches the session and all data. `app.tsx` clears the data of another user. */
export function useAfterSignIn(): () => void {
  const queries = useQueryClient();
  return () =>
    void queries
      .refetchQueries({ queryKey: ['GET /api/user/self'] })
      .then(() => queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'GET /api/user/self' }));
}
