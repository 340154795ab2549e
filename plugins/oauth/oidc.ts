/** OpenID Connect providers: discovery, authorization code with PKCE and nonce, validation of the ID token. */
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  ResponseBodyError,
} from 'openid-client';
import type { OAuthSettings } from '../../core/contracts/site.ts';
import type { Host } from '../../core/plugin.ts';
import { allowPlain, boundedFetch, NotAccepted, type Provider, TIMEOUT_S, textOf } from './provider.ts';

/** How long discovered metadata is cached. */
const FOUND_FOR_MS = 3_600_000;

/** Sends no request before the first sign-in. */
export function createOidc(
  settings: OAuthSettings & { readonly issuer: string },
  host: Pick<Host, 'clock' | 'fetch'>,
): Provider {
  const { clock } = host;
  const { id, secret, issuer } = settings;
  let discovered: { readonly at: number; readonly config: Promise<Configuration> } | undefined;

  function configuration(): Promise<Configuration> {
    if (discovered !== undefined && clock.mono() - discovered.at < FOUND_FOR_MS) return discovered.config;
    const config = discovery(
      new URL(issuer),
      id,
      secret === '' ? {} : { client_secret: secret },
      (server, ...rest) => {
        if (secret === '') return None()(server, ...rest);
        const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
        const method = methods.includes('client_secret_post') ? ClientSecretPost : ClientSecretBasic;
        return method(secret)(server, ...rest);
      },
      {
        [customFetch]: boundedFetch(host),
        timeout: TIMEOUT_S,
        execute: [...allowPlain(issuer), enableNonRepudiationChecks],
      },
    );
    discovered = { at: clock.mono(), config };
    // After a failure, the next sign-in tries again.
    config.catch(() => {
      discovered = undefined;
    });
    return config;
  }

  return {
    label: settings.label ?? new URL(issuer).hostname,

    async begin({ state, nonce, challenge, redirectUri }) {
      return buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: 'openid profile email',
        state,
        nonce,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      });
    },

    async identify(at, { state, nonce, verifier }) {
      const config = await configuration();
      const server = config.serverMetadata();
      const iss = at.searchParams.get('iss');
      // A code that another provider issued must not be sent to this one.
      if (iss === null ? server.authorization_response_iss_parameter_supported === true : iss !== server.issuer)
        throw new NotAccepted('oauth_state', 'it does not come from this provider');
      const tokens = await authorizationCodeGrant(config, at, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      }).catch((error: unknown) => {
        if (error instanceof ResponseBodyError && error.error === 'invalid_grant')
          throw new NotAccepted(
            'oauth_code',
            'the provider did not issue it for this request, or no longer accepts it',
          );
        throw error;
      });
      const claims = tokens.claims();
      const subject = textOf(claims?.sub);
      if (claims === undefined || subject === undefined) throw new Error('the ID token does not identify the user');
      const more =
        server.userinfo_endpoint === undefined ? {} : await fetchUserInfo(config, tokens.access_token, subject);
      const facts: Readonly<Record<string, unknown>> = { ...claims, ...more };
      const email = facts.email_verified === true ? textOf(facts.email) : undefined;
      const name =
        textOf(facts.preferred_username) ?? textOf(facts.nickname) ?? textOf(facts.name) ?? email?.split('@')[0] ?? '';
      return { subject, name, email };
    },
  };
}
