/** Gateways on one store know of each other: how each is doing, what runs in it, and which of them do not answer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOtherGateways, digestOf, type OtherGateways, type OwnGateway } from '../../../core/cluster/gateways.ts';
import { joinPeers } from '../../../core/cluster/peers.ts';
import type { GatewayState, InFlight } from '../../../core/contracts/running.ts';
import type { JoinedProcess, Log, MembershipEvents } from '../../../core/plugin.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };
const clock = fakeClock();

/** A store's membership in memory, which counts what is sent. */
class Members {
  sent = 0;
  readonly #all: (JoinedProcess & { readonly events: MembershipEvents })[] = [];

  async join(name: string, own?: OwnGateway | 'command'): Promise<OtherGateways> {
    const facts = { epoch: `epoch of ${name}`, name, version: '1', config: '' };
    const members = this.#all;
    const peers = await joinPeers(
      async (_, events) => {
        members.push({ ...facts, joinedMs: 1_000 + members.length, events });
        return {
          get members() {
            return members.map(({ epoch }) => epoch);
          },
          isCurrent: () => true,
          look: async () => members.map(({ epoch }) => epoch),
          processes: async () => members.map(({ events: _events, ...process }) => process),
          send: async (body, to) => {
            this.sent++;
            for (const { epoch, events: heard } of members) {
              if (epoch !== facts.epoch && (to === undefined || to === epoch)) heard.message(body, facts.epoch);
            }
          },
          leave: async () => {},
        };
      },
      facts,
      { clock, log: silent, ended: () => assert.fail('it was not given up') },
    );
    const others = createOtherGateways(peers, clock);
    if (own !== undefined) others.answer(own === 'command' ? undefined : own);
    return others;
  }
}

function gateway(name: string, inFlight: InFlight = { total: 0, items: [] }): OwnGateway & { text: string } {
  const self = {
    text: 'limits: {}',
    look: (): GatewayState => ({
      name,
      version: '1',
      startedMs: 5,
      report: {
        readiness: 'ready',
        configuration: digestOf(self.text),
        memory: { rss: 1, heapUsed: 1, heapLimit: 1, machine: 1 },
        lag: undefined,
        inFlight: inFlight.total,
        calls: 7,
        store: { waiting: 0, writable: true },
        counters: undefined,
      },
    }),
    inFlight: () => inFlight,
  };
  return self;
}

/** Lets a poll whose answers do not all come reach its end. */
async function waited<T>(work: Promise<T>): Promise<T> {
  await new Promise((done) => setImmediate(done));
  clock.advance(1_000);
  return work;
}

describe('gateways on one store', () => {
  it('report their current state, in the order of their names', async () => {
    const members = new Members();
    const [b, a] = [gateway('b:8080'), gateway('a:8080')];
    const here = await members.join('here:8080', gateway('here:8080'));
    await members.join('b:8080', b);
    await members.join('a:8080', a);
    assert.deepEqual(JSON.stringify(await here.look()), JSON.stringify([a.look(), b.look()]));
    a.text = 'limits: { concurrent: 1 }';
    clock.advance(1_000);
    assert.deepEqual((await here.look())[0]?.report?.configuration, digestOf(a.text));
  });

  it('are asked once a second, however many clients read, and never without a reader', async () => {
    const members = new Members();
    const here = await members.join('here:8080', gateway('here:8080'));
    await members.join('a:8080', gateway('a:8080'));
    clock.advance(60_000);
    assert.equal(members.sent, 0);
    await Promise.all([here.look(), here.look()]);
    await here.look();
    assert.equal(members.sent, 2, 'a question and an answer');
    await here.inFlight({ limit: 5 });
    await here.inFlight({ accountId: 1, limit: 5 });
    assert.equal(members.sent, 6, 'each question is one of its own');
    clock.advance(1_000);
    await here.look();
    assert.equal(members.sent, 8);
  });

  it('are listed without a report if they do not answer within a second; commands are not listed', async () => {
    const members = new Members();
    const here = await members.join('here:8080', gateway('here:8080'));
    await members.join('a machine', 'command');
    await members.join('old:8080');
    const frozen = gateway('frozen:8080');
    frozen.look = () => new Promise(() => {}) as never;
    await members.join('frozen:8080', frozen);
    assert.deepEqual(await waited(here.look()), [
      { name: 'frozen:8080', version: '1', startedMs: 1_003, report: undefined },
      { name: 'old:8080', version: '1', startedMs: 1_002, report: undefined },
    ]);
  });

  it('report their running calls', async () => {
    const members = new Members();
    const here = await members.join('here:8080', gateway('here:8080'));
    await members.join('a machine', 'command');
    await members.join('a:8080', gateway('a:8080', { total: 3, items: [] }));
    await members.join('b:8080', gateway('b:8080', { total: 4, items: [] }));
    assert.deepEqual(
      (await here.inFlight({ limit: 5 })).map(({ total }) => total),
      [3, 4],
    );
  });
});
