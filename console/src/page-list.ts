/** The pages of the console with their paths and audiences. Navigation, routes and the tests that visit every page use this list. */

/** `you`: all signed-in users; `admin`: administrators and root; `root`: root only. */
export type PageGroup = 'you' | 'admin' | 'root';

/** All pages in the order of the navigation. A page lives in `pages/<name>/page.tsx`. */
export const PAGES = [
  { name: 'home', path: '/', group: 'you' },
  { name: 'connect', path: '/connect', group: 'you' },
  { name: 'keys', path: '/keys', group: 'you' },
  { name: 'playground', path: '/playground', group: 'you' },
  { name: 'models', path: '/models', group: 'you' },
  { name: 'logs', path: '/logs', group: 'you' },
  { name: 'usage', path: '/usage', group: 'you' },
  { name: 'wallet', path: '/wallet', group: 'you' },
  { name: 'security', path: '/security', group: 'you' },
  { name: 'departments', path: '/departments', group: 'admin' },
  { name: 'team', path: '/team', group: 'admin' },
  { name: 'users', path: '/users', group: 'admin' },
  { name: 'payments', path: '/payments', group: 'admin' },
  { name: 'vendors', path: '/vendors', group: 'admin' },
  { name: 'prices', path: '/prices', group: 'admin' },
  { name: 'alerts', path: '/alerts', group: 'admin' },
  { name: 'audit', path: '/audit', group: 'admin' },
  { name: 'system', path: '/system', group: 'admin' },
  { name: 'config', path: '/config', group: 'root' },
] as const satisfies readonly { readonly name: string; readonly path: string; readonly group: PageGroup }[];

/** The name of a page. */
export type PageName = (typeof PAGES)[number]['name'];

/** Redirects from addresses of older consoles and other tools. */
export const OTHER_ADDRESSES: Readonly<Record<string, string>> = {
  '/log': '/logs',
  '/token': '/keys',
  '/topup': '/wallet',
  '/personal': '/security',
  '/setting': '/config',
  '/channel': '/vendors',
  '/user': '/users',
  '/redemption': '/payments',
  '/department': '/departments',
  '/pricing': '/models',
  '/login': '/',
};
