/** Leaving the console for a page of somebody else. */

/** Goes to an address that the gateway named; to nothing but a page of the web. */
export function leadElsewhere(url: string): void {
  if (/^https?:\/\//i.test(url)) location.assign(url);
}
