/** Passkeys in the browser: whether they work at this address, and their ceremonies. */
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser';
import { Refusal } from './client.ts';
import { type Status, useStatus } from './hooks.ts';
import type { PasskeyCeremony } from './operations.ts';

/**
 * `ready`, or why not: the gateway offers `none`; the page uses plain http (`insecure`); passkeys belong to another address
 * (`other-origin`); the browser does not support them (`unsupported`).
 */
export type PasskeyState = 'ready' | 'none' | 'insecure' | 'other-origin' | 'unsupported';

/** Whether passkeys work here, and `home`, the address that they belong to. Undefined while loading. */
export function usePasskeyState(): { readonly state: PasskeyState; readonly home: string } | undefined {
  const status = useStatus();
  if (status === undefined) return undefined;
  return { state: stateOf(status), home: `${status.server_address}/console/` };
}

function stateOf({ passkey_login, passkey_rp_id: id, passkey_origins: origins }: Status): PasskeyState {
  if (!passkey_login) return 'none';
  if (!origins.split(',').includes(location.origin) || !isBelow(location.hostname, id)) return 'other-origin';
  if (!window.isSecureContext) return 'insecure';
  return window.PublicKeyCredential === undefined ? 'unsupported' : 'ready';
}

/** True for a domain and its subdomains. IP addresses never have passkeys. */
function isBelow(host: string, domain: string): boolean {
  return !/^[\d.]+$|^\[/.test(host) && (host === domain || host.endsWith(`.${domain}`));
}

type Ceremony = PasskeyCeremony;

/** Asks the browser for an existing passkey, for `finish`. Rejects with a `Refusal`. */
export async function showPasskey({ options, flow_token }: Ceremony): Promise<{
  readonly flow_token: string;
  readonly credential: AuthenticationResponseJSON;
}> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  const optionsJSON = options.publicKey as PublicKeyCredentialRequestOptionsJSON;
  return { flow_token, credential: await withRefusals(startAuthentication({ optionsJSON })) };
}

/** Asks the browser to create a passkey, for `finish`. Rejects with a `Refusal`. */
export async function makePasskey({ options, flow_token }: Ceremony): Promise<{
  readonly flow_token: string;
  readonly credential: RegistrationResponseJSON;
}> {
  const { startRegistration } = await import('@simplewebauthn/browser');
  const optionsJSON = options.publicKey as PublicKeyCredentialCreationOptionsJSON;
  return { flow_token, credential: await withRefusals(startRegistration({ optionsJSON })) };
}

/** Converts errors of the browser (closed dialogs, authenticator errors) into refusals. */
async function withRefusals<T>(ceremony: Promise<T>): Promise<T> {
  try {
    return await ceremony;
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    if (name === 'NotAllowedError' || name === 'AbortError')
      throw new Refusal(0, 'passkey_not_shown', 'No passkey was shown. Try again.');
    if (name === 'InvalidStateError')
      throw new Refusal(0, 'passkey_known', 'This device or security key has a passkey for your account already.');
    throw new Refusal(0, 'passkey_failed', `The browser could not do it: ${message}`);
  }
}
