/** How each phase runs: who is asked, in which order, and what a failure means. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPipeline, type Pipeline } from '../../../core/call/phases.ts';
import type { Attempt } from '../../../core/contracts/formats/call.ts';
import type { Content, Inspection, Revision } from '../../../core/contracts/formats/content.ts';
import type { Holder } from '../../../core/contracts/identity.ts';
import { GatewayError, type Offer, type Parts, refuse, type Step } from '../../../core/plugin.ts';
import { createDeadlines } from '../../../core/runtime/deadlines.ts';
import { createLog } from '../../../core/runtime/logger.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { exchange, verdict } from '../../kit/gateway/drive.ts';

const x = exchange({ id: 'exchange-1' });

/** A pipeline of plugins named `one`, `two`, …, and what it logs. */
function pipelineOf(...parts: readonly Parts[]): {
  pipeline: Pipeline;
  log: readonly Record<string, unknown>[];
  clock: FakeClock;
} {
  const clock = fakeClock();
  const log: Record<string, unknown>[] = [];
  const write = (line: string): void => void log.push(JSON.parse(line) as Record<string, unknown>);
  const names = ['one', 'two', 'three', 'four'];
  const players = parts.map((part, i) => ({ name: names[i]!, parts: part }));
  const pipeline = createPipeline(players, createLog({ level: 'info', write, now: () => 0 }), createDeadlines(clock));
  return { pipeline, log, clock };
}
/** What the log says of a failure. */
const failure = (phase: string, plugin: string, message: string) => [
  { phase, plugin, exchange: 'exchange-1', error: { message } },
];
const facts = (log: readonly Record<string, unknown>[]) =>
  log.map(({ phase, plugin, exchange, error }) => ({ phase, plugin, exchange, error }));
const unexpected = (): never => assert.fail('it must not be asked');
const broken = (): never => {
  throw new Error('broken');
};

// The two phases in which the first answer wins, with what they say where nobody has one.
const holder = (name: string) => ({ key: { id: 1, name }, account: { id: 1 } }) as Holder;
const offers = (name: string): Iterable<Offer> => [{ model: name } as Offer];
const FIRST_WINS = [
  { phase: 'authenticate', answer: holder, nobody: '401 invalid_api_key' },
  { phase: 'route', answer: offers, nobody: '404 model_not_found' },
] as const;

for (const { phase, answer, nobody } of FIRST_WINS) {
  describe(`the phase ${phase}`, () => {
    it('takes the first answer and calls no further plugin', async () => {
      const wins = answer('two');
      for (const given of [wins, Promise.resolve(wins)]) {
        const { pipeline } = pipelineOf(
          { [phase]: () => undefined },
          { [phase]: async () => undefined },
          { [phase]: () => given },
          { [phase]: unexpected },
        );
        assert.equal(await pipeline[phase](x), wins);
      }
    });

    it('refuses if no plugin answers, and if there is none', async () => {
      for (const parts of [[], [{}], [{ [phase]: () => undefined }, { [phase]: async () => undefined }]]) {
        assert.equal(await verdict(() => pipelineOf(...parts).pipeline[phase](x)), nobody);
      }
    });

    it('passes on the first refusal without a log line', async () => {
      for (const says of [() => refuse(403, 'not_you', 'No.'), async () => refuse(403, 'not_you', 'No.')]) {
        const { pipeline, log } = pipelineOf({ [phase]: says }, { [phase]: unexpected });
        assert.equal(await verdict(() => pipeline[phase](x)), '403 not_you');
        assert.deepEqual(log, []);
      }
    });

    it('stops at a plugin that throws, and names it in the log', async () => {
      for (const breaks of [broken, async () => broken()]) {
        const { pipeline, log } = pipelineOf({ [phase]: breaks }, { [phase]: unexpected });
        await assert.rejects(async () => pipeline[phase](x), { message: 'broken' });
        assert.deepEqual(facts(log), failure(phase, 'one', 'broken'));
      }
    });
  });
}

