/** The text of low balance notifications, and their delivery. */
import { createHmac } from 'node:crypto';
import type { Account } from '../../core/contracts/accounts.ts';
import { MICRO } from '../../core/contracts/ledger.ts';
import { Mail } from '../../core/contracts/mail.ts';
import { Site } from '../../core/contracts/site.ts';
import type { Host } from '../../core/plugin.ts';
import type { Wish } from './wishes.ts';

/** Sends notifications. */
export interface Notices {
  /** Resolves after one attempt; failures are logged and not repeated. `remaining`: micro-quota. */
  send(account: Account, wish: Wish, remaining: bigint): Promise<void>;
}

export function createNotices(host: Host): Notices {
  const { log, clock, vault } = host;

  async function post(account: Account, url: string, sealed: string | undefined, payload: object): Promise<void> {
    const body = JSON.stringify(payload);
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (sealed !== undefined) {
      const secret = vault.open(`account.webhook_secret ${account.id}`, sealed);
      headers['x-webhook-signature'] = createHmac('sha256', secret).update(body).digest('hex');
    }
    const status = await host.post(url, body, headers);
    if (status < 200 || status > 299) throw new Error(`the server there answered with status ${status}`);
  }

  return {
    async send(account, { way, below }, remaining) {
      const site = host.find(Site);
      const name = site?.name ?? 'Turnpike';
      const link = site === undefined ? '' : `${site.root}/console/topup`;
      const [left, threshold] = [remaining / MICRO, below / MICRO];
      const title = `${name}: your quota is running low`;
      const content = `Your account ${account.name} has ${left} quota left, which is below the ${threshold} that you set.`;
      try {
        if (way.kind === 'webhook') {
          const timestamp = Math.floor(clock.now() / 1_000);
          const values = [`${left}`, `${threshold}`, link];
          await post(account, way.url, way.secret, { type: 'quota_exceed', title, content, values, timestamp });
          return;
        }
        const text = `${content}\n\n${link === '' ? '' : `Top up: ${link}\n\n`}You are told once, until it has been above again.\n`;
        const sending = host.find(Mail)?.send({ to: way.to, subject: title, text });
        // May take long, and logs its own failures.
        sending?.catch(() => {});
      } catch (error) {
        log.warn('could not deliver a low balance notification', { account: account.id, error });
      }
    },
  };
}
