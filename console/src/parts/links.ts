/** Addresses of pages that show calls: where a name or a number leads to. */

/** Which calls beside the filters. */
interface Which {
  /** Unix seconds, the last is part of it; without it, the range that the page usually shows. */
  readonly range?: { readonly start: number; readonly end: number };
  readonly everybody?: boolean;
}

/** The log with these filters: `/logs?model=gpt-5&start=…&end=…`. */
export function logsHref(filters: Readonly<Record<string, string>>, which: Which = {}): string {
  return `/logs${queryOf(filters, which)}`;
}

/** Usage with these filters. */
export function usageHref(filters: Readonly<Record<string, string>>, which: Which = {}): string {
  return `/usage${queryOf(filters, which)}`;
}

/** The line of one call. */
export function callHref(id: string): string {
  return logsHref({ open: id });
}

function queryOf(filters: Readonly<Record<string, string>>, { range, everybody }: Which): string {
  const query = new URLSearchParams({
    ...(everybody === true && { whose: 'all' }),
    ...filters,
    ...(range !== undefined && { start: `${range.start}`, end: `${range.end}` }),
  });
  return query.size === 0 ? '' : `?${query}`;
}
