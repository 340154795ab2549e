/** Navigation to pages outside the console. */

/** Goes to a URL from the gateway. Only http and https URLs are allowed. */
export function goToExternal(url: string): void {
  if (/^https?:\/\//i.test(url)) location.assign(url);
}
