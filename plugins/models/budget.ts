/** The retry budget: if everything fails, retries must not multiply the load. */

/**
 * The number of requests that may always retry at the same time: what a small team has running when its vendor fails, which then all goes to the
 * next channel, before the circuit breaker opens.
 */
const ALWAYS = 10;
/** Beyond that, the share of running requests that may retry. */
const SHARE = 0.2;

/** A request in the budget. */
export interface BudgetEntry {
  /** Whether the request may try another channel; once true, it stays true. */
  retry(): boolean;
  /** Must be called when the request ends. */
  leave(): void;
}

/** A request that retries, until it ends or its answer has begun: a stream that is delivered for minutes is no load by retries. */
interface Retrying {
  isAnswered(): boolean;
}

/** Creates a budget of ten retrying requests, or a fifth of the running ones if that is more. */
export function createRetryBudget() {
  let inFlight = 0;
  const retrying = new Set<Retrying>();

  const hasRoom = (): boolean => retrying.size + 1 <= Math.max(ALWAYS, inFlight * SHARE);
  const forgetAnswered = (): void => {
    for (const each of retrying) if (each.isAnswered()) retrying.delete(each);
  };

  return {
    /** `isAnswered`: whether a vendor's answer to the request has begun. */
    enter(isAnswered: () => boolean): BudgetEntry {
      inFlight++;
      let mine: Retrying | undefined;
      let left = false;
      return {
        retry() {
          if (mine !== undefined) return true;
          if (!hasRoom()) forgetAnswered();
          if (!hasRoom()) return false;
          mine = { isAnswered };
          retrying.add(mine);
          return true;
        },
        leave() {
          if (left) return;
          left = true;
          inFlight--;
          if (mine !== undefined) retrying.delete(mine);
        },
      };
    },
  };
}

/** Counts the running requests of this process, and those that are retrying. */
export type RetryBudget = ReturnType<typeof createRetryBudget>;
