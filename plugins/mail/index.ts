/** Mail: letters to people, through a server of yours, or into the log where there is none. */
import { Mail } from '../../core/contracts/mail.ts';
import { Site } from '../../core/contracts/site.ts';
import { definePlugin, type Parts } from '../../core/plugin.ts';
import { isAddress, plainLine } from './letter.ts';
import { createQueue } from './queue.ts';
import { mailSection } from './section.ts';
import { createServer } from './server.ts';

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
          host.log.info('a letter stays here, for no mail server is configured (mail.smtp)', { to, subject, text });
        },
      });
      const about = 'letters are written to the log, with their links for new passwords and their codes in clear';
      const warning = `mail.smtp: no server is configured: ${about}; whoever reads the log can use them`;
      const isPublic = (): boolean => host.find(Site)?.local === false;
      return {
        report: () => [isPublic() ? `warning: ${warning}` : `${about}: no server is configured`],
        start: () => (isPublic() ? host.log.warn(warning) : undefined),
      };
    }

    if (!isAddress(/<([^<>]*)>\s*$/.exec(from)?.[1] ?? from))
      host.problem(['mail', 'from'], 'must be an e-mail address: servers take no letter that is from nobody');
    const server = createServer(smtp, from);
    if (server === undefined) host.problem(['mail', 'smtp'], 'is not an address');
    for (const secret of server?.secrets ?? []) host.log.hide(secret);
    const queue = createQueue(host, (letter) => server!.deliver(letter));
    host.provide(Mail, {
      delivers: true,
      async send({ to, subject, text }) {
        if (!isAddress(to)) throw new Error('the receiver of a letter is no e-mail address');
        await queue.send({ to, subject: plainLine(subject), text });
      },
    });
    return { report: () => [`letters go to ${server?.name}`], stop: queue.stop };
  },
});
