/** An authenticator in software, and the browser around it: it answers WebAuthn options, rightly or with one lie. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';

/** What to say in place of what is true. */
export interface Lies {
  /** The page that asks. */
  readonly origin?: string;
  /** The site the key is for. */
  readonly rpId?: string;
  readonly challenge?: string;
  /** `webauthn.get` where `webauthn.create` is meant, and the other way round. */
  readonly type?: string;
  /** The page is in a frame of another site. */
  readonly crossOrigin?: boolean;
  /** False: nobody showed a finger or typed a PIN. */
  readonly verified?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
  /** The id of another credential. */
  readonly id?: string;
  /** True: one bit of it is wrong. */
  readonly badSignature?: boolean;
}

/** One authenticator, with one passkey once it has made one. */
export interface Authenticator {
  /** How often it has signed. */
  counter: number;
  /** Answers `navigator.credentials.create`. */
  create(options: unknown, lies?: Lies): JsonObject;
  /** Answers `navigator.credentials.get`. */
  get(options: unknown, lies?: Lies): JsonObject;
}

interface Options {
  readonly challenge: string;
  readonly rp?: { readonly id: string };
  readonly rpId?: string;
  readonly user?: { readonly id: string };
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

/** A new one, in a browser that shows the page `origin`. `credentialId`: in place of a random one. */
export function authenticator(origin: string, credentialId = randomBytes(16).toString('base64url')): Authenticator {
  let key: KeyObject | undefined;
  let handle: string | undefined;

  function clientData(type: string, challenge: string, lies: Lies): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: lies.type ?? type,
        challenge: lies.challenge ?? challenge,
        origin: lies.origin ?? origin,
        crossOrigin: lies.crossOrigin ?? false,
      }),
    );
  }

  function authenticatorData(rpId: string, lies: Lies, credential = Buffer.alloc(0)): Buffer {
    self.counter += 1;
    const flags =
      USER_PRESENT | (lies.verified === false ? 0 : USER_VERIFIED) | (credential.length > 0 ? HAS_CREDENTIAL : 0);
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(lies.counter ?? self.counter);
    return Buffer.concat([sha256(lies.rpId ?? rpId), Buffer.of(flags), counter, credential]);
  }

  const whole = (lies: Lies, response: JsonObject): JsonObject => ({
    id: lies.id ?? credentialId,
    rawId: lies.id ?? credentialId,
    type: 'public-key',
    authenticatorAttachment: 'platform',
    clientExtensionResults: {},
    response,
  });

  const self: Authenticator = {
    counter: 0,

    create(given, lies = {}) {
      const options = given as Options;
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      key = pair.privateKey;
      handle = options.user?.id;
      const id = Buffer.from(credentialId, 'base64url');
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const credential = Buffer.concat([Buffer.alloc(16), length, id, coseKey(pair.publicKey)]);
      return whole(lies, {
        clientDataJSON: clientData('webauthn.create', options.challenge, lies).toString('base64url'),
        attestationObject: attestation(authenticatorData(options.rp?.id ?? '', lies, credential)).toString('base64url'),
        transports: ['internal', 'hybrid'],
      });
    },

    get(given, lies = {}) {
      const options = given as Options;
      if (key === undefined) throw new Error('this authenticator has no passkey');
      const client = clientData('webauthn.get', options.challenge, lies);
      const data = authenticatorData(options.rpId ?? '', lies);
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), key);
      // The last byte belongs to a number: it stays well-formed.
      if (lies.badSignature === true) signature[signature.length - 1]! ^= 1;
      return whole(lies, {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: lies.userHandle ?? handle ?? '',
      });
    },
  };
  return self;
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

/** A public key as COSE spells it: `{1: 2, 3: -7, -1: 1, -2: x, -3: y}` in CBOR. */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const bytes = (text: string): Buffer => Buffer.concat([Buffer.of(0x58, 0x20), Buffer.from(text, 'base64url')]);
  const head = Buffer.of(0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01);
  return Buffer.concat([head, Buffer.of(0x21), bytes(x), Buffer.of(0x22), bytes(y)]);
}

/** `{fmt: "none", attStmt: {}, authData: …}` in CBOR. */
function attestation(data: Buffer): Buffer {
  const text = (word: string): Buffer => Buffer.concat([Buffer.of(0x60 + word.length), Buffer.from(word)]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(data.length);
  return Buffer.concat([
    Buffer.of(0xa3),
    text('fmt'),
    text('none'),
    text('attStmt'),
    Buffer.of(0xa0),
    text('authData'),
    Buffer.of(0x59),
    length,
    data,
  ]);
}