// The two phases in which everybody may refuse.
for (const phase of ['enter', 'admit'] as const) {
  describe(`the phase ${phase}`, () => {
    it('calls all plugins in the order of the pipeline, one after the other', async () => {
      const told: string[] = [];
      const slow = (name: string): Parts => ({
        async [phase]() {
          told.push(`${name} begins`);
          await Promise.resolve();
          told.push(`${name} ends`);
        },
      });
      const { pipeline } = pipelineOf(slow('one'), {}, { [phase]: () => void told.push('three') }, slow('four'));
      await pipeline[phase](x);
      assert.deepEqual(told, ['one begins', 'one ends', 'three', 'four begins', 'four ends']);
    });

    it('stops at the first refusal', async () => {
      const { pipeline, log } = pipelineOf(
        { [phase]: () => undefined },
        { [phase]: async () => refuse(429, 'slow_down', 'Later.') },
        { [phase]: unexpected },
      );
      assert.equal(await verdict(() => pipeline[phase](x)), '429 slow_down');
      assert.deepEqual(log, []);
    });

    it('stops at a plugin that throws, and names it in the log', async () => {
      const { pipeline, log } = pipelineOf({ [phase]: () => undefined }, { [phase]: broken }, { [phase]: unexpected });
      await assert.rejects(async () => pipeline[phase](x), { message: 'broken' });
      assert.deepEqual(facts(log), failure(phase, 'two', 'broken'));
    });

    it('admits a request if no plugin objects', async () => {
      await pipelineOf().pipeline[phase](x);
    });
  });
}

describe('the phase attempted', () => {
  it('calls every plugin, also after one that throws, which is logged', () => {
    const told: unknown[] = [];
    const attempt = { status: 500 } as Attempt;
    const { pipeline, log } = pipelineOf(
      { attempted: (_x, it) => void told.push(it) },
      { attempted: () => refuse(500, 'no_matter', 'Nobody hears this.') },
      { attempted: broken },
      { attempted: (_x, it) => void told.push(it) },
    );
    pipeline.attempted(x, attempt);
    assert.deepEqual(told, [attempt, attempt]);
    assert.deepEqual(
      log.map(({ plugin }) => plugin),
      ['two', 'three'],
    );
  });
});

describe('the phase settle', () => {
  const step = (sql: string): Step => ({ sql });

  it('joins the steps of all plugins in the order of the pipeline', async () => {
    const { pipeline } = pipelineOf(
      { settle: async () => [step('1'), step('2')] },
      { settle: () => undefined },
      { settle: () => [step('3')] },
      { settle: async () => [step('4'), step('5')] },
    );
    assert.deepEqual((await pipeline.settle(x)).steps, ['1', '2', '3', '4', '5'].map(step));
  });

  it('calls all plugins even if an essential one fails, and then writes nothing', async () => {
    const asked: string[] = [];
    const asks = (name: string, then: () => readonly Step[]): Parts => ({
      essential: true,
      settle() {
        asked.push(name);
        return then();
      },
    });
    const { pipeline, log } = pipelineOf(
      asks('one', () => [step('1')]),
      asks('two', broken),
      asks('three', () => refuse(503, 'also_bad', 'Too late to matter.')),
      asks('four', () => [step('4')]),
    );
    await assert.rejects(async () => pipeline.settle(x), { message: 'broken' });
    assert.deepEqual(asked, ['one', 'two', 'three', 'four']);
    assert.deepEqual(
      log.map(({ phase, plugin }) => [phase, plugin]),
      [
        ['settle', 'two'],
        ['settle', 'three'],
      ],
    );
  });

  it('passes on the error of the first plugin that failed', async () => {
    const { pipeline } = pipelineOf(
      { essential: true, settle: async () => refuse(503, 'first', 'First.') },
      { essential: true, settle: () => refuse(500, 'second', 'Second.') },
    );
    await assert.rejects(
      async () => pipeline.settle(x),
      (error) => error instanceof GatewayError && error.code === 'first',
    );
  });
});

describe('a plugin that does not answer', () => {
  for (const phase of ['authenticate', 'enter', 'admit', 'route', 'pay'] as const)
    it(`has failed in the phase ${phase} after 30 s, and is named in the log`, async () => {
      const { pipeline, log, clock } = pipelineOf({ [phase]: () => new Promise(() => {}) });
      const asked = Promise.resolve(pipeline[phase](x as never)).then(unexpected, (error: Error) => error.message);
      await new Promise(setImmediate);
      clock.advance(32_000);
      assert.equal(await asked, 'it has not answered within 30 s');
      assert.deepEqual(
        facts(log).map(({ plugin }) => [phase, plugin]),
        [[phase, 'one']],
      );
    });
});

