/** The SMTP client: one connection per email, and a timeout for every step. */
import type { Transporter } from 'nodemailer';
import type { Letter } from '../../core/contracts/mail.ts';

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;

/** A mail server. */
export interface Server {
  /** `mail.example.com`, for display. */
  readonly name: string;
  /** Values to be masked in the log. */
  readonly secrets: readonly string[];
  /** Resolves when the server has accepted the email. */
  deliver(letter: Letter): Promise<void>;
}

/** The server at an `smtp:` or `smtps:` URL; undefined for invalid URLs. */
export function createServer(address: string, from: string): Server | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  /** Loaded for the first email: the library is large, and many gateways send none. */
  let transport: Promise<Transporter> | undefined;
  return {
    name: url.host,
    secrets: [url.password, decoded(url.password)].filter((secret) => secret !== ''),
    async deliver({ to, subject, text }) {
      transport ??= transportTo(address, url);
      await (await transport).sendMail({
        from,
        // As an object, the address cannot be parsed as a list.
        to: { name: '', address: to },
        subject,
        text,
        headers: { 'auto-submitted': 'auto-generated' },
      });
    },
  };
}

async function transportTo(address: string, url: URL): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    // Parameters of the URL have precedence over everything below: `?requireTLS=false`.
    url: address,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // Without TLS no password is sent, so that an attacker who strips TLS does not get it.
    requireTLS: url.password !== '' && !['localhost', '127.0.0.1', '[::1]'].includes(url.hostname),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
