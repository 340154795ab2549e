/** Plays `enter`, `screen`, `admit` and `settle`: limits of requests, tokens and concurrent calls per key and per account, and those of single keys. */

import type { Admission, Gate, GateEntry, WindowState, WindowTake } from '../../core/contracts/counters.ts';
import { Counters } from '../../core/contracts/counters.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { Holder, KeyLimit } from '../../core/contracts/identity.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { RateLimits, type RateUsage } from '../../core/contracts/rate-limits.ts';
import type { Awaitable, Entrant, Exchange, Explanation, Known } from '../../core/plugin.ts';
import { definePlugin, slot } from '../../core/plugin.ts';
import { boundedMap } from '../../core/sdk.ts';
import { createServedNames, MOST_NAMES } from './names.ts';
import { type GateRule, limits, type Rules, rulesOf, rulesOfKey, type WindowKind, type WindowRule } from './rules.ts';

const MINUTE_MS = 60_000;
/** A token of text is about four bytes; the vendor's count replaces this estimate when the call is settled. */
const BYTES_PER_TOKEN = 4;
/** The maximum number of cached keys. */
const MOST_KNOWN = 10_000;
/** Client libraries wait as long as `retry-after` says, so it is bounded. */
const MAX_RETRY_AFTER_S = 60;

/** The tokens a call took before its usage was known. */
const estimates = slot<Admission>('limits.estimate');
/** The requests that remain in the tightest window of a key; only for keys with limits for some models. */
const remainders = slot<number>('limits.remaining');

