/** Warnings about the gateway's address for a client. */
import type { CallsFrom } from './recipe.ts';

/** `cloud`, `container`: unreachable from there. `insecure`: reachable, but unencrypted. */
export type Warning = 'cloud' | 'container' | 'insecure';

/** The most severe warning; undefined if there is none. */
export function warningOf(calls: CallsFrom, root: string): Warning | undefined {
  const { hostname, protocol } = new URL(root);
  const local = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  if (calls === 'cloud') return local || isPrivate(hostname) || protocol !== 'https:' ? 'cloud' : undefined;
  if (local) return calls === 'container' ? 'container' : undefined;
  return protocol === 'https:' ? undefined : 'insecure';
}

/** Addresses of private networks. */
function isPrivate(hostname: string): boolean {
  return (
    /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|\[f[cd])/.test(hostname) ||
    /\.(local|internal|lan|home\.arpa)$/.test(hostname) ||
    !/[.:]/.test(hostname)
  );
}
