/** The number of a call, leading to its line in the log. */
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { callHref } from './links.ts';

/** The link. */
export function RequestLink({ id }: { readonly id: string }) {
  return (
    <Anchor component={Link} href={callHref(id)} size="sm" ff="monospace">
      {id}
    </Anchor>
  );
}
