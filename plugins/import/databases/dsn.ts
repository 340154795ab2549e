/** Addresses of MySQL and MariaDB: a URL, or the form of Go's driver, which new-api and one-api are configured with (`SQL_DSN`). */

import { UsageError } from '../../../core/plugin.ts';

/** `user:password@tcp(host:3306)/name?charset=utf8mb4`, as github.com/go-sql-driver/mysql (README, "DSN") has it; the last `@` and `/` count. */
const DSN = /^(?:([^:]*?)(?::(.*))?@)?(tcp|tcp6|unix)\(([^)]*)\)\/([^/?]*)(?:\?(.*))?$/;

/** How to connect. */
export interface MysqlAddress {
  readonly host?: string;
  readonly port?: number;
  readonly socketPath?: string;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** How the connection is encrypted; undefined: it is not. */
  readonly tls: 'verified' | 'unverified' | undefined;
}

/** Whether an address is one of MySQL or MariaDB. */
export function isMysql(address: string): boolean {
  return /^(?:mysql|mariadb):\/\//i.test(address) || DSN.test(address);
}

/** Reads such an address. Throws if it names no database. */
export function readMysqlAddress(address: string): MysqlAddress {
  const read = /^\w+:\/\//.test(address) ? readUrl(address) : readDsn(address);
  if (read === undefined || read.database === '')
    throw new UsageError(
      'the address must be mysql://USER:PASSWORD@HOST/DATABASE, or USER:PASSWORD@tcp(HOST:3306)/DATABASE',
    );
  return read;
}

function readUrl(address: string): MysqlAddress | undefined {
  // `tcp(…)` in a URL, as some programs have it.
  const dsn = address.replace(/^\w+:\/\//, '');
  if (DSN.test(dsn)) return readDsn(dsn);
  if (!URL.canParse(address)) return undefined;
  const { hostname, port, username, password, pathname, searchParams } = new URL(address);
  const socketPath = searchParams.get('socket');
  return {
    ...(socketPath === null
      ? { host: hostname.replace(/^\[|\]$/g, '') || '127.0.0.1', port: Number(port || 3306) }
      : { socketPath }),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    tls: tlsOf(searchParams),
  };
}

function readDsn(address: string): MysqlAddress | undefined {
  const [, user = '', password = '', network, where = '', database = '', parameters] = DSN.exec(address) ?? [];
  if (network === undefined) return undefined;
  const [, host = where, port = '3306'] = /^(.*?)(?::(\d+))?$/.exec(where) ?? [];
  return {
    ...(network === 'unix'
      ? { socketPath: where }
      : { host: host.replace(/^\[|\]$/g, '') || '127.0.0.1', port: Number(port) }),
    user,
    password,
    database: decodeURIComponent(database),
    tls: tlsOf(new URLSearchParams(parameters)),
  };
}

/** `tls` as Go has it; `ssl-mode` as MySQL's own tools have it. */
function tlsOf(parameters: URLSearchParams): MysqlAddress['tls'] {
  const wanted = parameters.get('tls') ?? parameters.get('ssl-mode') ?? parameters.get('ssl') ?? 'false';
  if (/^(skip-verify|preferred|required)$/i.test(wanted)) return 'unverified';
  return /^(false|disabled|0)$/i.test(wanted) ? undefined : 'verified';
}

/** A message of a driver without the password of an address, in case it has it. */
export function withoutPassword(message: string, address: string): string {
  const [, url] = /^\w+:\/\/[^:@/]*:(.*)@/.exec(address) ?? [];
  const [, , dsn] = DSN.exec(address) ?? [];
  let safe = message;
  for (const secret of [url, dsn]) {
    if (secret === undefined || secret === '') continue;
    for (const form of new Set([secret, decoded(secret)])) safe = safe.replaceAll(form, '…');
  }
  return safe;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
