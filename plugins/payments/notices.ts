/** The webhooks of payment providers. Requests without a valid signature get no information. */
import { type Actor, Audit } from '../../core/contracts/audit.ts';
import { type Answer, answer, type Host, type Route } from '../../core/plugin.ts';
import { Forged, type Provider } from './provider.ts';
import type { NoticeResult, Settlement } from './settlement.ts';

/** The maximum size of a notification. */
const LARGEST = 256 * 1_024;
/** The rate limit of audit entries about forged notifications. */
const NOTE_EVERY_MS = 60_000;

const STATUS: Readonly<Record<NoticeResult, number>> = { done: 200, seen: 200, ignored: 200, refused: 409, later: 409 };

/** The routes of a provider. */
export function noticeRoutes(host: Host, provider: Provider, settlement: Settlement): readonly Route[] {
  const { name, notices } = provider;
  const reply = (status: number, text: string): Answer =>
    answer(status, text, { 'content-type': 'text/plain; charset=utf-8' });
  let quietUntilMs = Number.NEGATIVE_INFINITY;

  async function noteForged(error: Forged, ip: string): Promise<void> {
    host.log.warn('a notification of a payment was refused', { provider: name, ip, reason: error.message });
    const nowMs = host.clock.mono();
    if (nowMs < quietUntilMs) return;
    quietUntilMs = nowMs + NOTE_EVERY_MS;
    const actor: Actor = { accountId: undefined, name: 'nobody known', ip };
    const facts = { reason: error.message };
    await host.find(Audit)?.note({ actor, action: 'order.forged', object: `notification of ${name}`, facts });
  }

  return notices.methods.map((method) => ({
    method,
    path: notices.path,
    takes: 'bytes',
    maxBody: LARGEST,
    access: 'public',
    async handle(request) {
      try {
        const notice = await notices.read(request);
        if (notice === undefined) return reply(200, notices.taken);
        if (notice.event === '') throw new Forged('it has no id');
        const verdict = await settlement.take(name, notice, request.ip);
        const status = STATUS[verdict];
        return reply(status, status === 200 ? notices.taken : notices.refused);
      } catch (error) {
        if (!(error instanceof Forged)) throw error;
        await noteForged(error, request.ip);
        return reply(400, notices.refused);
      }
    },
  }));
}
