/** What the address says of a list of this page. */

/** The filters that a list has. */
export interface Filters {
  readonly q: string;
  readonly state: string;
  readonly provider: string;
  readonly person: string;
  readonly page: string;
  /** What is open beside the list. */
  readonly open: string;
}

/** A list with its filters, and how to change them. */
export interface Filtered {
  readonly address: Filters;
  onChange(change: Partial<Record<keyof Filters, string>>): void;
}

/** How many rows are on a page. */
export const PAGE_SIZE = 20;
