/** A section whose content is shown on demand. */
import { Box, Collapse, Group } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { IconButton } from './page.tsx';

/** The section. `id`: of its heading, which is in `head`; `label`: the name of the button that opens it. */
export function Foldout({
  id,
  label,
  head,
  open,
  onToggle,
  children,
}: {
  readonly id: string;
  readonly label: string;
  readonly head: ReactNode;
  readonly open: boolean;
  onToggle(): void;
  readonly children: ReactNode;
}) {
  return (
    <Box component="section" className="section" aria-labelledby={id}>
      <Group gap="xs" px="sm" py={6} wrap="nowrap">
        <IconButton label={label} aria-expanded={open} onClick={onToggle}>
          {open ? <IconChevronDown size={16} /> : <IconChevronRight size={16} />}
        </IconButton>
        {head}
      </Group>
      <Collapse expanded={open}>{children}</Collapse>
    </Box>
  );
}
