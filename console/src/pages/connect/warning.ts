/** What is wrong with an address for whoever calls it. */
import type { CallsFrom } from './recipe.ts';

/** `cloud`, `container`: it cannot be reached from there. `insecure`: it can, by everybody on the way, too. */
export type Warning = 'cloud' | 'container' | 'insecure';

/** The gravest; undefined where there is none. */
export function warningOf(calls: CallsFrom, root: string): Warning | undefined {
  const { hostname, protocol } = new URL(root);
  const local = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  if (calls === 'cloud') return local || isPrivate(hostname) || protocol !== 'https:' ? 'cloud' : undefined;
  if (local) return calls === 'container' ? 'container' : undefined;
  return protocol === 'https:' ? undefined : 'insecure';
}

/** Addresses of networks that the world does not see. */
function isPrivate(hostname: string): boolean {
  return (
    /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|\[f[cd])/.test(hostname) ||
    /\.(local|internal|lan|home\.arpa)$/.test(hostname) ||
    !/[.:]/.test(hostname)
  );
}
