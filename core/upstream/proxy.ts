/** Outgoing HTTP proxies: through which one a request to a vendor or a provider is sent, by gateway.yaml and by the environment. */

import { isIP } from 'node:net';
import type { Channel } from '../contracts/formats/channel.ts';
import { canonicalRange, createAddressList } from '../helpers/address-list.ts';

/** A proxy. Equal URLs are the same object, as long as the configuration is not reloaded. */
export interface OutgoingProxy {
  /** With its user and password: never shown. */
  readonly url: string;
  /** Without them: `http://proxy.example.com:3128`. */
  readonly name: string;
  /** The connection to the proxy itself is encrypted. */
  readonly secure: boolean;
  /** Name or address, without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** The value of `proxy-authorization`, if it has a user. */
  readonly authorization: string | undefined;
}

/** The form of `proxy:` in gateway.yaml, as a JSON schema. */
export const proxySchema = {
  type: 'string',
  title: 'URL of an HTTP proxy, or `none`',
  pattern: '^(none|https?://([^/?#@\\s]*@)?([^/?#@:\\s[\\]]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?/?)?$',
  examples: ['http://user:password@proxy.example.com:3128'],
} as const;

/** The word for no proxy. */
const NONE = 'none';

/** Chooses the proxy of a request. */
export interface OutgoingProxies {
  /** Undefined: a direct connection. `own`: the proxy of a channel, which takes precedence; `none` for no proxy. */
  for(url: URL, own?: Channel['proxy']): OutgoingProxy | undefined;
  /** The passwords of the usual proxies; for `Log.hide`. */
  readonly secrets: readonly string[];
}

/** The environment variables. */
type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads them. `written`: `upstream.proxy`, which replaces `HTTPS_PROXY` and `HTTP_PROXY` (or in lower case, which takes precedence, as with curl).
 * Hosts in `NO_PROXY`, and this machine, are always reached directly, except by channels that have a proxy of their own. `wrong` is called with a
 * sentence for each variable that is not the URL of an HTTP proxy.
 */
export function createOutgoingProxies(
  written: string | undefined,
  env: Env,
  wrong: (message: string) => void,
): OutgoingProxies {
  const proxies = new Map<string, OutgoingProxy>();
  const read = (url: string): OutgoingProxy => {
    const proxy = proxies.get(url) ?? parse(url);
    proxies.set(url, proxy);
    return proxy;
  };
  const fromEnv = (name: string, value: string | undefined): OutgoingProxy | undefined => {
    if (!value) return undefined;
    // As with curl, the scheme may be left out.
    const url = value.includes('://') ? value : `http://${value}`;
    if (new RegExp(proxySchema.pattern).test(url)) return read(url);
    wrong(`the environment variable ${name} is not used: it is not the URL of an HTTP proxy`);
    return undefined;
  };
  const usual: Readonly<Record<string, OutgoingProxy | undefined>> = written
    ? { 'http:': written === NONE ? undefined : read(written), 'https:': written === NONE ? undefined : read(written) }
    : {
        'http:': fromEnv('HTTP_PROXY', env.http_proxy || env.HTTP_PROXY),
        'https:': fromEnv('HTTPS_PROXY', env.https_proxy || env.HTTPS_PROXY),
      };
  const isDirect = createExceptions(env.no_proxy || env.NO_PROXY || '');
  return {
    for(url, own) {
      if (own) return own === NONE ? undefined : read(own);
      const proxy = usual[url.protocol === 'wss:' || url.protocol === 'https:' ? 'https:' : 'http:'];
      return proxy === undefined || isDirect(url) ? undefined : proxy;
    },
    secrets: [...proxies.keys()].flatMap(proxySecrets),
  };
}

/** The password of a proxy, as it is in its URL and decoded. */
export function proxySecrets(url: string): readonly string[] {
  if (!URL.canParse(url)) return [];
  const { password } = new URL(url);
  return password === '' ? [] : [...new Set([password, decoded(password)])];
}

function parse(text: string): OutgoingProxy {
  const url = new URL(text);
  const secure = url.protocol === 'https:';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  const credentials = `${decoded(url.username)}:${decoded(url.password)}`;
  return {
    url: text,
    name: `${url.protocol}//${url.hostname}:${port}`,
    secure,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    authorization: url.username === '' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Hosts of this machine. */
const LOCAL = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * `NO_PROXY` as curl reads it: a list of names (with all names below them, whether or not they begin with a dot or `*.`), addresses and ranges,
 * each with a port if it is for that port only; `*` for all hosts.
 */
function createExceptions(list: string): (url: URL) => boolean {
  const entries = list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '');
  if (entries.includes('*')) return () => true;
  const ranges = entries.filter((entry) => !('problem' in canonicalRange(entry)));
  const isInRange = createAddressList(ranges);
  const names = entries
    .filter((entry) => !ranges.includes(entry))
    .map((entry) => {
      const [, name = '', port] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(entry)!;
      return { name: name.replace(/\.$/, ''), port };
    });
  return ({ protocol, hostname, port }) => {
    if (LOCAL.test(hostname)) return true;
    const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
    if (isIP(host) !== 0 && isInRange(host)) return true;
    const usedPort = port === '' ? (protocol === 'https:' || protocol === 'wss:' ? '443' : '80') : port;
    return names.some(
      ({ name, port: only }) =>
        (only === undefined || only === usedPort) && (host === name || hostname === name || host.endsWith(`.${name}`)),
    );
  };
}
