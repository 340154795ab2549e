/** What every provider of sign-in is to us, and how it is talked to: few seconds, small answers, no redirects. */
import { allowInsecureRequests, type Configuration, type CustomFetch } from 'openid-client';
import type { Identity } from '../../core/contracts/oauth.ts';

/** What a flow keeps to itself until the browser is back. */
export interface Secrets {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE. */
  readonly verifier: string;
}

/** A provider. What it throws is its fault, but for `NotAccepted`. */
export interface Provider {
  readonly label: string;
  /** Where to send the browser. `challenge`: the SHA-256 of the verifier. */
  begin(of: {
    readonly state: string;
    readonly nonce: string;
    readonly challenge: string;
    readonly redirectUri: string;
  }): Promise<URL>;
  /** Who came back. `at`: our own address, with what the provider added to it. Throws `NotAccepted` where that is no good. */
  identify(at: URL, secrets: Secrets): Promise<Omit<Identity, 'provider'>>;
}

/** It is not the provider that is wrong, but what the browser brought. */
export class NotAccepted extends Error {
  readonly code: 'oauth_state' | 'oauth_code';
  constructor(code: 'oauth_state' | 'oauth_code', message: string) {
    super(message);
    this.code = code;
  }
}

/** For one request to a provider. */
export const TIMEOUT_S = 10;
const MAX_BYTES = 256 * 1_024;

/** `fetch` with a limit to what it takes. */
export const boundedFetch: CustomFetch = async (url, options) => {
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
  return new Response(size === 0 ? null : Buffer.concat(chunks), { status, headers });
};

/** Whoever configures `http:` means it: a provider on the same machine, or in a network of its own. */
export function allowPlain(address: string): readonly ((config: Configuration) => void)[] {
  return address.startsWith('http:') ? [allowInsecureRequests] : [];
}

/** A text of at most so many characters, or nothing. */
export function textOf(value: unknown, longest = 255): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= longest ? value : undefined;
}
