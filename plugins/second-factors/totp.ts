/** The codes of an authenticator: SHA-1, six digits, thirty seconds, which is what all of them can do. */
import { generateSecret, generateURI, verifySync } from 'otplib';

const SECRET_BYTES = 20;
/** A clock may be one step off, and people take their time to type. */
const TOLERANCE_SECONDS = 30;
const CODE = /^[0-9]{6}$/;

/** A secret for an authenticator: 20 random bytes in base32. */
export function newTotpSecret(): string {
  return generateSecret({ length: SECRET_BYTES });
}

/** The time step whose code that is, now or a step away; undefined where it is wrong, whatever it looks like. */
export function stepOfCode(secret: string, code: string, nowMs: number): number | undefined {
  // The library throws at what is no code at all.
  if (!CODE.test(code)) return undefined;
  const found = verifySync({
    secret,
    token: code,
    epoch: Math.floor(nowMs / 1_000),
    epochTolerance: TOLERANCE_SECONDS,
  });
  return found.valid && 'timeStep' in found ? found.timeStep : undefined;
}

/** How an authenticator takes a secret over: as an address, and as a picture of it (an SVG document). */
export async function totpCard(
  issuer: string,
  name: string,
  secret: string,
): Promise<{ readonly uri: string; readonly qr: string }> {
  const uri = generateURI({ issuer, label: name, secret, algorithm: 'sha1', digits: 6, period: 30 });
  // Loaded by those few who set an authenticator up.
  const { default: qrcode } = await import('qrcode');
  return { uri, qr: await qrcode.toString(uri, { type: 'svg' }) };
}
