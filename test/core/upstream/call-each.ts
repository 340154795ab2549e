/**
 * A process that calls one URL after the other, each on a new connection, and prints how each call ended: whom a process trusts is
 * settled when it starts (`NODE_EXTRA_CA_CERTS`). Arguments: the URLs. With `TEST_PROXY`, through that proxy.
 */
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { createOutgoingProxies } from '../../../core/upstream/proxy.ts';
import { open, send } from './told.ts';

const upstream = open();
const outcomes: unknown[] = [];
const { TEST_PROXY } = process.env;
for (const url of process.argv.slice(2)) {
  const { origin, pathname } = new URL(url);
  const proxy = createOutgoingProxies(undefined, {}, assert.fail).for(new URL(url), TEST_PROXY);
  // Half of the answer waits while the call is paused.
  const told = send(
    upstream,
    { origin, path: pathname, body: Buffer.alloc(1 << 20, 'x'), fresh: true, proxy },
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
