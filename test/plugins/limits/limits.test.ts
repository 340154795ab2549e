/** The plugin `limits`: what it takes, what it gives back, and what it tells the client. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Counters, type Counters as CountersService } from '../../../core/contracts/counters.ts';
import type { KeyLimit } from '../../../core/contracts/identity.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import { RateLimits, type RateLimits as RateLimitsService } from '../../../core/contracts/rate-limits.ts';
import { GatewayError, type Host, type Known, type Parts, type Usage } from '../../../core/plugin.ts';
import { starIn } from '../../../core/sdk.ts';
import { createMemoryCounters } from '../../../plugins/counters/memory.ts';
import plugin from '../../../plugins/limits/index.ts';
import type { LimitsSection } from '../../../plugins/limits/rules.ts';
import fc from '../../kit/fast-check.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';

/** As the plugin `keys` finds the limits for a model, without aliases. */
const keys = {
  limitsFor: ({ limits = [] }: { readonly limits?: readonly KeyLimit[] }, name: string) =>
    limits.filter(({ model }) => model === name || (model !== undefined && starIn(model, name) !== undefined)),
};

/** The plugin over counters in memory. */
async function limited(
  section: LimitsSection,
  clock = fakeClock(),
  counters: CountersService = createMemoryCounters(clock),
) {
  const host = {
    clock,
    use: (service: unknown) => {
      assert.equal(service, Counters);
      return counters;
    },
    find: (service: unknown) => (service === Keys ? keys : undefined),
    provide: (service: unknown, value: RateLimitsService) => {
      assert.equal(service, RateLimits);
      usage = value;
    },
  } as unknown as Host;
  let usage: RateLimitsService | undefined;
  const parts: Parts = await plugin.create(host, { limits: section });
  return { clock, counters, parts, usage: usage! };
}

interface Caller {
  readonly key?: number;
  readonly account?: number;
  readonly inputBytes?: number;
  readonly outputTokens?: number;
  readonly limits?: readonly KeyLimit[];
  readonly model?: string;
}

let exchanges = 0;

/** An exchange, and the end of it. */
function exchange({ key = 1, account = 1, inputBytes = 0, outputTokens, limits, model = 'm' }: Caller = {}) {
  const headers: Record<string, string> = {};
  const releases: (() => unknown)[] = [];
  const x = {
    id: `exchange-${++exchanges}`,
    identity: { key: { id: key, limits }, account: { id: account } },
    call: { model, bounds: { inputBytes, media: 0, outputTokens, choices: 1 } },
    usage: undefined as Usage | undefined,
    header: (name: string, value: string) => {
      headers[name] = value;
    },
    defer: (release: () => unknown) => {
      releases.push(release);
    },
  };
  return {
    x: x as unknown as Known,
    headers,
    /** Undoes what was deferred, then settles. */
    async end(parts: Parts, usage?: Partial<Usage>) {
      if (usage !== undefined) x.usage = usage as Usage;
      for (const release of releases.reverse()) await release();
      assert.equal(await parts.settle?.(x as unknown as Known), undefined);
    },
  };
}

/** Admits, or says why not. A refused exchange is over. */
async function ask(parts: Parts, caller?: Caller) {
  const call = exchange(caller);
  let refusal: GatewayError | undefined;
  try {
    await parts.enter?.(call.x);
    await parts.screen?.(call.x, { purpose: 'call', isInspected: false });
    await parts.admit?.(call.x);
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    refusal = error;
    await call.end(parts);
  }
  return { ...call, refusal };
}