describe('the phase inspect', () => {
  const content = {} as Content;
  const answer: Inspection = { texts: ['other'] };

  it('calls all plugins in turn, and returns their results with their positions in the pipeline', async () => {
    for (const given of [answer, Promise.resolve(answer)]) {
      for (const taking of [false, Promise.resolve(false)]) {
        const seen: unknown[] = [];
        const { pipeline } = pipelineOf(
          { inspect: () => undefined },
          {},
          { inspect: () => given },
          { inspect: () => given },
        );
        assert.ok(pipeline.inspects);
        await pipeline.inspect(x, content, (inspection, by) => {
          seen.push([inspection, by]);
          return taking;
        });
        assert.deepEqual(seen, [
          [answer, { plugin: 'three', at: 2 }],
          [answer, { plugin: 'four', at: 3 }],
        ]);
      }
    }
  });

  it('calls no plugin after the one that answers', async () => {
    for (const last of [true, Promise.resolve(true)]) {
      const { pipeline } = pipelineOf({ inspect: () => answer }, { inspect: unexpected });
      await pipeline.inspect(x, content, () => last);
    }
  });

  it('stops at a plugin that throws, or returns an invalid result, and names it in the log', async () => {
    const takes = () => false;
    for (const [inspect, take] of [
      [broken, takes],
      [async () => broken(), takes],
      [() => answer, broken],
      [async () => answer, async () => broken()],
    ] as const) {
      const { pipeline, log } = pipelineOf({ inspect }, { inspect: unexpected });
      await assert.rejects(async () => pipeline.inspect(x, content, take), { message: 'broken' });
      assert.deepEqual(facts(log), failure('inspect', 'one', 'broken'));
    }
  });
});

describe('a plugin that does not inspect in time', () => {
  it('has failed after 30 s, and is named in the log', async () => {
    const { pipeline, log, clock } = pipelineOf({ inspect: () => new Promise(() => {}) });
    const asked = Promise.resolve(pipeline.inspect(x, {} as Content, () => false)).then(
      unexpected,
      (error: Error) => error.message,
    );
    await new Promise(setImmediate);
    clock.advance(32_000);
    assert.equal(await asked, 'it has not answered within 30 s');
    assert.deepEqual(
      facts(log).map(({ phase, plugin }) => [phase, plugin]),
      [['inspect', 'one']],
    );
  });
});

describe('the phase revise', () => {
  const revision: Revision = { part: (part) => [part], end: () => [] };

  it('has the revisions of all plugins, the last first, or of those before a position', () => {
    const { pipeline } = pipelineOf(
      { revise: () => revision },
      { revise: () => undefined },
      { revise: () => revision },
    );
    const names = (before: number): readonly string[] => pipeline.revise(x, before).map(({ plugin }) => plugin);
    assert.deepEqual(names(Infinity), ['three', 'one']);
    assert.deepEqual(names(2), ['one']);
    assert.equal(pipelineOf({}).pipeline.revises, false);
  });

  it('names a plugin that throws in the log', () => {
    const { pipeline, log } = pipelineOf({ revise: broken });
    assert.throws(() => pipeline.revise(x, Infinity), { message: 'broken' });
    assert.deepEqual(facts(log), failure('revise', 'one', 'broken'));
  });
});

describe('a process that was suspended for longer than a phase may take', () => {
  it('uses the answer that arrived in the meantime', async () => {
    let answer = (): void => {};
    const { pipeline, log, clock } = pipelineOf({
      admit: () =>
        new Promise<void>((resolve) => {
          answer = resolve;
        }),
    });
    const admitted = pipeline.admit(x);
    clock.advance(30_500);
    answer();
    await admitted;
    assert.deepEqual(log, []);
  });
});

describe('a plugin', () => {
  it('is called with itself as `this` in every phase', async () => {
    const asked: unknown[] = [];
    const parts: Parts = {
      admit(this: unknown) {
        asked.push(this);
      },
    };
    await pipelineOf(parts).pipeline.admit(x);
    assert.equal(asked[0], parts);
  });

  it('is described by its phases', () => {
    const quiet = (): undefined => undefined;
    const { pipeline } = pipelineOf({ admit: quiet, settle: quiet }, { authenticate: quiet }, { settle: quiet });
    assert.deepEqual(pipeline.describe(), [
      ['authenticate', ['two']],
      ['enter', []],
      ['screen', []],
      ['inspect', []],
      ['admit', ['one']],
      ['route', []],
      ['order', []],
      ['attempted', []],
      ['revise', []],
      ['pay', []],
      ['settle', ['one', 'three']],
    ]);
  });
});
