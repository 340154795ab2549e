/** Plays `enter`, `admit` and `settle`: limits of requests, tokens and concurrent calls per key and per account. */

import type { Admission, Gate, GateEntry, WindowState, WindowTake } from '../../core/contracts/counters.ts';
import { Counters } from '../../core/contracts/counters.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { Holder } from '../../core/contracts/keys.ts';
import type { Awaitable, Entrant, Exchange, Explanation, Known } from '../../core/plugin.ts';
import { definePlugin, slot } from '../../core/plugin.ts';
import { boundedMap } from '../../core/sdk.ts';
import { type GateRule, limits, type Rules, rulesOf, type WindowKind, type WindowRule } from './rules.ts';

const MINUTE_MS = 60_000;
/** A token of text is about four bytes; the vendor's count replaces this estimate when the call is settled. */
const BYTES_PER_TOKEN = 4;
/** The maximum number of cached keys. */
const MOST_KNOWN = 10_000;
/** Client libraries wait as long as `retry-after` says, so it is bounded. */
const MAX_RETRY_AFTER_S = 60;

/** The tokens a call took before its usage was known. */
const estimates = slot<Admission>('limits.estimate');

export default definePlugin({
  name: 'limits',
  api: 2,
  sections: { limits },
  needs: [Counters],
  create(host, config) {
    const counters = host.use(Counters);
    const rules = rulesOf(config.limits);
    const { requests, tokens, gates } = rules;
    /** Counter names by key id: built once, because each call needs several. */
    const cache = boundedMap<number, Counted>(MOST_KNOWN);

    function knownOf(identity: Holder): Counted {
      let keyNames = cache.get(identity.key.id);
      if (keyNames === undefined) {
        keyNames = countedOf(rules, identity);
        cache.set(identity.key.id, keyNames);
      }
      return keyNames;
    }

    /**
     * Takes from all request limits and enters all gates, or takes nothing and refuses. Counters in memory answer at once; then there is no
     * promise.
     */
    function enter(x: Entrant): Awaitable<void> {
      const of = knownOf(x.identity);
      const entry = gates.length > 0 ? { id: x.id, gates: of.gates } : undefined;
      const answer = counters.take(of.requests, entry);
      if (answer instanceof Promise) return answer.then((admission) => entered(x, admission, entry));
      entered(x, answer, entry);
    }

    function entered(x: Entrant, admission: Admission, entry: GateEntry | undefined): void {
      // Undone if a later plugin refuses.
      if (admission.ok && entry !== undefined) x.defer(() => counters.leave(entry));
      tellAll(x, requests, admission);
    }

    /** The size of a call is known only from its body. */
    function admit(x: Known): Awaitable<void> {
      const answer = counters.take(knownOf(x.identity).tokens.map((window) => tokensOf(x, window)));
      if (answer instanceof Promise) return answer.then((admission) => admitted(x, admission));
      admitted(x, answer);
    }

    function admitted(x: Known, admission: Admission): void {
      if (admission.ok) estimates.set(x, admission);
      tellAll(x, tokens, admission);
    }

    /** Sets the client's rate-limit headers, and refuses if a limit is exceeded. */
    function tellAll(x: Entrant, windows: readonly WindowRule[], { refusedBy, windows: states }: Admission): void {
      const rule = windows[refusedBy];
      if (rule !== undefined) {
        tell(x, rule, states[refusedBy]!);
        refuseRate(rule, states[refusedBy]!.retryAfterMs);
      }
      tellTightest(x, windows, states);
      if (refusedBy >= 0) refuseConcurrency(gates[refusedBy - windows.length]!);
    }

    /** Replaces the estimate by the actual usage, which may be zero. */
    function settle(x: Exchange): undefined {
      const admission = estimates.get(x);
      if (admission === undefined) return;
      counters.correct(admission, x.usage === undefined ? 0 : x.usage.input + x.usage.output);
    }

    /** The usage of each limit, and the first limit that would refuse. */
    async function* explain(x: Known): AsyncIterable<Explanation> {
      const refusals: (() => never)[] = [];
      const of = knownOf(x.identity);
      const windows = [...of.requests, ...of.tokens.map((window) => tokensOf(x, window))];
      for (const [i, rule] of [...requests, ...tokens].entries()) {
        const window = windows[i]!;
        const { cost } = window;
        const { ok, remaining, retryAfterMs } = await counters.look(window);
        const used = rule.limit - remaining - (ok ? cost : 0);
        yield `${rule.option} of the ${rule.whose}: ${used} of ${rule.limit} used, the call takes ${cost}`;
        if (!ok) refusals.push(() => refuseRate(rule, retryAfterMs));
      }
      for (const [i, gate] of gates.entries()) {
        const inside = await counters.inside(of.gates[i]!.name);
        yield `${gate.option} of the ${gate.whose}: ${inside} of ${gate.limit} running`;
        if (inside >= gate.limit) refusals.push(() => refuseConcurrency(gate));
      }
      refusals[0]?.();
    }

    return {
      ...(requests.length + gates.length > 0 && { enter }),
      ...(tokens.length > 0 && { admit, settle }),
      ...(requests.length + gates.length + tokens.length > 0 && { explain }),
    };
  },
});

/** Sets the headers of the window with the least remaining. */
function tellTightest(x: Entrant, windows: readonly WindowRule[], states: readonly WindowState[]): void {
  let least = 0;
  for (let i = 1; i < states.length; i++) if (states[i]!.remaining < states[least]!.remaining) least = i;
  if (states.length > 0) tell(x, windows[least]!, states[least]!);
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

/** The counter names of a holder; a key never changes its account. */
interface Counted {
  /** Every request has cost one. */
  readonly requests: readonly WindowTake[];
  /** The current state, without a call's cost. */
  readonly tokens: readonly WindowTake[];
  readonly gates: readonly Gate[];
}

function countedOf({ requests, tokens, gates }: Rules, identity: Holder): Counted {
  const nameOf = ({ option, whose }: GateRule): string =>
    `limits.${option}:${(whose === 'key' ? identity.key : identity.account).id}`;
  const windowOf = (rule: WindowRule): WindowTake => ({
    name: nameOf(rule),
    limit: rule.limit,
    windowMs: MINUTE_MS,
    cost: 1,
  });
  return {
    requests: requests.map(windowOf),
    tokens: tokens.map(windowOf),
    gates: gates.map((rule) => ({ name: nameOf(rule), limit: rule.limit })),
  };
}

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

/** `1 request`, `120 requests`. */
function counted(n: number, plural: string): string {
  return `${n} ${n === 1 ? plural.slice(0, -1) : plural}`;
}

/** `1s`, `6m0s`: the duration format of rate-limit headers. */
function span(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
