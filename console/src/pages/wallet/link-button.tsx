/** A link to a page of the console that looks like a button. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';

/** The link. */
export function LinkButton({ to, children }: { readonly to: string; readonly children: ReactNode }) {
  return (
    <Button variant="default" component={Link} href={to}>
      {children}
    </Button>
  );
}
