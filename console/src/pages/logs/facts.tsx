/** Names with values, and links to related pages. */
import { Anchor, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';

/** The list. Undefined values are left out. */
export function FactList({ facts }: { readonly facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="logs-facts">
      {facts.flatMap(([name, value]) =>
        value === undefined ? [] : [<dt key={`name of ${name}`}>{name}</dt>, <dd key={name}>{value}</dd>],
      )}
    </dl>
  );
}

/** Links in a row. */
export function Links({ links }: { readonly links: readonly (readonly [string, string])[] }) {
  return (
    <Group gap="md">
      {links.map(([name, href]) => (
        <Anchor key={name} component={Link} href={href} size="sm" py={2}>
          {name}
        </Anchor>
      ))}
    </Group>
  );
}
