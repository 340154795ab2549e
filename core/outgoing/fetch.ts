/** Requests to servers that the operator has chosen, except vendors: through the outgoing proxy, if there is one. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Host } from '../contracts/host.ts';
import type { OutgoingProxies } from '../upstream/proxy.ts';
import { tunnelling } from '../upstream/tunnel.ts';

/** Creates `Host.agent`. */
export function createAgents(proxies: OutgoingProxies): Host['agent'] {
  return (url) => {
    const address = new URL(url);
    const Agent = address.protocol === 'https:' ? HttpsAgent : HttpAgent;
    const agent = new Agent({ keepAlive: true });
    const proxy = proxies.for(address);
    return proxy === undefined ? agent : tunnelling(agent, proxy);
  };
}

/** Creates `Host.fetch`. */
export function createFetch(proxies: OutgoingProxies): Host['fetch'] {
  return async (url, init) => {
    const address = new URL(url);
    const proxy = proxies.for(address);
    if (proxy === undefined)
      return fetch(url, init).catch((error: unknown) => Promise.reject(withPort(error, address)));
    // Few gateways have a proxy: undici is loaded on first use.
    const { ProxyAgent, fetch: fetchWith } = await import('undici');
    const { href: uri } = new URL('/', proxy.name);
    const dispatcher = new ProxyAgent({ uri, ...(proxy.authorization && { token: proxy.authorization }) });
    const options = { ...init, dispatcher } as Parameters<typeof fetchWith>[1];
    // Its connections are closed when the last answer has been read.
    return fetchWith(url, options).finally(
      () => void dispatcher.close().catch(() => {}),
    ) as unknown as Promise<Response>;
  };
}

/** `fetch` refuses the ports of other protocols, with words that say neither the port nor what to do. */
function withPort(error: unknown, { hostname, port }: URL): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error) || cause.message !== 'bad port') return error;
  return new TypeError(
    `${hostname} cannot be reached at port ${port}: fetch refuses ports of other protocols; use another one, or host.agent with node:http`,
    { cause: error },
  );
}
