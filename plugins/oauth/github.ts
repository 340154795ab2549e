/** GitHub, which supports OAuth but not OpenID Connect: the user is read from its API. */
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  customFetch,
  fetchProtectedResource,
  ResponseBodyError,
} from 'openid-client';
import type { OAuthSettings } from '../../core/contracts/site.ts';
import type { Host } from '../../core/plugin.ts';
import { allowPlain, boundedFetch, NotAccepted, type Provider, TIMEOUT_S, textOf } from './provider.ts';

/** The usual server. */
export const PUBLIC = 'https://github.com';

/** `issuer`: a GitHub Enterprise server, `https://github.example.com`. */
export function createGithub(
  { id, secret, issuer, label = 'GitHub' }: OAuthSettings,
  host: Pick<Host, 'fetch'>,
): Provider {
  const base = (issuer ?? PUBLIC).replace(/\/+$/, '');
  const api = base === PUBLIC ? 'https://api.github.com' : `${base}/api/v3`;
  const config = new Configuration(
    {
      issuer: base,
      authorization_endpoint: `${base}/login/oauth/authorize`,
      token_endpoint: `${base}/login/oauth/access_token`,
    },
    id,
    { client_secret: secret },
    ClientSecretPost(secret),
  );
  config[customFetch] = sayingNo(boundedFetch(host));
  config.timeout = TIMEOUT_S;
  for (const allow of allowPlain(base)) allow(config);

  async function ask(path: string, token: string): Promise<unknown> {
    const accept = new Headers({ accept: 'application/vnd.github+json' });
    const response = await fetchProtectedResource(config, token, new URL(api + path), 'GET', undefined, accept);
    return response.status === 200 ? response.json() : undefined;
  }

  return {
    label,

    async begin({ state, challenge, redirectUri }) {
      return buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'read:user user:email',
        state,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      });
    },

    async identify(at, { state, verifier }) {
      at.searchParams.delete('iss');
      const tokens = await authorizationCodeGrant(config, at, {
        expectedState: state,
        pkceCodeVerifier: verifier,
      }).catch((error: unknown) => {
        if (error instanceof ResponseBodyError && /^(bad_verification_code|invalid_grant)$/.test(error.error))
          throw new NotAccepted(
            'oauth_code',
            'the provider did not issue it for this request, or no longer accepts it',
          );
        throw error;
      });
      const user = (await ask('/user', tokens.access_token)) as { readonly id?: unknown; readonly login?: unknown };
      // User names can be transferred; the numeric id is permanent.
      if (!Number.isSafeInteger(user?.id)) throw new Error('it does not identify the user');
      const emails = await ask('/user/emails', tokens.access_token);
      return { subject: `${user.id}`, name: textOf(user.login) ?? '', email: primary(emails) };
    },
  };
}

/** GitHub reports errors with status 200, which the library reads as a success without a token. */
function sayingNo(fetch: CustomFetch): CustomFetch {
  return async (url, options) => {
    const response = await fetch(url, options);
    if (response.status !== 200 || !url.endsWith('/access_token')) return response;
    const text = await response.text();
    const refused = /^\s*\{/.test(text) && 'error' in (JSON.parse(text) as object);
    return new Response(text, { status: refused ? 400 : 200, headers: response.headers });
  };
}

/** The primary address, if it is verified. */
function primary(emails: unknown): string | undefined {
  if (!Array.isArray(emails)) return undefined;
  const primaryEmail = emails.find((entry) => entry?.primary === true && entry.verified === true);
  return textOf(primaryEmail?.email);
}