describe('limits', () => {
  it('take nothing of the counters without a section, if the key has no limits either', async () => {
    const take = (): never => assert.fail('nothing is counted');
    const clock = fakeClock();
    const { parts } = await limited({}, clock, { ...createMemoryCounters(clock), take });
    const { refusal, headers } = await ask(parts);
    assert.equal(refusal, undefined);
    assert.deepEqual(headers, {});
  });

  it('refuse the request after the last one with 429, the name of the limit and when to come again', async () => {
    const { parts, clock } = await limited({ requestsPerMinute: 3 });
    for (let i = 0; i < 3; i++) {
      assert.equal((await ask(parts)).refusal, undefined);
      clock.advance(500);
    }
    const { refusal } = await ask(parts);
    assert.equal(refusal?.status, 429);
    assert.equal(refusal.code, 'rate_limit_exceeded');
    assert.match(refusal.message, /This key may use 3 requests per minute \(requestsPerMinute\)/);
    assert.deepEqual(refusal.headers, { 'retry-after': '59', 'retry-after-ms': '58500' });
  });

  it('never let more than the limit through in any minute, and always let in who waited as told', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.oneof(fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: 0, max: 40_000 })), { maxLength: 50 }),
        async (requestsPerMinute, gaps) => {
          const { parts, clock } = await limited({ requestsPerMinute });
          const admitted: number[] = [];
          for (const gap of gaps) {
            clock.advance(gap);
            const { refusal } = await ask(parts);
            if (refusal !== undefined) {
              clock.advance(Number(refusal.headers['retry-after-ms']));
              assert.equal((await ask(parts)).refusal, undefined);
            }
            admitted.push(clock.mono());
          }
          for (const [i, atMs] of admitted.entries()) {
            const within = admitted.slice(i).filter((other) => other < atMs + 60_000).length;
            assert.ok(within <= requestsPerMinute, `${within} within a minute`);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('say on every success how much is left, in the usual headers', async () => {
    const { parts, clock } = await limited({ requestsPerMinute: 120, tokensPerMinute: 1_000 });
    await ask(parts, { inputBytes: 400, outputTokens: 50 });
    clock.advance(1_500);
    const { headers } = await ask(parts, { inputBytes: 3 });
    assert.deepEqual(headers, {
      'x-ratelimit-limit-requests': '120',
      'x-ratelimit-remaining-requests': '118',
      'x-ratelimit-reset-requests': '1m0s',
      'x-ratelimit-limit-tokens': '1000',
      'x-ratelimit-remaining-tokens': '849',
      'x-ratelimit-reset-tokens': '1m0s',
    });
  });

  it('show the limit that is nearest when key and account both have one', async () => {
    const { parts } = await limited({ requestsPerMinute: 100, perAccount: { requestsPerMinute: 3 } });
    const { headers } = await ask(parts);
    assert.equal(headers['x-ratelimit-limit-requests'], '3');
    assert.equal(headers['x-ratelimit-remaining-requests'], '2');
  });

  it('hold for every key by itself and for all keys of an account together', async () => {
    const { parts } = await limited({ requestsPerMinute: 2, perAccount: { requestsPerMinute: 3 } });
    assert.equal((await ask(parts, { key: 1 })).refusal, undefined);
    assert.equal((await ask(parts, { key: 1 })).refusal, undefined);
    assert.match((await ask(parts, { key: 1 })).refusal?.message ?? '', /This key .*\(requestsPerMinute\)/);
    assert.equal((await ask(parts, { key: 2 })).refusal, undefined);
    const { refusal } = await ask(parts, { key: 2 });
    assert.match(
      refusal?.message ?? '',
      /This account may use 3 requests per minute \(perAccount\.requestsPerMinute\)/,
    );
    assert.equal((await ask(parts, { key: 3, account: 2 })).refusal, undefined);
  });

  it('take nothing for a request that is refused at the door, whichever limit refuses it', async () => {
    const { parts } = await limited({
      requestsPerMinute: 2,
      concurrent: 2,
      perAccount: { requestsPerMinute: 3, concurrent: 1 },
    });
    const first = await ask(parts);
    for (let i = 0; i < 20; i++) {
      assert.match((await ask(parts)).refusal?.message ?? '', /perAccount\.concurrent/);
    }
    await first.end(parts);
    const second = await ask(parts);
    assert.equal(second.refusal, undefined);
    await second.end(parts);
    for (let i = 0; i < 20; i++) assert.match((await ask(parts)).refusal?.message ?? '', /requestsPerMinute/);
    assert.equal((await ask(parts, { key: 2 })).refusal, undefined);
  });

  it('take no tokens for a call that is refused for want of them, but count its request: its body was read', async () => {
    const { parts } = await limited({
      requestsPerMinute: 4,
      tokensPerMinute: 100,
      perAccount: { tokensPerMinute: 60 },
    });
    const first = await ask(parts, { inputBytes: 200 });
    for (let i = 0; i < 2; i++) {
      const { refusal, headers } = await ask(parts, { inputBytes: 200 });
      assert.match(refusal?.message ?? '', /perAccount\.tokensPerMinute/);
      assert.equal(headers['x-ratelimit-remaining-requests'], String(2 - i));
      assert.equal(headers['x-ratelimit-limit-tokens'], '60');
      assert.equal(headers['x-ratelimit-remaining-tokens'], '10');
    }
    await first.end(parts);
    const last = await ask(parts, { inputBytes: 200 });
    assert.equal(last.headers['x-ratelimit-remaining-tokens'], '10');
    assert.match((await ask(parts)).refusal?.message ?? '', /requestsPerMinute/);
  });

  it('say on their own refusals, too, how much is left', async () => {
    const { parts, clock } = await limited({ requestsPerMinute: 2, concurrent: 1 });
    const first = await ask(parts);
    const full = await ask(parts);
    assert.equal(full.refusal?.code, 'concurrency_limit_exceeded');
    assert.equal(full.headers['x-ratelimit-remaining-requests'], '1');
    await first.end(parts);
    await (await ask(parts)).end(parts);
    clock.advance(1_500);
    const late = await ask(parts);
    assert.equal(late.refusal?.code, 'rate_limit_exceeded');
    assert.deepEqual(late.headers, {
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '59s',
    });
  });

  it('hold as well where the counters answer later', async () => {
    const clock = fakeClock();
    const memory = createMemoryCounters(clock);
    let takes = 0;
    const later: CountersService = {
      ...memory,
      async take(...args) {
        takes++;
        return memory.take(...args);
      },
      look: async (...args) => memory.look(...args),
      inside: async (...args) => memory.inside(...args),
    };
    const section = { requestsPerMinute: 3, tokensPerMinute: 100, concurrent: 2 };
    const { parts } = await limited({ ...section, perAccount: { ...section, concurrent: 1 } }, clock, later);
    const first = await ask(parts, { inputBytes: 200 });
    assert.match((await ask(parts)).refusal?.message ?? '', /perAccount\.concurrent/);
    await first.end(parts, { input: 90, output: 0 });
    assert.match((await ask(parts, { inputBytes: 200 })).refusal?.message ?? '', /\(tokensPerMinute\)/);
    const third = await ask(parts, { inputBytes: 4 });
    assert.equal(third.headers['x-ratelimit-remaining-requests'], '0');
    await third.end(parts, { input: 1, output: 0 });
    assert.match((await ask(parts)).refusal?.message ?? '', /\(requestsPerMinute\)/);
    assert.equal(takes, 8, 'two for each call that came to its tokens, one for each that was refused at the door');
  });

  it('reserve tokens by the request and put the true use in their place', async () => {
    const { parts } = await limited({ tokensPerMinute: 1_000 });
    const call = await ask(parts, { inputBytes: 400, outputTokens: 500 });
    assert.equal(call.headers['x-ratelimit-remaining-tokens'], '400');
    await call.end(parts, { input: 90, output: 10 });
    assert.equal((await ask(parts, { inputBytes: 4 })).headers['x-ratelimit-remaining-tokens'], '899');
  });

  it('count what was used beyond the estimate, and refuse until it is made up for', async () => {
    const { parts, clock } = await limited({ tokensPerMinute: 1_000 });
    await (await ask(parts)).end(parts, { input: 500, output: 2_000 });
    clock.advance(10_000);
    const { refusal } = await ask(parts);
    assert.match(refusal?.message ?? '', /This key may use 1000 tokens per minute \(tokensPerMinute\)/);
    assert.deepEqual(refusal?.headers, { 'retry-after': '50', 'retry-after-ms': '50000' });
    clock.advance(50_000);
    assert.equal((await ask(parts)).refusal, undefined);
  });

  it('give the tokens of a call back that used none', async () => {
    const { parts } = await limited({ tokensPerMinute: 1_000 });
    const call = await ask(parts, { inputBytes: 4_000 });
    assert.notEqual((await ask(parts)).refusal, undefined);
    await call.end(parts);
    assert.equal((await ask(parts, { inputBytes: 4_000 })).refusal, undefined);
  });

  it('let a call that is larger than the whole limit through when the minute is otherwise unused', async () => {
    const { parts, clock } = await limited({ tokensPerMinute: 100 });
    await (await ask(parts)).end(parts, { input: 1, output: 0 });
    assert.notEqual((await ask(parts, { inputBytes: 9_000, outputTokens: 9_000 })).refusal, undefined);
    clock.advance(60_000);
    assert.equal((await ask(parts, { inputBytes: 9_000, outputTokens: 9_000 })).refusal, undefined);
  });

  it('ask a client whose call is one too many to come again in a second', async () => {
    const { parts } = await limited({ concurrent: 1 });
    const first = await ask(parts);
    const { refusal } = await ask(parts);
    assert.equal(refusal?.status, 429);
    assert.equal(refusal.code, 'concurrency_limit_exceeded');
    assert.match(refusal.message, /This key may have 1 call running at a time \(concurrent\)/);
    assert.deepEqual(refusal.headers, { 'retry-after': '1', 'retry-after-ms': '1000' });
    await first.end(parts);
    assert.equal((await ask(parts)).refusal, undefined);
  });

  it('free the place of a call however it ends', async () => {
    const { parts } = await limited({ concurrent: 1 });
    const endings: ((call: Awaited<ReturnType<typeof ask>>) => Promise<void>)[] = [
      (call) => call.end(parts, { input: 1, output: 1 }),
      // Refused by a later plugin, failed, or left by the client: nothing was used.
      (call) => call.end(parts),
    ];
    for (const ending of endings) {
      const call = await ask(parts);
      assert.equal(call.refusal, undefined);
      await ending(call);
    }
    assert.equal((await ask(parts)).refusal, undefined);
  });

  it('free the place at the key when the account has none', async () => {
    const { parts } = await limited({ concurrent: 1, perAccount: { concurrent: 1 } });
    const other = await ask(parts, { key: 2 });
    for (let i = 0; i < 3; i++) assert.match((await ask(parts)).refusal?.message ?? '', /perAccount\.concurrent/);
    await other.end(parts);
    assert.equal((await ask(parts)).refusal, undefined);
  });

  it('never let more than eight of a thousand parallel calls run', async () => {
    const { parts } = await limited({ concurrent: 8 });
    let running = 0;
    let most = 0;
    let admitted = 0;
    const call = async (): Promise<void> => {
      const asked = await ask(parts);
      if (asked.refusal !== undefined) return;
      admitted++;
      most = Math.max(most, ++running);
      await setImmediate();
      running--;
      await asked.end(parts);
    };
    await Promise.all(Array.from({ length: 1_000 }, call));
    assert.equal(most, 8);
    assert.ok(admitted >= 8);
    assert.equal((await ask(parts)).refusal, undefined);
  });

  it('are not handed out anew by a reload', async () => {
    const before = await limited({ requestsPerMinute: 1 });
    await ask(before.parts);
    const after = await limited({ requestsPerMinute: 1 }, before.clock, before.counters);
    assert.notEqual((await ask(after.parts)).refusal, undefined);
  });

  it('ask nobody to stay away for longer than a minute, nor for less than a second', async () => {
    const { parts, clock } = await limited({ requestsPerMinute: 1 });
    await ask(parts);
    assert.equal((await ask(parts)).refusal?.headers['retry-after'], '60');
    clock.advance(59_990);
    assert.deepEqual((await ask(parts)).refusal?.headers, { 'retry-after': '1', 'retry-after-ms': '10' });
  });

  it('have nothing to settle for a caller nobody knew', async () => {
    const { parts } = await limited({ tokensPerMinute: 10 });
    assert.equal(await parts.settle?.({ identity: undefined } as unknown as Known), undefined);
  });
});

