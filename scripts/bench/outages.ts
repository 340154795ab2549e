/**
 * What an outage of other services costs calls: a gateway that sends telemetry, usage events and alerts while the
 * collector, the webhooks, the object store and the mail server answer, refuse connections, or accept and never answer,
 * compared with one that sends nothing.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { startReceiver } from '../../test/kit/clients/receiver.ts';
import { startSmtp } from '../../test/kit/stand-ins/fake-smtp.ts';
import { freePort } from '../free-port.ts';
import type { LoadTools, Sample } from './load.ts';
import { inTurns, type Rounds } from './rounds.ts';
import { oneModel, prepareTurnpike } from './turnpike.ts';
import type { Server } from './variants.ts';
import { CONNECTIONS, warmUp } from './warm.ts';

/** The state of the receivers; `off`: nothing is sent. */
export type Outage = 'off' | 'up' | 'refused' | 'hanging';

const CASES: readonly Outage[] = ['off', 'up', 'refused', 'hanging'];

/** Measures all cases in turns. */
export async function measureOutages(
  tools: LoadTools,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Rounds<Outage>> {
  const vendor = await tools.vendor(1, 0);
  const up = await startReceiver();
  const hanging = createTcpServer(() => undefined).listen(0, '127.0.0.1');
  await once(hanging, 'listening');
  const mail = await startSmtp();
  const refused = `127.0.0.1:${await freePort()}`;
  const silent = `127.0.0.1:${(hanging.address() as AddressInfo).port}`;
  const sections: Readonly<Record<Outage, Readonly<Record<string, unknown>>>> = {
    off: {},
    up: sentTo(up.url, mail.url),
    refused: sentTo(`http://${refused}`, `smtp://${refused}`),
    hanging: sentTo(`http://${silent}`, `smtp://${silent}`),
  };
  const servers = new Map<Outage, Server>();
  let perSecond = 0;
  for (const outage of CASES) {
    const server = await (await prepareTurnpike(oneModel(vendor.port), {}, undefined, sections[outage])).start();
    servers.set(outage, server);
    perSecond = await warmUp(server, tools);
  }
  const requests = Math.round(perSecond * seconds);
  const measured = await inTurns(
    CASES,
    rounds,
    (outage): Promise<Sample> =>
      tools.measure(servers.get(outage)!, { stream: false, connections: CONNECTIONS, requests }),
  );
  for (const { process } of servers.values()) await process.stop();
  await Promise.all([up.close(), mail.close()]);
  hanging.close();
  await vendor.process.stop();
  return measured;
}

/** The sections of a gateway that sends everything to these addresses. Its budget is used up by the first calls. */
function sentTo(url: string, smtp: string): Readonly<Record<string, unknown>> {
  return {
    mail: { smtp, from: 'turnpike@example.com' },
    alerts: { to: [{ mail: 'ops@example.com' }, { webhook: `${url}/alerts` }], budget: { gateway: 0.01 } },
    telemetry: { endpoint: url },
    events: {
      webhook: { url: `${url}/events`, secret: 'a secret of the bench' },
      s3: { url: `${url}/bucket`, region: 'local', accessKey: 'bench', secretKey: 'a secret of the bench' },
    },
  };
}
