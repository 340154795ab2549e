/** A row of a section (name, state, description, actions), and the notification that its action succeeded. */
import { Box, Group, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { ReactNode } from 'react';

/** A row of a section. */
export function Item({
  name,
  state,
  actions,
  children,
}: {
  readonly name: string;
  readonly state?: ReactNode;
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}) {
  return (
    <Group justify="space-between" align="flex-start" gap="xs">
      <Box flex="1 1 14rem" miw={0}>
        <Group gap="xs">
          <Title order={3} size="sm">
            {name}
          </Title>
          {state}
        </Group>
        <Text size="sm" c="dimmed" component="div" style={{ overflowWrap: 'anywhere' }}>
          {children}
        </Text>
      </Box>
      {actions !== undefined && <Group gap="xs">{actions}</Group>}
    </Group>
  );
}

/** Shows a notification and announces it to screen readers. */
export function notifyDone(message: string): void {
  notifications.show({ color: 'pine', message, role: 'status' });
}
