/** TOTP codes: SHA-1, six digits, thirty seconds, which all authenticators support. */
import { generateSecret, generateURI, verifySync } from 'otplib';

const SECRET_BYTES = 20;
/** Tolerates a clock that is one step off, and the time to type. */
const TOLERANCE_SECONDS = 30;
const CODE = /^[0-9]{6}$/;

/** Creates a secret: 20 random bytes in base32. */
export function newTotpSecret(): string {
  return generateSecret({ length: SECRET_BYTES });
}

/** The time step of a code, at most one step from now; undefined for wrong codes of any form. */
export function stepOfCode(secret: string, code: string, nowMs: number): number | undefined {
  // The library throws for malformed codes.
  if (!CODE.test(code)) return undefined;
  const result = verifySync({
    secret,
    token: code,
    epoch: Math.floor(nowMs / 1_000),
    epochTolerance: TOLERANCE_SECONDS,
  });
  return result.valid && 'timeStep' in result ? result.timeStep : undefined;
}

/** The otpauth URL of a secret and its QR code (an SVG document). */
export async function totpCard(
  issuer: string,
  name: string,
  secret: string,
): Promise<{ readonly uri: string; readonly qr: string }> {
  const uri = generateURI({ issuer, label: name, secret, algorithm: 'sha1', digits: 6, period: 30 });
  // Loaded on demand.
  const { default: qrcode } = await import('qrcode');
  return { uri, qr: await qrcode.toString(uri, { type: 'svg' }) };
}