export default definePlugin({
  name: 'limits',
  api: 2,
  sections: { limits },
  needs: [Counters],
  wants: [Keys],
  provides: [RateLimits],
  create(host, config) {
    const counters = host.use(Counters);
    const rules = rulesOf(config.limits);
    const hasEntryRules = rules.requests.length + rules.gates.length > 0;
    const hasTokenRules = rules.tokens.length > 0;
    /** Counter names by key id: built once, because each call needs several. */
    const cache = boundedMap<number, Counted>(MOST_KNOWN);

    function knownOf(identity: Holder): Counted {
      const { id, limits: own } = identity.key;
      let known = cache.get(id);
      if (known === undefined || known.of !== own) {
        known = countedOf(rules, identity);
        cache.set(id, known);
      }
      return known;
    }

    /**
     * Takes from all request limits and enters all gates, or takes nothing and refuses. Counters in memory answer at once; then there is no
     * promise.
     */
    function enter(x: Entrant): Awaitable<void> {
      if (!hasEntryRules && x.identity.key.limits === undefined) return;
      const of = knownOf(x.identity);
      const entry = of.gates.length > 0 ? { id: x.id, gates: of.gates } : undefined;
      if (entry === undefined && of.requests.length === 0) return;
      const answer = counters.take(of.requests, entry);
      if (answer instanceof Promise) return answer.then((admission) => entered(x, of, admission, entry));
      entered(x, of, answer, entry);
    }

    function entered(x: Entrant, of: Counted, admission: Admission, entry: GateEntry | undefined): void {
      // Undone if a later plugin refuses.
      if (admission.ok && entry !== undefined) x.defer(() => counters.leave(entry));
      const { requests, gates } = of.rules;
      tellAll(x, requests, gates, admission);
      if (of.hasModels) remainders.set(x, Math.min(...admission.windows.map(({ remaining }) => remaining)));
    }

    const names = createServedNames();

    /** Takes from the key's limits for the model of a call, also if its tokens are only counted: before anything else is done for it. */
    function screen(x: Known): Awaitable<void> {
      if (!names.allows(x.identity.account.id, x.call.model, x.startedMs)) refuseNames();
      const { key } = x.identity;
      if (key.limits === undefined || x.passthrough !== undefined || !knownOf(x.identity).hasModels) return;
      const models = modelsOf(x);
      const requests = models.flatMap((each) => each.requests);
      const gates = models.flatMap((each) => each.gates);
      const entry = gates.length > 0 ? { id: `${x.id} model`, gates } : undefined;
      if (entry === undefined && requests.length === 0) return;
      const answer = counters.take(requests, entry);
      const screened = (admission: Admission): void => {
        if (admission.ok && entry !== undefined) x.defer(() => counters.leave(entry));
        const requestRules = models.flatMap((each) => each.rules.requests);
        const gateRules = models.flatMap((each) => each.rules.gates);
        tellAll(x, requestRules, gateRules, admission, remainders.get(x));
      };
      return answer instanceof Promise ? answer.then(screened) : screened(answer);
    }

    /** The size of a call is known only when it was inspected. */
    function admit(x: Known): Awaitable<void> {
      const { key } = x.identity;
      if (!hasTokenRules && key.limits === undefined) return;
      const of = knownOf(x.identity);
      if (!of.hasModels || x.passthrough !== undefined) return admitTokens(x, of.rules.tokens, of.tokens);
      const models = modelsOf(x);
      const tokenRules = [...of.rules.tokens, ...models.flatMap((each) => each.rules.tokens)];
      return admitTokens(x, tokenRules, [...of.tokens, ...models.flatMap((each) => each.tokens)]);
    }

    /** The counters of the key's limits that are for the model of a call. */
    function modelsOf(x: Known): readonly CounterNames[] {
      const { key } = x.identity;
      const own = host.find(Keys)?.limitsFor(key, x.call.model) ?? [];
      return own.map((limit) => countersOf(rulesOfKey(limit), () => key.id));
    }

    function admitTokens(x: Known, tokenRules: readonly WindowRule[], windows: readonly WindowTake[]): Awaitable<void> {
      if (windows.length === 0) return;
      const answer = counters.take(windows.map((window) => tokensOf(x, window)));
      if (answer instanceof Promise) return answer.then((admission) => admitted(x, tokenRules, admission));
      admitted(x, tokenRules, answer);
    }

    function admitted(x: Known, tokenRules: readonly WindowRule[], admission: Admission): void {
      if (admission.ok) estimates.set(x, admission);
      tellAll(x, tokenRules, [], admission);
    }

    /** Replaces the estimate by the actual usage, which may be zero. */
    function settle(x: Exchange): undefined {
      if (x.served !== undefined && x.call !== undefined && x.identity !== undefined) {
        names.add(x.identity.account.id, x.call.model, x.startedMs);
      }
      const admission = estimates.get(x);
      if (admission === undefined) return;
      counters.correct(admission, x.usage === undefined ? 0 : x.usage.input + x.usage.output);
    }

    /** The usage of each limit, and the first limit that would refuse. */
    async function* explain(x: Known): AsyncIterable<Explanation> {
      const refusals: (() => never)[] = [];
      const of = knownOf(x.identity);
      const all = [of, ...(of.hasModels && x.passthrough === undefined ? modelsOf(x) : [])];
      const windowRules = [...all.flatMap((each) => each.rules.requests), ...all.flatMap((each) => each.rules.tokens)];
      const tokens = all.flatMap((each) => each.tokens).map((window) => tokensOf(x, window));
      const windows = [...all.flatMap((each) => each.requests), ...tokens];
      for (const [i, rule] of windowRules.entries()) {
        const window = windows[i]!;
        const { cost } = window;
        const { ok, remaining, retryAfterMs } = await counters.look(window);
        const used = rule.limit - remaining - (ok ? cost : 0);
        yield `${rule.option} of the ${rule.whose}: ${used} of ${rule.limit} used, the call takes ${cost}`;
        if (!ok) refusals.push(() => refuseRate(rule, retryAfterMs));
      }
      const gates = all.flatMap((each) => each.gates);
      for (const [i, gate] of all.flatMap((each) => each.rules.gates).entries()) {
        const inside = await counters.inside(gates[i]!.name);
        yield `${gate.option} of the ${gate.whose}: ${inside} of ${gate.limit} running`;
        if (inside >= gate.limit) refusals.push(() => refuseConcurrency(gate));
      }
      refusals[0]?.();
    }

    host.provide(RateLimits, {
      async usageOf(key) {
        const usage: RateUsage[] = [];
        for (const limit of key.limits ?? []) {
          const { model } = limit;
          const of = countersOf(rulesOfKey(limit), () => key.id);
          const windows = [...of.rules.requests, ...of.rules.tokens];
          for (const [i, window] of [...of.requests, ...of.tokens].entries()) {
            const { remaining } = await counters.look({ ...window, cost: 0 });
            usage.push({ model, kind: windows[i]!.kind, limit: window.limit, used: window.limit - remaining });
          }
          for (const { name, limit: most } of of.gates)
            usage.push({ model, kind: 'concurrent', limit: most, used: await counters.inside(name) });
        }
        return usage;
      },
    });

    return { enter, screen, admit, settle, explain };
  },
});

/**
 * Sets the client's rate-limit headers, and refuses if a limit is exceeded. `remaining`: what the headers say already, if another window had to be
 * taken from before.
 */
function tellAll(
  x: Entrant,
  windows: readonly WindowRule[],
  gates: readonly GateRule[],
  { refusedBy, windows: states }: Admission,
  remaining = Number.POSITIVE_INFINITY,
): void {
  const rule = windows[refusedBy];
  if (rule !== undefined) {
    tell(x, rule, states[refusedBy]!);
    refuseRate(rule, states[refusedBy]!.retryAfterMs);
  }
  tellTightest(x, windows, states, remaining);
  if (refusedBy >= 0) refuseConcurrency(gates[refusedBy - windows.length]!);
}

/** Sets the headers of the window with the least remaining, if that is less than `remaining`. */
function tellTightest(
  x: Entrant,
  windows: readonly WindowRule[],
  states: readonly WindowState[],
  remaining: number,
): void {
  let least = 0;
  for (let i = 1; i < states.length; i++) if (states[i]!.remaining < states[least]!.remaining) least = i;
  if (states.length > 0 && states[least]!.remaining < remaining) tell(x, windows[least]!, states[least]!);
}

