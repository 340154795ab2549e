/** Browser and operating system from a user agent. */

const BROWSERS = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ['Safari', /\bSafari\//],
  ['curl', /^curl\//],
] as const;
const SYSTEMS = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['Mac', /\bMac(?:intosh| OS X)\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
] as const;

/** Empty if unknown. */
export function deviceOf(userAgent: string): { readonly browser: string; readonly system: string } {
  const find = (list: readonly (readonly [string, RegExp])[]): string =>
    list.find(([, sign]) => sign.test(userAgent))?.[0] ?? '';
  return { browser: find(BROWSERS), system: find(SYSTEMS) };
}
