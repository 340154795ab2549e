/** The retry budget: when everything fails, asking everybody again must not multiply the load. */

/** This many exchanges may be retrying at any time. */
const ALWAYS = 3;
/** And this share of all exchanges in flight. */
const SHARE = 0.2;

/** One exchange's part in the budget. */
export interface Seat {
  /** True where it may ask another channel. It keeps that right until it leaves. */
  retry(): boolean;
  /** The exchange has ended. */
  leave(): void;
}

/** How many exchanges of this process are in flight, and how many of them are retrying. */
export interface RetryBudget {
  enter(): Seat;
}

/** A budget of at most three, or a fifth of the exchanges in flight. */
export function createRetryBudget(): RetryBudget {
  let inFlight = 0;
  let retrying = 0;
  return {
    enter() {
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
