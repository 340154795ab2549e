/** The fields of a browser's WebAuthn credential that are used; all others are dropped. */
import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { JsonObject } from '../../core/plugin.ts';
import { isObject } from '../../core/translation/index.ts';

/** The result of an authentication; undefined if it is malformed, or from a frame of another site. */
export function readAssertion(credential: JsonObject): AuthenticationResponseJSON | undefined {
  const common = readCommon(credential);
  if (common === undefined) return undefined;
  const { id, clientDataJSON, response } = common;
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

/** The result of a registration; undefined as above. */
export function readAttestation(credential: JsonObject): RegistrationResponseJSON | undefined {
  const common = readCommon(credential);
  if (common === undefined) return undefined;
  const { id, clientDataJSON, response } = common;
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

/** Whether our page was in a frame of another site; the library accepts some of those. */
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

const readTransports = (transports: unknown): AuthenticatorTransport[] =>
  Array.isArray(transports)
    ? TRANSPORTS.filter((transport): transport is AuthenticatorTransport => transports.includes(transport))
    : [];
