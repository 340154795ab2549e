/** Addresses of pages that show calls, and the link to one call. */
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';

/** The range and scope of the calls. */
interface CallScope {
  /** Unix seconds, inclusive; without it, the default range of the page. */
  readonly range?: { readonly start: number; readonly end: number };
  readonly allUsers?: boolean;
}

/** The logs with these filters: `/logs?model=gpt-5&start=…&end=…`. */
export function logsHref(filters: Readonly<Record<string, string>>, which: CallScope = {}): string {
  return `/logs${queryOf(filters, which)}`;
}

/** The usage page with these filters. */
export function usageHref(filters: Readonly<Record<string, string>>, which: CallScope = {}): string {
  return `/usage${queryOf(filters, which)}`;
}

/** The record of one call. */
export function callHref(id: string): string {
  return logsHref({ open: id });
}

function queryOf(filters: Readonly<Record<string, string>>, { range, allUsers }: CallScope): string {
  const query = new URLSearchParams({
    ...(allUsers === true && { whose: 'all' }),
    ...filters,
    ...(range !== undefined && { start: `${range.start}`, end: `${range.end}` }),
  });
  return query.size === 0 ? '' : `?${query}`;
}

/** The ID of a call, as a link to its record in the logs. */
export function RequestLink({ id }: { readonly id: string }) {
  return (
    <Anchor component={Link} href={callHref(id)} size="sm" ff="monospace">
      {id}
    </Anchor>
  );
}
