/** Filters of the lists on this page, in the address. */

/** The filters of a list. */
export interface Filters {
  readonly q: string;
  readonly state: string;
  readonly provider: string;
  readonly person: string;
  readonly sort: string;
  readonly size: string;
  readonly page: string;
  /** The open item. */
  readonly open: string;
}

/** A list with its filters, and how to change them. */
export interface Filtered {
  readonly address: Filters;
  onChange(change: Partial<Record<keyof Filters, string>>): void;
}

/** Rows per page. */
export const PAGE_SIZE = 20;
