/** The retry budget: if everything fails, retries must not multiply the load. */

/** The number of requests that may always retry at the same time. */
const ALWAYS = 3;
/** Beyond that, the share of running requests that may retry. */
const SHARE = 0.2;

/** A request in the budget. */
export interface BudgetEntry {
  /** Whether the request may try another channel; once true, it stays true. */
  retry(): boolean;
  /** Must be called when the request ends. */
  leave(): void;
}

/** Creates a budget of three retrying requests, or a fifth of the running ones if that is more. */
export function createRetryBudget() {
  let inFlight = 0;
  let retrying = 0;
  return {
    enter(): BudgetEntry {
      inFlight++;
      let mine = false;
      let left = false;
      return {
        retry() {
          if (mine) return true;
          if (retrying + 1 > Math.max(ALWAYS, inFlight * SHARE)) return false;
          retrying++;
          mine = true;
          return true;
        },
        leave() {
          if (left) return;
          left = true;
          inFlight--;
          if (mine) retrying--;
        },
      };
    },
  };
}

/** Counts the running requests of this process, and those that are retrying. */
export type RetryBudget = ReturnType<typeof createRetryBudget>;
