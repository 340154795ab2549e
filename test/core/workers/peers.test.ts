/** What the processes of one machine say to each other: links, and `host.peers` over them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Log, Peers } from '../../../core/plugin.ts';
import { createLink, type Link, type LinkHandler, type Message } from '../../../core/workers/link.ts';
import { createOwnerPeers, createWorkerPeers, type OwnerPeers } from '../../../core/workers/peers.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';

/** Both ends of one, in this process: what goes over it is copied, and comes in a later turn. */
function linked(near: LinkHandler, far: LinkHandler): { near: Link; far: Link; sent: (readonly Message[])[] } {
  const sent: (readonly Message[])[] = [];
  const ends: { near: Link; far: Link } = {
    near: createLink((messages) => {
      sent.push(messages);
      setImmediate(() => ends.far.receive(structuredClone(messages)));
    }, near),
    far: createLink((messages) => setImmediate(() => ends.near.receive(structuredClone(messages))), far),
  };
  return { ...ends, sent };
}

const turns = async (count = 10): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
};

describe('a link', () => {
  it('sends all messages of one event loop turn at once, in order', async () => {
    const heard: unknown[] = [];
    const { near, sent } = linked(
      () => null,
      (topic, message) => {
        heard.push([topic, message]);
        return null;
      },
    );
    near.tell('a', 1);
    const answer = near.ask('b', 2);
    near.tell('c', { deep: [3n as never, 'x'] });
    await answer;
    assert.equal(sent.length, 1);
    assert.deepEqual(heard, [
      ['a', 1],
      ['b', 2],
      ['c', { deep: [3n, 'x'] }],
    ]);
  });

  it('matches answers to questions in any order', async () => {
    const slow: { answer?: (value: string) => void } = {};
    const { near } = linked(
      () => null,
      (topic) => (topic === 'slow' ? new Promise((resolve) => Object.assign(slow, { answer: resolve })) : 'quick'),
    );
    const first = near.ask('slow', null);
    assert.equal(await near.ask('quick', null), 'quick');
    slow.answer!('slow');
    assert.equal(await first, 'slow');
  });

  it('returns errors to the caller, and null for undefined', async () => {
    const { near } = linked(
      () => null,
      (topic) => {
        if (topic === 'fail') throw new Error('so it is');
        return undefined;
      },
    );
    await assert.rejects(near.ask('fail', null), /so it is/);
    assert.equal(await near.ask('other', null), null);
    near.tell('fail', null);
    await turns();
  });

  it('rejects questions to a process that has ended', async () => {
    const { near } = linked(
      () => null,
      () => new Promise(() => {}),
    );
    const asked = near.ask('a', null);
    near.end();
    await assert.rejects(asked, /has ended/);
    await assert.rejects(near.ask('b', null), /has ended/);
    near.tell('c', null);
    await turns();
  });
});

