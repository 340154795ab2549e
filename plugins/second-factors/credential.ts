/** What a browser says of a credential, as far as it is looked at: nothing else of it goes any further. */
import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { JsonObject } from '../../core/plugin.ts';
import { isObject } from '../../core/translation/index.ts';

/** The answer to a question who somebody is; undefined where it has not that shape, or comes from a frame of another site. */
export function readAssertion(credential: JsonObject): AuthenticationResponseJSON | undefined {
  const said = readCommon(credential);
  if (said === undefined) return undefined;
  const { id, clientDataJSON, response } = said;
  const { authenticatorData, signature, userHandle } = response;
  if (typeof authenticatorData !== 'string' || typeof signature !== 'string') return undefined;
  return {
    ...whole(id),
    response: {
      clientDataJSON,
      authenticatorData,
      signature,
      ...(typeof userHandle === 'string' && { userHandle }),
    },
  };
}

/** The answer to a wish for a new credential; undefined as above. */
export function readAttestation(credential: JsonObject): RegistrationResponseJSON | undefined {
  const said = readCommon(credential);
  if (said === undefined) return undefined;
  const { id, clientDataJSON, response } = said;
  const { attestationObject, transports } = response;
  if (typeof attestationObject !== 'string') return undefined;
  return {
    ...whole(id),
    response: { clientDataJSON, attestationObject, transports: readTransports(transports) },
  };
}

const whole = (id: string) => ({ id, rawId: id, type: 'public-key', clientExtensionResults: {} }) as const;

function readCommon(
  credential: JsonObject,
): { readonly id: string; readonly clientDataJSON: string; readonly response: JsonObject } | undefined {
  const { id, rawId, type, response } = credential;
  if (typeof id !== 'string' || id !== rawId || type !== 'public-key' || !isObject(response)) return undefined;
  const { clientDataJSON } = response;
  if (typeof clientDataJSON !== 'string' || fromStrangeFrame(clientDataJSON)) return undefined;
  return { id, clientDataJSON, response };
}

/** True where our page was in a frame of another site; the library lets some of those pass. */
function fromStrangeFrame(clientDataJSON: string): boolean {
  try {
    const { crossOrigin } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as {
      crossOrigin?: unknown;
    };
    return crossOrigin === true;
  } catch {
    return true;
  }
}

const TRANSPORTS: readonly string[] = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

const readTransports = (said: unknown): AuthenticatorTransport[] =>
  Array.isArray(said) ? TRANSPORTS.filter((known): known is AuthenticatorTransport => said.includes(known)) : [];
