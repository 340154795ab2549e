/** The interface of OAuth providers, and a client for them: short timeouts, small responses, no redirects. */
import { allowInsecureRequests, type Configuration, type CustomFetch } from 'openid-client';
import type { Identity } from '../../core/contracts/oauth.ts';
import type { Host } from '../../core/plugin.ts';

/** The secrets of a flow that never leave the gateway. */
export interface Secrets {
  readonly state: string;
  readonly nonce: string;
  /** The PKCE code verifier. */
  readonly verifier: string;
}

/** A provider. Its errors are the provider's fault, except `NotAccepted`. */
export interface Provider {
  readonly label: string;
  /** The authorization URL. `challenge`: the SHA-256 of the verifier. */
  begin(of: {
    readonly state: string;
    readonly nonce: string;
    readonly challenge: string;
    readonly redirectUri: string;
  }): Promise<URL>;
  /** The identity of the user. `at`: the callback URL with the provider's parameters. Throws `NotAccepted` if these are invalid. */
  identify(at: URL, secrets: Secrets): Promise<Omit<Identity, 'provider'>>;
}

/** The provider works, but the callback is invalid. */
export class NotAccepted extends Error {
  readonly code: 'oauth_state' | 'oauth_code';
  constructor(code: 'oauth_state' | 'oauth_code', message: string) {
    super(message);
    this.code = code;
  }
}

/** The timeout of a request to a provider. */
export const TIMEOUT_S = 10;
const MAX_BYTES = 256 * 1_024;

/** `fetch` with a maximum response size. */
export function boundedFetch({ fetch }: Pick<Host, 'fetch'>): CustomFetch {
  return async (url, options) => {
    const response = await fetch(url, {
      ...options,
      headers: { ...options.headers, 'user-agent': 'turnpike' },
      redirect: 'manual',
      ...(options.body === undefined ? { body: null } : { body: options.body as RequestInit['body'] & {} }),
    });
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > MAX_BYTES) throw new Error(`the answer is larger than ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
    const { status, headers } = response;
    return new Response(size === 0 ? null : Buffer.concat(chunks), { status, headers: [...headers] });
  };
}

/** An `http:` issuer was configured on purpose: a provider on the same machine, or in a private network. */
export function allowPlain(address: string): readonly ((config: Configuration) => void)[] {
  return address.startsWith('http:') ? [allowInsecureRequests] : [];
}

/** A text of limited length, or undefined. */
export function textOf(value: unknown, longest = 255): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= longest ? value : undefined;
}
