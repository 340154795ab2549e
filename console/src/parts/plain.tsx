/** Text and buttons that are secondary to what stands beside them. */
import {
  ActionIcon,
  type ActionIconProps,
  Button,
  type ButtonProps,
  Text,
  type TextProps,
  Tooltip,
} from '@mantine/core';
import type { ComponentPropsWithRef } from 'react';
import { Link } from 'wouter';

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
