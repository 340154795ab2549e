/** The names of models that an account calls on one day: patterns (`gpt-*`) allow any number of names, and each has rows of its own in the sums. */

/** Different names that an account can call on one day (UTC). */
export const MOST_NAMES = 1_000;
const DAY_MS = 86_400_000;

/** The names under which calls were served. Counted by process, and again after a restart. */
export function createServedNames() {
  const byAccount = new Map<number, Set<string>>();
  let day = 0;

  function namesOf(accountId: number, atMs: number): Set<string> | undefined {
    const today = Math.floor(atMs / DAY_MS);
    // A wall clock that was set back does not begin a new day.
    if (today > day) {
      day = today;
      byAccount.clear();
    }
    return byAccount.get(accountId);
  }

  return {
    /** Whether the account may call a model of this name now. */
    allows(accountId: number, model: string, atMs: number): boolean {
      const names = namesOf(accountId, atMs);
      return names === undefined || names.size < MOST_NAMES || names.has(model);
    },
    /** A call was served. */
    add(accountId: number, model: string, atMs: number): void {
      const names = namesOf(accountId, atMs) ?? new Set();
      names.add(model);
      byAccount.set(accountId, names);
    },
  };
}
