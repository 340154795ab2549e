/** Email: sends messages through an SMTP server, or writes them to the log if there is none. */
import { Mail } from '../../core/contracts/mail.ts';
import { Site } from '../../core/contracts/site.ts';
import { definePlugin, type Parts, typed } from '../../core/plugin.ts';
import { createQueue, createServer } from './queue.ts';

const mailSection = typed({
  type: 'object',
  additionalProperties: false,
  properties: {
    smtp: {
      description:
        'The SMTP server: `smtps://name:password@mail.example.com`, or `smtp://…:587`. Empty: emails are written to the log.',
      type: 'string',
      pattern: '^$|^smtps?://[^\\s]+$',
      default: '',
    },
    from: {
      description: 'The sender: `Turnpike <no-reply@example.com>`.',
      type: 'string',
      maxLength: 200,
      default: '',
    },
  },
  default: {},
});

/** No spaces, brackets, quotes or second address; ASCII only, so that no two addresses look the same. */
const ADDRESS = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/i;
const LONGEST = 254;

/** Whether a text is exactly one email address. */
function isAddress(text: string): boolean {
  return text.length <= LONGEST && ADDRESS.test(text);
}

/** A single line: control characters become spaces. */
function plainLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

export default definePlugin({
  name: 'mail',
  api: 2,
  sections: { mail: mailSection },
  wants: [Site],
  provides: [Mail],
  create(host, { mail: { smtp, from } }): Parts {
    if (smtp === '') {
      host.provide(Mail, {
        delivers: false,
        async send({ to, subject, text }) {
          host.log.info('email not sent: no mail server is configured (mail.smtp)', { to, subject, text });
        },
      });
      const about = 'emails are written to the log, including password reset links and codes in clear';
      const warning = `mail.smtp: no server is configured: ${about}; anyone who reads the log can use them`;
      const isPublic = (): boolean => host.find(Site)?.local === false;
      return {
        report: () => [isPublic() ? `warning: ${warning}` : `${about}: no server is configured`],
        start: () => (isPublic() ? host.log.warn(warning) : undefined),
      };
    }

    if (!isAddress(/<([^<>]*)>\s*$/.exec(from)?.[1] ?? from))
      host.problem(['mail', 'from'], 'must be an email address: servers require a sender');
    const server = createServer(smtp, from);
    if (server === undefined) host.problem(['mail', 'smtp'], 'is not an address');
    for (const secret of server?.secrets ?? []) host.log.hide(secret);
    const queue = createQueue(host, (letter) => server!.deliver(letter));
    host.provide(Mail, {
      delivers: true,
      async send({ to, subject, text, isQuiet }) {
        if (!isAddress(to)) throw new Error('the receiver is not an email address');
        await queue.send({ to, subject: plainLine(subject), text, ...(isQuiet && { isQuiet }) });
      },
    });
    return {
      report: () => [`emails are sent through ${server?.name}`],
      async diagnose() {
        const topic = 'mail';
        try {
          await server!.verify();
          return [{ topic, level: 'ok', text: `${server!.name} answers and accepts the password` }];
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error);
          const advice = 'correct mail.smtp in gateway.yaml, or ask the operator of the mail server';
          return [{ topic, level: 'problem', text: `${server!.name}: ${reason}`, advice }];
        }
      },
      stop: queue.stop,
    };
  },
});