describe('the peers of one machine', () => {
  const errors: string[] = [];
  const log: Log = { debug() {}, info() {}, warn() {}, error: (message) => void errors.push(message), hide() {} };

  /** An owner and its workers, by number. */
  function machine(workers: number) {
    const clock = fakeClock();
    const owner: OwnerPeers = createOwnerPeers('owner', workers, { clock, log });
    const all = Array.from({ length: workers }, (_, i) => {
      const epoch = `worker-${i + 1}`;
      let handle: LinkHandler = () => null;
      const { near, far } = linked(
        (topic, message) => owner.handle(topic, message),
        (topic, message) => handle(topic, message),
      );
      const worker = createWorkerPeers(epoch, workers, far, { clock, log });
      handle = (topic, message) => worker.handle(topic, message);
      owner.joined(epoch, near);
      return { epoch, peers: worker.peers, near, far };
    });
    return { clock, owner, workers: all, everybody: [owner.peers, ...all.map(({ peers }) => peers)] as Peers[] };
  }

  it('know the leader, the owners, and which workers serve calls and are alive', async () => {
    const { everybody } = machine(2);
    assert.deepEqual(
      everybody.map((peers) => [peers.leads(), peers.owner !== undefined, peers.count]),
      [
        [true, false, 2],
        [false, true, 2],
        [false, true, 2],
      ],
    );
    for (const peers of everybody) assert.deepEqual([...(await peers.alive())], ['owner', 'worker-1', 'worker-2']);
  });

  it('get the messages of one peer with its epoch, in order', async () => {
    const { everybody } = machine(3);
    const heard = everybody.map((peers) => {
      const mine: unknown[] = [];
      peers.on('news', (message, epoch) => {
        mine.push([message, epoch]);
        return undefined;
      });
      return mine;
    });
    everybody[0]!.tell('news', 1);
    everybody[2]!.tell('news', 2);
    everybody[2]!.tell('news', 3);
    everybody[2]!.tell('nobody listens to this', 4);
    await turns();
    const of2 = [
      [2, 'worker-2'],
      [3, 'worker-2'],
    ];
    assert.deepEqual(heard[0], of2);
    assert.deepEqual(heard[2], [[1, 'owner']]);
    for (const i of [1, 3]) assert.deepEqual([...heard[i]!].sort(), [[1, 'owner'], ...of2]);
    assert.deepEqual(errors, []);
  });

  it('answer a question to all, except those without a listener or with an error', async () => {
    const { everybody } = machine(3);
    for (const [i, peers] of everybody.entries()) {
      if (i === 2) continue;
      peers.on('who', (message, epoch) => {
        if (i === 3) throw new Error('not I');
        return [i, message, epoch];
      });
    }
    assert.deepEqual(await everybody[0]!.ask('who', 'a'), [[1, 'a', 'owner']]);
    assert.deepEqual(await everybody[2]!.ask('who', 'b'), [
      [0, 'b', 'worker-2'],
      [1, 'b', 'worker-2'],
    ]);
    assert.deepEqual(await everybody[2]!.ask('nothing', null), []);
    assert.deepEqual(errors.splice(0), Array(2).fill('could not handle a message from another process'));
  });

  it('wait two seconds for answers, and return those that arrived', async () => {
    const { everybody, clock } = machine(2);
    for (const [i, peers] of everybody.entries()) peers.on('who', () => (i === 2 ? new Promise<never>(() => {}) : i));
    const asked = [everybody[0]!.ask('who', null), everybody[1]!.ask('who', null)];
    await turns();
    clock.advance(1_999);
    const early = await Promise.race([...asked, turns().then(() => 'none')]);
    assert.equal(early, 'none');
    clock.advance(1);
    assert.deepEqual(await Promise.all(asked), [[1], [0]]);
  });

  it('send a question to the owner only, who answers or fails', async () => {
    const { everybody } = machine(2);
    const told: unknown[] = [];
    everybody[0]!.on('count', (message, epoch) => {
      told.push([message, epoch]);
      return told.length;
    });
    everybody[0]!.on('fail', () => Promise.reject(new Error('so it is')));
    for (const peers of everybody.slice(1))
      peers.on('count', () => {
        throw new Error('this is for the owner');
      });
    const { owner } = everybody[1]!;
    owner!.tell('count', 'a');
    assert.equal(await owner!.ask('count', 'b'), 2);
    assert.deepEqual(told, [
      ['a', 'worker-1'],
      ['b', 'worker-1'],
    ]);
    await assert.rejects(owner!.ask('fail', null), /so it is/);
    await assert.rejects(owner!.ask('nobody', null), /no process listens to nobody/);
    errors.length = 0;
  });

  it('use the last registered listener, as after a reload', async () => {
    const { everybody } = machine(1);
    everybody[1]!.on('who', () => 'before');
    everybody[1]!.on('who', () => 'after');
    assert.deepEqual(await everybody[0]!.ask('who', null), ['after']);
  });

  it('report a process as left when it has ended and its last message was handled, in either order', async () => {
    for (const order of [
      ['exited', 'settled'],
      ['settled', 'exited'],
    ] as const) {
      const { owner, workers, everybody } = machine(2);
      const left: string[] = [];
      const stop = owner.peers.onLeft((epoch) => left.push(epoch));
      owner.peers.onLeft(() => {
        throw new Error('not this one');
      });
      const { epoch } = workers[0]!;
      owner[order[0]](epoch);
      assert.deepEqual(left, []);
      assert.ok((await everybody[2]!.alive()).has(epoch));
      owner[order[1]](epoch);
      assert.deepEqual(left, [epoch]);
      assert.deepEqual([...(await everybody[2]!.alive())], ['owner', 'worker-2']);
      stop();
      for (const end of order) owner[end]('worker-2');
      assert.deepEqual(left, [epoch]);
    }
    assert.equal(errors.splice(0).length, 4);
  });

  it('get no messages after their process has ended', async () => {
    const { owner, workers } = machine(2);
    let heard = 0;
    for (const { peers } of workers)
      peers.on('news', () => {
        heard += 1;
        return undefined;
      });
    owner.exited('worker-1');
    owner.peers.tell('news', null);
    assert.deepEqual(await owner.peers.ask('news', null), [null]);
    assert.equal(heard, 2);
  });

  it('of a worker whose owner has gone get no answers, and questions to it fail', async () => {
    const { workers } = machine(1);
    const { peers, far } = workers[0]!;
    far.end();
    assert.deepEqual(await peers.ask('who', null), []);
    await assert.rejects(peers.owner!.ask('who', null), /has ended/);
  });
});
