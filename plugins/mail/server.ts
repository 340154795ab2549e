/** The mail server: one letter, one connection, and a limit to every wait. */
import type { Transporter } from 'nodemailer';
import type { Letter } from '../../core/contracts/mail.ts';

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;

/** Somebody who takes letters. */
export interface Server {
  /** `mail.example.com`, for people. */
  readonly name: string;
  /** What must not be logged. */
  readonly secrets: readonly string[];
  /** Resolves when the server has it. */
  deliver(letter: Letter): Promise<void>;
}

/** The server at `smtp:` or `smtps:`; undefined where that is no address. */
export function createServer(address: string, from: string): Server | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  /** Made for the first letter: many gateways write none, and the library is a large one. */
  let transport: Promise<Transporter> | undefined;
  return {
    name: url.host,
    secrets: [url.password, decoded(url.password)].filter((secret) => secret !== ''),
    async deliver({ to, subject, text }) {
      transport ??= transportTo(address, url);
      await (await transport).sendMail({
        from,
        // As an object, it is read by nobody as a list of several.
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
    // What its query says goes before everything below: `?requireTLS=false`.
    url: address,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // A password is not told to whoever stands in between and says that there is no TLS.
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
