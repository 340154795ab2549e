/** The clients that have recipes, by kind. */
import { Box, Chip, Group, Text } from '@mantine/core';
import { useId } from 'react';
import { useText } from '../../text.ts';
import { KINDS } from './recipe.ts';
import { clientsOf } from './recipes.ts';
import { TEXT } from './text.ts';

/** The picker. */
export function ClientPicker({ chosen, onChoose }: { readonly chosen: string; onChoose(id: string): void }) {
  const text = useText(TEXT);
  const id = useId();
  return (
    <Chip.Group value={chosen} onChange={onChoose}>
      <Box role="radiogroup" aria-label={text.client} className="connect-clients">
        {KINDS.map((kind) => (
          <Box key={kind} role="group" aria-labelledby={`${id}-${kind}`} className="connect-kind">
            <Text size="sm" c="dimmed" id={`${id}-${kind}`}>
              {text.kinds[kind]}
            </Text>
            <Group gap={6}>
              {clientsOf(kind).map((client) => (
                <Chip key={client.id} value={client.id} size="sm" radius="sm">
                  {client.name}
                </Chip>
              ))}
            </Group>
          </Box>
        ))}
      </Box>
    </Chip.Group>
  );
}