describe('the limits of a key', () => {
  it('apply in addition to those of all keys, and the refusal names which one it was', async () => {
    const { parts } = await limited({ requestsPerMinute: 3 });
    const limits = [{ requestsPerMinute: 2 }];
    for (const left of ['1', '0']) {
      const { refusal, headers } = await ask(parts, { limits });
      assert.equal(refusal, undefined);
      assert.equal(headers['x-ratelimit-limit-requests'], '2');
      assert.equal(headers['x-ratelimit-remaining-requests'], left);
    }
    const { refusal, headers } = await ask(parts, { limits });
    assert.equal(refusal?.code, 'rate_limit_exceeded');
    assert.match(refusal.message, /2 requests per minute \(own requests_per_minute\)/);
    assert.equal(refusal.headers['retry-after'], '60');
    assert.equal(headers['x-ratelimit-remaining-requests'], '0');
    assert.equal((await ask(parts, { key: 2 })).refusal, undefined);
  });

  it('for some models count the calls of those models only, all models of a pattern together', async () => {
    const { parts } = await limited({});
    const limits = [{ model: 'gpt-*', requestsPerMinute: 2 }];
    const call = (model: string) => ask(parts, { limits, model });
    assert.equal((await call('gpt-5')).refusal, undefined);
    assert.equal((await call('gpt-4')).refusal, undefined);
    const { refusal } = await call('gpt-5');
    assert.match(refusal?.message ?? '', /own requests_per_minute for "gpt-\*"/);
    assert.equal((await call('claude')).refusal, undefined);
  });

  it('set the headers of the tightest window, whether that is of all models or of some', async () => {
    const { parts } = await limited({});
    const tightModel = [{ requestsPerMinute: 9 }, { model: 'm', requestsPerMinute: 5 }];
    assert.equal((await ask(parts, { key: 1, limits: tightModel })).headers['x-ratelimit-limit-requests'], '5');
    const looseModel = [{ requestsPerMinute: 5 }, { model: 'm', requestsPerMinute: 9 }];
    assert.equal((await ask(parts, { key: 2, limits: looseModel })).headers['x-ratelimit-limit-requests'], '5');
  });

  it('count tokens by what was used in the end, in the window of the key and in that of the model', async () => {
    const { parts, usage } = await limited({});
    const limits = [{ tokensPerMinute: 1_000 }, { model: 'm', tokensPerMinute: 600 }];
    const call = await ask(parts, { limits, inputBytes: 400, outputTokens: 400 });
    assert.equal(call.headers['x-ratelimit-remaining-tokens'], '100');
    assert.match((await ask(parts, { limits, outputTokens: 400 })).refusal?.message ?? '', /for "m"/);
    await call.end(parts, { input: 20, output: 30 });
    assert.deepEqual(await usage.usageOf(call.x.identity.key), [
      { model: undefined, kind: 'tokens', limit: 1_000, used: 50 },
      { model: 'm', kind: 'tokens', limit: 600, used: 50 },
    ]);
  });

  it('let a call leave the gates of the key and of its model when it ends', async () => {
    const { parts, usage } = await limited({});
    const limits = [{ concurrent: 2 }, { model: 'm', concurrent: 1 }];
    const first = await ask(parts, { limits });
    const { refusal } = await ask(parts, { limits });
    assert.equal(refusal?.code, 'concurrency_limit_exceeded');
    assert.match(refusal.message, /own concurrent for "m"/);
    const other = await ask(parts, { limits, model: 'other' });
    assert.equal(other.refusal, undefined);
    assert.match((await ask(parts, { limits, model: 'other' })).refusal?.message ?? '', /own concurrent\)/);
    await first.end(parts);
    await other.end(parts);
    const used = (await usage.usageOf(first.x.identity.key)).map((each) => each.used);
    assert.deepEqual(used, [0, 0]);
    assert.equal((await ask(parts, { limits })).refusal, undefined);
  });

  it('follow a change of the key at its next call', async () => {
    const { parts } = await limited({});
    assert.equal((await ask(parts, { limits: [{ requestsPerMinute: 1 }] })).refusal, undefined);
    assert.notEqual((await ask(parts, { limits: [{ requestsPerMinute: 1 }] })).refusal, undefined);
    assert.equal((await ask(parts, { limits: [{ requestsPerMinute: 2 }] })).refusal, undefined);
    assert.equal((await ask(parts, {})).refusal, undefined);
  });
});