/** The remaining amount of a limit, in the headers that clients know. */
function tell(x: Entrant, { kind, limit }: WindowRule, state: WindowState): void {
  const names = HEADERS[kind];
  x.header(names.limit, String(limit));
  x.header(names.remaining, String(state.remaining));
  x.header(names.reset, span(state.resetMs));
}

const headersOf = (kind: WindowKind) => ({
  limit: `x-ratelimit-limit-${kind}`,
  remaining: `x-ratelimit-remaining-${kind}`,
  reset: `x-ratelimit-reset-${kind}`,
});
const HEADERS = { requests: headersOf('requests'), tokens: headersOf('tokens') };

/** Rules with their counters, in the same order. */
interface CounterNames {
  readonly rules: Rules;
  /** Every request has cost one. */
  readonly requests: readonly WindowTake[];
  /** The current state, without a call's cost. */
  readonly tokens: readonly WindowTake[];
  readonly gates: readonly Gate[];
}

/** Those of a holder for all models; a key never changes its account. */
interface Counted extends CounterNames {
  /** The key's own limits; another list if they were changed, or only read again. */
  readonly of: readonly KeyLimit[] | undefined;
  /** The key also has limits for some models. */
  readonly hasModels: boolean;
}

function countedOf(common: Rules, { key, account }: Holder): Counted {
  const of = key.limits;
  const whole = of?.find(({ model }) => model === undefined);
  const rules = whole === undefined ? common : joined(common, rulesOfKey(whole));
  return {
    of,
    hasModels: of?.some(({ model }) => model !== undefined) === true,
    ...countersOf(rules, ({ whose }) => (whose === 'key' ? key : account).id),
  };
}

/** `idOf`: the key or account that a rule counts for. */
function countersOf(rules: Rules, idOf: (rule: GateRule) => number): CounterNames {
  const nameOf = (rule: GateRule): string => `limits.${rule.option}:${idOf(rule)}`;
  const windowOf = (rule: WindowRule): WindowTake => ({
    name: nameOf(rule),
    limit: rule.limit,
    windowMs: MINUTE_MS,
    cost: 1,
  });
  return {
    rules,
    requests: rules.requests.map(windowOf),
    tokens: rules.tokens.map(windowOf),
    gates: rules.gates.map((rule) => ({ name: nameOf(rule), limit: rule.limit })),
  };
}

const joined = (a: Rules, b: Rules): Rules => ({
  requests: [...a.requests, ...b.requests],
  tokens: [...a.tokens, ...b.tokens],
  gates: [...a.gates, ...b.gates],
});

/**
 * The tokens that a call takes in advance: a quarter of the input's bytes, and the output limit of the call, or no output if it sets none.
 * A call larger than the limit takes the whole limit. It is then admitted if nothing else was used in the minute; otherwise it would always be
 * refused.
 */
function tokensOf({ call }: Known, { name, limit, windowMs }: WindowTake): WindowTake {
  const { inputBytes, outputTokens } = call.bounds;
  const estimate = Math.max(1, Math.ceil(inputBytes / BYTES_PER_TOKEN)) + (outputTokens ?? 0);
  return { name, limit, windowMs, cost: Math.min(estimate, limit) };
}

function refuseRate(rule: WindowRule, retryAfterMs: number): never {
  const seconds = Math.min(Math.max(Math.ceil(retryAfterMs / 1_000), 1), MAX_RETRY_AFTER_S);
  throw coreErrors
    .rate_limit_exceeded(
      `This ${rule.whose} may use ${counted(rule.limit, rule.kind)} per minute (${rule.option}). Try again in ${seconds} s.`,
    )
    .with({
      headers: {
        'retry-after': String(seconds),
        'retry-after-ms': String(Math.min(Math.ceil(retryAfterMs), MAX_RETRY_AFTER_S * 1_000)),
      },
    });
}

function refuseConcurrency(gate: GateRule): never {
  throw coreErrors.concurrency_limit_exceeded(
    `This ${gate.whose} may have ${counted(gate.limit, 'calls')} running at a time (${gate.option}). Try again when one has ended.`,
  );
}

function refuseNames(): never {
  throw coreErrors
    .rate_limit_exceeded(
      `This account has called ${MOST_NAMES} different models since midnight (UTC). Until then it can call only those again.`,
    )
    .with({ headers: { 'retry-after': String(MAX_RETRY_AFTER_S), 'x-should-retry': 'false' } });
}

/** `1 request`, `120 requests`. */
function counted(n: number, plural: string): string {
  return `${n} ${n === 1 ? plural.slice(0, -1) : plural}`;
}

/** `1s`, `6m0s`: the duration format of rate-limit headers. */
function span(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
