/** The ID of a call as a link to its record in the logs. */
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
