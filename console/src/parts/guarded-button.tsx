/** A button that says why it does nothing: whoever may not do something can still read of it, by mouse and by keyboard. */
import { Button, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';

/** The button. `why`: why it cannot be pressed now; undefined: it can. */
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
        // Not `disabled`: that could not be reached, and nobody would learn why.
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
