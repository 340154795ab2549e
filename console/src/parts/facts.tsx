/** Names with values, and links to related pages. */
import { Anchor, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';

/** The list. Undefined values are left out. */
export function FactList({ facts }: { readonly facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts logs-facts">
      {facts.map(
        ([name, value]) =>
          value !== undefined && (
            <Fact key={name} name={name}>
              {value}
            </Fact>
          ),
      )}
    </dl>
  );
}

/** A name with its value, in a `dl`. */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
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
