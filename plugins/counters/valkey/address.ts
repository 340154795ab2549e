/** The URL of a Valkey server: what the client does not check, and what others need to know of it. */
import { isIP } from 'node:net';

/** A server. */
export interface Server {
  /** The URL for the client, which has credentials and knows only the schemes of Redis. */
  readonly url: string;
  /** The TLS server name; undefined without TLS, and for an IP address, which must not be one. */
  readonly tlsName: string | undefined;
  readonly password: string;
  readonly database: number;
  /** `cache.example.com:6379`, for display. */
  readonly name: string;
}

/** Parses `valkeys://user:password@host:6379/0`; undefined if it is invalid. */
export function readAddress(address: string): Server | undefined {
  const url = address.replace(/^valkey(?=s?:)/, 'redis');
  try {
    const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(url);
    const isServer = /^rediss?:$/.test(protocol) && hostname !== '' && /^\/?\d{0,6}$/.test(pathname);
    if (!isServer || search !== '' || hash !== '') return undefined;
    decodeURIComponent(username);
    return {
      url,
      tlsName: protocol === 'redis:' || isIP(hostname.replace(/[[\]]/g, '')) > 0 ? undefined : hostname,
      password: decodeURIComponent(password),
      database: Number(pathname.slice(1)),
      name: `${hostname}:${port || 6379}`,
    };
  } catch {
    return undefined;
  }
}
