/** OAuth flows: the authorization request, and the validation of the callback. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { OAuth, OAuthIntent } from '../../core/contracts/oauth.ts';
import { Tickets } from '../../core/contracts/sessions.ts';
import type { Site } from '../../core/contracts/site.ts';
import type { Host } from '../../core/plugin.ts';
import { errors } from './errors.ts';
import { NotAccepted, type Provider } from './provider.ts';

const FLOW_MS = 600_000;

/** The part of the service about flows. */
export type Flows = Pick<OAuth, 'begin' | 'finish'>;

/** The encrypted content of a flow's ticket. */
interface Begun {
  readonly provider: string;
  readonly intent: OAuthIntent;
  readonly verifier: string;
  readonly nonce: string;
  /** The hash of the cookie in the browser that began the flow. */
  readonly browser: string;
  /** The code of an invitation; empty: none. */
  readonly invitation: string;
}

/** Creates it. `providerOf` refuses providers that are not configured. */
export function createFlows(host: Host, site: () => Site, providerOf: (name: string) => Provider): Flows {
  const tickets = host.use(Tickets);
  const redirectUri = (name: string): string => `${site().root}/api/oauth/${name}`;

  /** Runs a request to a provider; failures of the provider are not the user's fault. */
  async function playing<T>(name: string, part: () => Promise<T>): Promise<T> {
    try {
      return await part();
    } catch (error) {
      if (error instanceof NotAccepted)
        throw error.code === 'oauth_code'
          ? errors.oauth_code(error.message)
          : coreErrors.oauth_state(`This sign-in cannot be completed: ${error.message}. Start again.`);
      host.log.warn('a sign-in failed at its provider', { provider: name, error });
      throw errors.oauth_provider_failed(name);
    }
  }

  return {
    async begin(name, intent, accountId, invitation = '') {
      const provider = providerOf(name);
      const [verifier, nonce, binding] = [random(), random(), random()];
      const begun: Begun = { provider: name, intent, verifier, nonce, browser: sha256(binding), invitation };
      const expiresMs = host.clock.now() + FLOW_MS;
      const state = await tickets.issue('oauth', { accountId, data: { ...begun }, forMs: FLOW_MS });
      const challenge = hash('sha256', verifier, 'base64url');
      const url = await playing(name, () =>
        provider.begin({ state, nonce, challenge, redirectUri: redirectUri(name) }),
      );
      return { url: url.href, state, binding, expiresMs };
    },

    async finish(name, { state, code, binding, iss }) {
      const provider = providerOf(name);
      const ticket = await tickets.take('oauth', state);
      const begun = ticket?.data as Begun | undefined;
      if (begun?.provider !== name || !timingSafeEqual(Buffer.from(begun.browser), Buffer.from(sha256(binding))))
        throw coreErrors.oauth_state(
          'This sign-in was not started in this browser or with this provider, or has expired. Start again.',
        );
      const { verifier, nonce, intent, invitation } = begun;
      const at = new URL(redirectUri(name));
      for (const [key, value] of Object.entries({ code, state, iss }))
        if (value !== undefined) at.searchParams.set(key, value);
      const identity = await playing(name, () => provider.identify(at, { state, nonce, verifier }));
      return { intent, accountId: ticket?.accountId, identity: { provider: name, ...identity }, invitation };
    },
  };
}

/** 43 characters. */
function random(): string {
  return randomBytes(32).toString('base64url');
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
