/** Work that each account does one at a time: what one account asks for at once cannot take all of the gateway. */

/** Who waits for whom. */
export interface Turns {
  /** Resolves with the end of the turn, which must be called, when it is the owner's turn. Refuses if too many of one owner wait. */
  begin(owner: number): Promise<() => void>;
  /** Runs `work` in a turn. */
  take<T>(owner: number, work: () => Promise<T>): Promise<T>;
}

/** The limits of turns. */
export interface TurnLimits {
  /** Turns at the same time, each of another owner. */
  readonly atOnce: number;
  /** Turns of one owner that may wait. */
  readonly waiting: number;
  /** Throws the refusal of the next one. */
  readonly refuse: () => never;
}

interface Waiting {
  readonly owner: number;
  start(): void;
}

/** Creates them. Waiting turns start in the order in which they came, except for those whose owner has one. */
export function createTurns({ atOnce, waiting: most, refuse }: TurnLimits): Turns {
  const running = new Set<number>();
  const waiting: Waiting[] = [];

  function startNext(): void {
    if (running.size >= atOnce) return;
    const at = waiting.findIndex(({ owner }) => !running.has(owner));
    if (at === -1) return;
    const [first] = waiting.splice(at, 1);
    running.add(first!.owner);
    first!.start();
  }

  async function begin(owner: number): Promise<() => void> {
    const isFree = !running.has(owner) && running.size < atOnce;
    if (!isFree && waiting.filter((other) => other.owner === owner).length >= most) refuse();
    await new Promise<void>((start) => {
      waiting.push({ owner, start });
      startNext();
    });
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      running.delete(owner);
      startNext();
    };
  }

  return {
    begin,
    async take(owner, work) {
      const end = await begin(owner);
      try {
        return await work();
      } finally {
        end();
      }
    },
  };
}
