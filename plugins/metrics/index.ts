/** `GET /metrics`, for a Prometheus server: with the token, or from this machine if no proxy is in front of the gateway. */
import { timingSafeEqual } from 'node:crypto';
import { Catalog } from '../../core/contracts/catalog.ts';
import { Counters } from '../../core/contracts/counters.ts';
import { Ledger, MICRO } from '../../core/contracts/ledger.ts';
import { Running } from '../../core/contracts/running.ts';
import { Site } from '../../core/contracts/site.ts';
import { answer, type Caller, definePlugin, type Host, typed } from '../../core/plugin.ts';
import { settings } from '../../core/sdk.ts';
import { errors } from './errors.ts';
import { createMeters } from './meters.ts';
import { createProcessMetrics, noWorkers } from './processes.ts';

const section = typed(
  settings('Prometheus metrics at GET /metrics.', {
    token: {
      type: 'string',
      minLength: 16,
      description:
        'The bearer token that allows requests from anywhere. Without a token, only direct requests from this machine are allowed, and none if a proxy is in front of the gateway (`listen.trustProxy`, or an https `console.url`).',
    },
  }),
);

export default definePlugin({
  name: 'metrics',
  api: 2,
  errors,
  sections: { metrics: section },
  wants: [Catalog, Counters, Ledger, Running, Site],
  create(host, { metrics: { token } }) {
    // Metrics survive a reload.
    const meters = host.lasting({
      name: 'metrics',
      version: 2,
      make: () => createMeters(host.peers.owner === undefined),
    });
    const processes = createProcessMetrics(
      meters.registry,
      host.lasting({ name: 'metrics.workers', version: 1, make: noWorkers }),
      host,
    );

    let ledger: Ledger | undefined;

    /** A refusal that a vendor made has its code, or none. */
    function countRefusal(code: unknown): void {
      meters.refusals.add(1, typeof code === 'string' && host.errors().has(code) ? code : OF_VENDOR);
    }

    return {
      attempted(_x, { offer, failure, startedMs, endedMs }) {
        meters.attempts.add(1, offer.channel.name, failure ?? 'ok');
        if (failure === undefined)
          meters.attemptSeconds.observe(((endedMs ?? startedMs) - startedMs) / 1_000, offer.channel.name);
      },
      settle(x) {
        const model = meters.label(x.served?.priced ?? x.attempts.at(-1)?.offer.priced ?? '');
        meters.calls.add(1, x.style?.name ?? 'passthrough', model, x.outcome ?? '', x.status);
        if (x.outcome === 'refused') countRefusal(x.notes.code);
        const { usage } = x;
        if (usage !== undefined) {
          meters.tokens.add(usage.input, model, 'input');
          meters.tokens.add(usage.output, model, 'output');
        }
        const charged = ledger?.charged(x) ?? 0n;
        if (charged > 0n) meters.cost.add(Number(charged) / MICRO_PER_QUOTA / ledger!.perUnit, model);
        const last = x.attempts.at(-1);
        if (x.outcome === 'served' && last?.firstByteMs !== undefined && x.call.stream)
          meters.firstToken.observe((last.startedMs - x.startedMs + last.firstByteMs) / 1_000, model);
        meters.seconds.observe((host.clock.now() - x.startedMs) / 1_000, x.style?.name ?? 'passthrough');
        return undefined;
      },
      answered(x, { route, status, code }) {
        meters.requests.add(1, `${x.method} ${route.path}`, status);
        if (code !== undefined) countRefusal(code);
      },
      guards: {
        scraper: async (caller) => (token === undefined ? refuseDistant(caller, host) : refuseWithout(caller, token)),
      },
      routes: [
        {
          method: 'GET',
          path: '/metrics',
          access: ['scraper'],
          async handle() {
            await meters.state?.look(host.find(Running), host.find(Catalog));
            return answer(200, await processes.text(), { 'content-type': meters.registry.contentType });
          },
        },
      ],
      link() {
        ledger = host.find(Ledger);
      },
      start() {
        meters.watchProcess();
        meters.watchCounters(() => host.find(Counters)?.shared);
        processes.start();
      },
      stop: processes.stop,
    };
  },
});

/** Quota amounts are micro-quota. */
const MICRO_PER_QUOTA = Number(MICRO);

/** The code of a vendor's refusal: vendors choose theirs, and each would be a series. */
const OF_VENDOR = 'upstream_refusal';

const LOOPBACK = /^(127\.|::1$)/;
/** Host names of this machine in requests. */
const LOOPBACK_HOST = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i;
/** Headers that proxies add; some add none, so their absence proves nothing. */
const FORWARDED = /^(x-forwarded-|x-real-ip$|forwarded$|via$)/;

/** Behind a proxy on this machine all requests seem local: refuses (403) if there may be one. */
function refuseDistant({ ip, headers }: Caller, host: Pick<Host, 'find'>): undefined {
  const isDirect =
    LOOPBACK.test(ip) &&
    LOOPBACK_HOST.test(headers.host ?? '') &&
    !Object.keys(headers).some((name) => FORWARDED.test(name)) &&
    host.find(Running)?.proxy().trusted !== true &&
    host.find(Site)?.secure !== true;
  if (isDirect) return;
  throw errors
    .metrics_not_allowed(
      'Without a token, only direct requests from this machine to a gateway without a proxy are allowed: set metrics.token.',
    )
    .with({ status: 403 });
}

/** Refuses (401) a caller without the token. */
function refuseWithout({ headers }: Caller, token: string): undefined {
  const given = Buffer.from(headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return;
  throw errors.metrics_not_allowed('Send `Authorization: Bearer` with the token of the section metrics.');
}
