/** Peers of a shared store, whose membership speaks whenever it likes. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { joinPeers } from '../../../core/cluster/peers.ts';
import type { Log, Membership } from '../../../core/plugin.ts';
import { systemClock } from '../../../core/runtime/clock.ts';

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };

it('a question of another process that arrives during the join is answered after it', async () => {
  let answered = (_: string): void => {};
  const answer = new Promise<string>((resolve) => {
    answered = resolve;
  });
  const membership: Membership = {
    members: ['first', 'second'],
    isCurrent: () => true,
    look: async () => ['first', 'second'],
    processes: async () => [],
    send: async (body) => answered(body),
    leave: async () => {},
  };
  const peers = await joinPeers(
    async (_, { message, left }) => {
      await Promise.resolve();
      message(JSON.stringify({ topic: 'health', message: 'are you there', ask: 7 }), 'first');
      left([]);
      await new Promise((done) => setImmediate(done));
      return membership;
    },
    { epoch: 'second', name: 'second', version: '1', config: 'same' },
    { clock: systemClock, log: silent, ended: () => assert.fail('it was not given up') },
  );
  assert.deepEqual(JSON.parse(await answer), { to: 'first', of: 7 });
  assert.equal(peers.count, 2);
});
