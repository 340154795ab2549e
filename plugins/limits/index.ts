/** Plays `admit` and `settle`: how many requests, tokens and running calls a key and its account may have. */

import type { Taken } from '../../core/contracts/counters.ts';
import { Counters } from '../../core/contracts/counters.ts';
import type { Exchange, Explanation, Known } from '../../core/plugin.ts';
import { definePlugin, refuse } from '../../core/plugin.ts';
import { type Gate, limits, rulesOf, type WindowKind, type WindowRule } from './rules.ts';

const MINUTE_MS = 60_000;
/** A token of text is about four bytes; the vendor's own count replaces this when the call is settled. */
const BYTES_PER_TOKEN = 4;
/** Client libraries obey `retry-after` without a bound of their own. */
const MAX_RETRY_AFTER_S = 60;

export default definePlugin({
  name: 'limits',
  api: 1,
  sections: { limits },
  needs: [Counters],
  create(host, config) {
    const counters = host.use(Counters);
    const { windows, gates } = rulesOf(config.limits);
    const tokenWindows = windows.filter((rule) => rule.kind === 'tokens');
    if (windows.length === 0 && gates.length === 0) return {};

    /** Gives back what was taken from the windows before this one. */
    const giveBack = async (until: number, x: Known): Promise<void> => {
      for (let i = 0; i < until; i++) await counters.correct(nameOf(windows[i]!, x.identity), MINUTE_MS, x.id, 0);
    };

    /** Takes from every window and enters every gate, or takes nothing and refuses. */
    const admit = async (x: Known): Promise<void> => {
      const tightest: Partial<Record<WindowKind, { readonly rule: WindowRule; readonly taken: Taken }>> = {};
      for (let i = 0; i < windows.length; i++) {
        const rule = windows[i]!;
        const answer = counters.take(nameOf(rule, x.identity), rule.limit, MINUTE_MS, costOf(rule, x), x.id);
        // Counters in memory answer at once, and nothing is awaited for nothing.
        const took = answer instanceof Promise ? await answer : answer;
        if (!took.ok) {
          await giveBack(i, x);
          refuseRate(rule, took.retryAfterMs);
        }
        const least = tightest[rule.kind]?.taken.remaining ?? Infinity;
        if (took.remaining < least) tightest[rule.kind] = { rule, taken: took };
      }
      for (const gate of gates) {
        const name = nameOf(gate, x.identity);
        const answer = counters.enter(name, gate.limit, x.id);
        if (!(answer instanceof Promise ? await answer : answer)) {
          await giveBack(windows.length, x);
          refuseConcurrency(gate);
        }
        // Undone as well when a later gate, or a later plugin, refuses.
        x.defer(() => counters.leave(name, x.id));
      }
      for (const { kind, limit, remaining, reset } of HEADERS) {
        const least = tightest[kind];
        if (least === undefined) continue;
        x.header(limit, String(least.rule.limit));
        x.header(remaining, String(least.taken.remaining));
        x.header(reset, span(least.taken.resetMs));
      }
    };

    /** Puts what was truly used in the place of the estimate: nothing, where nothing was. */
    const settle = async (x: Exchange): Promise<undefined> => {
      const { identity } = x;
      if (identity === undefined) return;
      const used = x.usage === undefined ? 0 : x.usage.input + x.usage.output;
      for (const rule of tokenWindows) await counters.correct(nameOf(rule, identity), MINUTE_MS, x.id, used);
    };

    /** How much of each limit is used, and the first of them that would refuse. */
    async function* explain(x: Known): AsyncIterable<Explanation> {
      const refusals: (() => never)[] = [];
      for (const rule of windows) {
        const cost = costOf(rule, x);
        const { ok, remaining, retryAfterMs } = await counters.look(
          nameOf(rule, x.identity),
          rule.limit,
          MINUTE_MS,
          cost,
        );
        const used = rule.limit - remaining - (ok ? cost : 0);
        yield `${rule.option} of the ${rule.whose}: ${used} of ${rule.limit} used, the call takes ${cost}`;
        if (!ok) refusals.push(() => refuseRate(rule, retryAfterMs));
      }
      for (const gate of gates) {
        const inside = await counters.inside(nameOf(gate, x.identity));
        yield `${gate.option} of the ${gate.whose}: ${inside} of ${gate.limit} running`;
        if (inside >= gate.limit) refusals.push(() => refuseConcurrency(gate));
      }
      refusals[0]?.();
    }

    return tokenWindows.length > 0 ? { admit, settle, explain } : { admit, explain };
  },
});

const HEADERS = (['requests', 'tokens'] as const).map((kind) => ({
  kind,
  limit: `x-ratelimit-limit-${kind}`,
  remaining: `x-ratelimit-remaining-${kind}`,
  reset: `x-ratelimit-reset-${kind}`,
}));

/** Under which name a limit of this key, or of its account, is counted. */
function nameOf(rule: WindowRule | Gate, identity: Known['identity']): string {
  return `limits.${rule.option}:${rule.whose === 'key' ? identity.key.id : identity.account.id}`;
}

/**
 * What a call takes in advance. Tokens: a quarter of the input's bytes, and all the output the client allows; a client that
 * allows no end of output is not held to one. A call that is bigger than the whole limit takes the whole limit: it gets
 * through when the minute is otherwise unused, instead of never.
 */
function costOf(rule: WindowRule, x: Known): number {
  if (rule.kind === 'requests') return 1;
  const { inputBytes, outputTokens } = x.call.bounds;
  const estimate = Math.max(1, Math.ceil(inputBytes / BYTES_PER_TOKEN)) + (outputTokens ?? 0);
  return Math.min(estimate, rule.limit);
}

function refuseRate(rule: WindowRule, retryAfterMs: number): never {
  const seconds = Math.min(Math.max(Math.ceil(retryAfterMs / 1_000), 1), MAX_RETRY_AFTER_S);
  refuse(
    429,
    'rate_limit_exceeded',
    `This ${rule.whose} may use ${counted(rule.limit, rule.kind)} per minute (${rule.option}). Try again in ${seconds} s.`,
    {
      headers: {
        'retry-after': String(seconds),
        'retry-after-ms': String(Math.min(Math.ceil(retryAfterMs), MAX_RETRY_AFTER_S * 1_000)),
      },
    },
  );
}

function refuseConcurrency(gate: Gate): never {
  refuse(
    429,
    'concurrency_limit_exceeded',
    `This ${gate.whose} may have ${counted(gate.limit, 'calls')} running at a time (${gate.option}). Try again when one has ended.`,
    { headers: { 'retry-after': '1', 'retry-after-ms': '1000' } },
  );
}

/** `1 request`, `120 requests`. */
function counted(n: number, plural: string): string {
  return `${n} ${n === 1 ? plural.slice(0, -1) : plural}`;
}

/** `1s`, `6m0s`: how clients of the field expect a span of time in a header. */
function span(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
