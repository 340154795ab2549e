/** The queue of outgoing emails: a few at once, a few attempts each, and a bounded number that wait; and the SMTP server that gets them. */

import type { Transporter } from 'nodemailer';
import type { Letter } from '../../core/contracts/mail.ts';
import type { Host } from '../../core/plugin.ts';

const AT_ONCE = 4;
const MOST_WAITING = 200;
/** Pauses between attempts. */
const PAUSES_MS = [2_000, 10_000];

/** Creates the queue for `deliver`. */
export function createQueue({ clock, log }: Host, deliver: (letter: Letter) => Promise<void>) {
  const line: (() => void)[] = [];
  const underWay = new Set<Promise<void>>();
  const pausing = new Set<() => void>();
  let busy = 0;
  let stopped = false;

  function pause(ms: number): Promise<void> {
    if (stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const goOn = (): void => {
        cancel();
        pausing.delete(goOn);
        resolve();
      };
      const cancel = clock.after(ms, goOn);
      pausing.add(goOn);
    });
  }

  async function tryAll(letter: Letter): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        return await deliver(letter);
      } catch (error) {
        const waitMs = PAUSES_MS[tries];
        if (waitMs === undefined || isFinal(error)) {
          log.warn('could not send an email', { to: letter.to, subject: letter.subject, error });
          throw error;
        }
        await pause(waitMs);
      }
    }
  }

  async function inTurn(letter: Letter): Promise<void> {
    if (busy < AT_ONCE) busy++;
    else await new Promise<void>((resolve) => line.push(resolve));
    try {
      await tryAll(letter);
    } finally {
      // The next email takes over this slot.
      const next = line.shift();
      if (next === undefined) busy--;
      else next();
    }
  }

  return {
    /** Resolves when the email was delivered; rejects if that failed permanently, which is logged, or if too many wait. */
    async send(letter: Letter): Promise<void> {
      if (stopped || line.length >= MOST_WAITING) {
        log.warn('email not sent: too many emails are waiting', { to: letter.to, subject: letter.subject });
        throw new Error('too many emails are waiting');
      }
      const sending = inTurn(letter);
      const settled = sending.catch(() => {}).finally(() => underWay.delete(settled));
      underWay.add(settled);
      return sending;
    },
    /** Rejects new emails; resolves when every waiting one was tried once more, without pauses. */
    async stop(): Promise<void> {
      stopped = true;
      for (const goOn of [...pausing]) goOn();
      await Promise.all(underWay);
    },
  };
}

/** The server refused permanently (5xx). */
function isFinal(error: unknown): boolean {
  const { responseCode } = error as { readonly responseCode?: number };
  return responseCode !== undefined && responseCode >= 500;
}

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;

/** A mail server. */
interface Server {
  /** `mail.example.com`, for display. */
  readonly name: string;
  /** Values to be masked in the log. */
  readonly secrets: readonly string[];
  /** Connects and signs in, and sends nothing. Rejects if that fails. */
  verify(): Promise<void>;
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
    async verify() {
      transport ??= transportTo(address, url);
      await (await transport).verify();
    },
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
