/** Text and buttons that are secondary to what stands beside them. */
import { Button, type ButtonProps, Text, type TextProps } from '@mantine/core';
import type { ComponentPropsWithRef } from 'react';

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
