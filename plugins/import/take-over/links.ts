/** Links for a new password, for users whose old one cannot be used here. */
import { Tickets } from '../../../core/contracts/sessions.ts';
import { Site } from '../../../core/contracts/site.ts';
import type { ForeignUser } from '../inventory.ts';
import { unhurried } from '../unhurried.ts';
import { givesLinks, hasOldPassword } from './identities.ts';
import type { Run } from './run.ts';

/** How long a link is valid. */
const LINK_MS = 7 * 86_400_000;

/**
 * Hands out a link to every user who needs one and has an email address. Without a console there are none. Each is remembered when it was handed
 * out: if an import ends before that, the next one makes it again.
 */
export async function handOutLinks(run: Run, users: readonly ForeignUser[]): Promise<void> {
  const { host, accounts, imports, isDry, handOut, handouts } = run;
  if (!givesLinks(host)) return;
  const [site, tickets] = [host.use(Site), host.use(Tickets)];
  const before = handouts.length;
  for await (const user of unhurried(users)) {
    if (!user.isPerson || user.role === 'root' || hasOldPassword(host, user) || user.email === undefined) continue;
    const owner = imports.find('user', user.id);
    const link = imports.find('link', user.id);
    if (owner === undefined || (link !== undefined && run.links !== true)) continue;
    if (isDry) {
      if (user.enabled && !hasOldPassword(host, user))
        handouts.push({ account: owner.name, email: user.email, what: 'link for a new password' });
      continue;
    }
    const person = await accounts.person(owner.ownId);
    if (
      person?.enabled !== true ||
      person.email === undefined ||
      person.hasPassword ||
      person.lastLoginMs !== undefined
    )
      continue;
    const { name, email } = person;
    const code = await tickets.issue('password-reset', { accountId: person.id, forMs: LINK_MS });
    const secret = `${site.root}/console/reset?email=${encodeURIComponent(email)}&code=${code}`;
    handOut({ account: name, email, what: 'link for a new password', secret });
    handouts.push({ account: name, email, what: 'link for a new password' });
    const given = { name: user.name, ownId: person.id };
    if (link === undefined) await host.store.atomic([imports.step('link', user.id, given)]);
    imports.note('link', user.id, given);
  }
  if (site.local && handouts.length > before && run.isRehearsal !== true)
    run.notes.push({
      kind: 'decide',
      where: 'console.url',
      what: 'links for a new password',
      why: `they begin with ${site.root}, which opens on this machine only: set \`console.url\`, and make them again with --links`,
    });
}
