/** Plays `enter`, `admit` and `settle`: how many requests, tokens and running calls a key and its account may have. */

import type { Taken, Taking } from '../../core/contracts/counters.ts';
import { Counters } from '../../core/contracts/counters.ts';
import type { Awaitable, Entrant, Exchange, Explanation, Known } from '../../core/plugin.ts';
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
    const { requests, tokens, gates } = rulesOf(config.limits);
    /** What calls took of `tokens` before their use was known. */
    const estimates = new WeakMap<Exchange, readonly Taking[]>();

    /** Gives back what was taken from the first of these windows, one for each taking. */
    async function giveBack(windows: readonly WindowRule[], x: Entrant, taken: readonly Taking[]): Promise<void> {
      for (const [i, taking] of taken.entries())
        await counters.correct(nameOf(windows[i]!, x.identity), MINUTE_MS, taking, 0);
    }

    /**
     * Takes from every window behind those that were taken from and tells the client what the tightest has left, or takes nothing and
     * refuses. Counters in memory answer at once; then there is no promise.
     */
    function take<X extends Entrant>(
      windows: readonly WindowRule[],
      x: X,
      costOf: (x: X, rule: WindowRule) => number,
      taken: Taking[] = [],
    ): Awaitable<readonly Taking[]> {
      while (taken.length < windows.length) {
        const rule = windows[taken.length]!;
        const answer = counters.take(nameOf(rule, x.identity), rule.limit, MINUTE_MS, costOf(x, rule));
        if (answer instanceof Promise) {
          return answer.then((taking) =>
            taking.ok ? take(windows, x, costOf, [...taken, taking]) : refuseWindow(windows, x, taken, taking),
          );
        }
        if (!answer.ok) return refuseWindow(windows, x, taken, answer);
        taken.push(answer);
      }
      tellTightest(x, windows, taken);
      return taken;
    }

    async function refuseWindow(
      windows: readonly WindowRule[],
      x: Entrant,
      before: readonly Taking[],
      refused: Taking,
    ): Promise<never> {
      const rule = windows[before.length]!;
      tell(x, rule, refused);
      await giveBack(windows, x, before);
      refuseRate(rule, refused.retryAfterMs);
    }

    /** Enters every gate from this one on, or gives the request back and refuses. */
    function pass(x: Entrant, counted: readonly Taking[], from = 0): Awaitable<void> {
      for (let i = from; i < gates.length; i++) {
        const gate = gates[i]!;
        const name = nameOf(gate, x.identity);
        const answer = counters.enter(name, gate.limit, x.id);
        const entered =
          answer instanceof Promise
            ? answer.then((inside) => goIn(x, gate, name, inside, counted))
            : goIn(x, gate, name, answer, counted);
        if (entered !== undefined) return entered.then(() => pass(x, counted, i + 1));
      }
    }

    function goIn(
      x: Entrant,
      gate: Gate,
      name: string,
      inside: boolean,
      counted: readonly Taking[],
    ): Promise<never> | undefined {
      if (!inside) return refuseGate(x, gate, counted);
      // Undone as well when a later gate, or a later plugin, refuses.
      x.defer(() => counters.leave(name, x.id));
      return undefined;
    }

    async function refuseGate(x: Entrant, gate: Gate, counted: readonly Taking[]): Promise<never> {
      await giveBack(requests, x, counted);
      tellTightest(x, requests, counted, 1);
      refuseConcurrency(gate);
    }

    /** Counts the request and enters every gate, or takes nothing and refuses. */
    function enter(x: Entrant): Awaitable<void> {
      const counted = take(requests, x, ONE);
      return counted instanceof Promise ? counted.then((taken) => pass(x, taken)) : pass(x, counted);
    }

    /** The size of a call is known from its body alone. */
    function admit(x: Known): Awaitable<void> {
      const taken = take(tokens, x, tokensOf);
      if (taken instanceof Promise) return taken.then((takings) => void estimates.set(x, takings));
      estimates.set(x, taken);
    }

    /** Puts what was truly used in the place of the estimate: nothing, where nothing was. */
    function settle(x: Exchange): Awaitable<undefined> {
      const taken = estimates.get(x);
      if (taken === undefined) return;
      const used = x.usage === undefined ? 0 : x.usage.input + x.usage.output;
      return correct(x as Known, taken, used);
    }

    function correct(x: Known, taken: readonly Taking[], used: number, from = 0): Awaitable<undefined> {
      for (let i = from; i < taken.length; i++) {
        const correcting = counters.correct(nameOf(tokens[i]!, x.identity), MINUTE_MS, taken[i]!, used);
        if (correcting instanceof Promise) return correcting.then(() => correct(x, taken, used, i + 1));
      }
    }

    /** How much of each limit is used, and the first of them that would refuse. */
    async function* explain(x: Known): AsyncIterable<Explanation> {
      const refusals: (() => never)[] = [];
      for (const rule of [...requests, ...tokens]) {
        const cost = rule.kind === 'requests' ? 1 : tokensOf(x, rule);
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

    return {
      ...(requests.length + gates.length > 0 && { enter }),
      ...(tokens.length > 0 && { admit, settle }),
      ...(requests.length + gates.length + tokens.length > 0 && { explain }),
    };
  },
});

/** Every request counts for one. */
const ONE = (): number => 1;

/** Tells the client about the window that has least left. `back`: so much was given back since. */
function tellTightest(x: Entrant, windows: readonly WindowRule[], taken: readonly Taking[], back = 0): void {
  let least = 0;
  for (let i = 1; i < taken.length; i++) if (taken[i]!.remaining < taken[least]!.remaining) least = i;
  if (taken.length > 0) tell(x, windows[least]!, taken[least]!, back);
}

/** What is left of a limit, in the headers that clients of the field read. */
function tell(x: Entrant, { kind, limit }: WindowRule, taken: Taken, back = 0): void {
  const names = HEADERS[kind];
  x.header(names.limit, String(limit));
  x.header(names.remaining, String(taken.remaining + back));
  x.header(names.reset, span(taken.resetMs));
}

const headersOf = (kind: WindowKind) => ({
  limit: `x-ratelimit-limit-${kind}`,
  remaining: `x-ratelimit-remaining-${kind}`,
  reset: `x-ratelimit-reset-${kind}`,
});
const HEADERS = { requests: headersOf('requests'), tokens: headersOf('tokens') };

/** Under which name a limit of this key, or of its account, is counted. */
function nameOf({ option, whose, names }: Gate, identity: Known['identity']): string {
  const { id } = whose === 'key' ? identity.key : identity.account;
  let name = names.get(id);
  if (name === undefined) {
    name = `limits.${option}:${id}`;
    names.set(id, name);
  }
  return name;
}

/**
 * The tokens a call takes in advance: a quarter of the input's bytes, and all the output the client allows; a client that allows
 * no end of output is not held to one. A call that is bigger than the whole limit takes the whole limit: it gets through when the
 * minute is otherwise unused, instead of never.
 */
function tokensOf({ call }: Known, { limit }: WindowRule): number {
  const { inputBytes, outputTokens } = call.bounds;
  const estimate = Math.max(1, Math.ceil(inputBytes / BYTES_PER_TOKEN)) + (outputTokens ?? 0);
  return Math.min(estimate, limit);
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
