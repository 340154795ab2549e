/** A button that explains why it is disabled, with pointer and keyboard. */
import { Button, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';

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
