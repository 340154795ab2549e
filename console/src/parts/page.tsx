/** What pages are made of: title, sections, secondary texts and buttons. */
import {
  ActionIcon,
  type ActionIconProps,
  Box,
  Button,
  type ButtonProps,
  Collapse,
  Group,
  Stack,
  Tabs,
  Text,
  type TextProps,
  Title,
  Tooltip,
} from '@mantine/core';
import { type ComponentPropsWithRef, type ReactNode, useEffect } from 'react';
import { Link } from 'wouter';
import { useStatus } from '../api/hooks.ts';
import { IconChevronDown, IconChevronRight } from '../icons.ts';
import type { PageName } from '../page-list.ts';
import { usePageNames } from '../pages.tsx';

/** A page with its name as the title. `about`: one line below it. `actions`: next to it. */
export function Page({
  name,
  about,
  actions,
  children,
}: {
  readonly name: PageName;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  const title = usePageNames()[name];
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

/** Tabs by name with their contents, of which only the chosen one is mounted; `names`: as they are shown. */
export function PageTabs<Tab extends string>({
  label,
  tab,
  names,
  contents,
  onChange,
}: {
  readonly label?: string;
  readonly tab: Tab;
  readonly names: Readonly<Record<Tab, string>>;
  readonly contents: Readonly<Record<Tab, ReactNode>>;
  onChange(tab: string): void;
}) {
  const tabs = Object.keys(contents) as Tab[];
  return (
    <Tabs value={tab} onChange={(to) => onChange(to ?? '')} keepMounted={false}>
      <Tabs.List mb="md" aria-label={label}>
        {tabs.map((each) => (
          <Tabs.Tab key={each} value={each}>
            {names[each]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map((each) => (
        <Tabs.Panel key={each} value={each}>
          {contents[each]}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

type Props<Own, Element extends 'p' | 'button'> = Own & Omit<ComponentPropsWithRef<Element>, keyof Own>;

/** Explanatory text. */
export function Muted(props: Props<TextProps, 'p'>) {
  return <Text size="sm" c="dimmed" {...props} />;
}

/** The same in small, such as the second line of a cell. */
export function Small(props: Props<TextProps, 'p'>) {
  return <Text size="xs" c="dimmed" {...props} />;
}

/** A button that is not the main action. */
export function PlainButton(props: Props<ButtonProps, 'button'>) {
  return <Button variant="default" {...props} />;
}

/** A link that looks like it. */
export function LinkButton(props: ButtonProps & { readonly href: string }) {
  return <Button component={Link} variant="default" {...props} />;
}

/** An icon with a tooltip. `hint`: the tooltip, if it is not the accessible name. */
export function IconButton({
  label,
  hint = label,
  ...props
}: Props<ActionIconProps, 'button'> & { readonly label: string; readonly hint?: string }) {
  return (
    <Tooltip label={hint}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} {...props} />
    </Tooltip>
  );
}

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

/** The button. `why`: why it is disabled; undefined: it is enabled. */
export function GuardedButton({
  why,
  onClick,
  children,
  variant = 'default',
  color,
  leftSection,
  loading,
}: {
  readonly why: string | undefined;
  onClick(): void;
  readonly children: ReactNode;
  readonly variant?: 'default' | 'filled';
  readonly color?: string;
  readonly leftSection?: ReactNode;
  readonly loading?: boolean;
}) {
  return (
    <Tooltip label={why} disabled={why === undefined}>
      <Button
        variant={variant}
        color={color}
        leftSection={leftSection}
        loading={loading}
        // Not `disabled`, because a disabled button cannot get the focus that shows the reason.
        data-disabled={why !== undefined || undefined}
        aria-disabled={why !== undefined || undefined}
        onClick={() => why === undefined && onClick()}
      >
        {children}
        {why !== undefined && <span className="aloud"> ({why})</span>}
      </Button>
    </Tooltip>
  );
}
