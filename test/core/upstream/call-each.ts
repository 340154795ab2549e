/**
 * A process that calls one URL after the other, each on a new connection, and prints how each call ended: whom a process trusts is
 * settled when it starts (`NODE_EXTRA_CA_CERTS`). Arguments: the client, the URLs.
 */
import { setImmediate } from 'node:timers/promises';
import type { UpstreamClient } from '../../../core/upstream.ts';
import { open, send } from './told.ts';

const [client, ...urls] = process.argv.slice(2);
const upstream = await open(client as UpstreamClient);
const outcomes: unknown[] = [];
for (const url of urls) {
  const { origin, pathname } = new URL(url);
  // Half of the answer waits while the call is paused.
  const told = send(
    upstream,
    { origin, path: pathname, body: Buffer.alloc(1 << 20, 'x'), fresh: true },
    {
      head() {
        told.call.pause();
        void setImmediate().then(() => told.call.resume());
      },
    },
  );
  outcomes.push({ ending: await told.ended, bytes: told.bytes });
}
await upstream.close();
process.stdout.write(JSON.stringify(outcomes));
