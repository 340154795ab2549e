/** Parses the URL of a Valkey server. */

/** A server and its credentials. */
export interface Server {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly username?: string;
  readonly password?: string;
  readonly database: number;
  /** `cache.example.com:6379`, for display. */
  readonly name: string;
}

const USUAL_PORT = 6379;
/** URL schemes, and whether they use TLS. */
const SCHEMES = new Map([
  ['valkey:', false],
  ['redis:', false],
  ['valkeys:', true],
  ['rediss:', true],
]);

/** Parses `valkeys://user:password@host:6379/0`; undefined if it is invalid. */
export function readAddress(address: string): Server | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(address);
  const tls = SCHEMES.get(protocol);
  const database = /^\/?(\d{0,6})$/.exec(pathname)?.[1];
  const [user, secret] = [decoded(username), decoded(password)];
  if (tls === undefined || hostname === '' || database === undefined || search !== '' || hash !== '') return undefined;
  if (user === undefined || secret === undefined) return undefined;
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? USUAL_PORT : Number(port),
    tls,
    ...(user !== '' && { username: user }),
    ...(secret !== '' && { password: secret }),
    database: Number(database),
    name: `${hostname}:${port === '' ? USUAL_PORT : port}`,
  };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
